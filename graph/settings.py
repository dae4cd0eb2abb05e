"""The settings of the service, read once from the environment: `GRAPH_PORT` is `port` here.

This file has the settings that belong to no domain. A domain declares its own as a `SettingsPart`, and
`settings_class` joins them: one value has them all, and is an instance of each part. Options of the
command line set the same names. The table in docs/settings.md is checked against these classes.
"""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import new_class
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    BeforeValidator,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from graph.store.location import StoreLocation

LEAST_SECRET_BYTES = 32  # RFC 7518 section 3.2: a key of the size of HS256's hash or more


def _store_url(url: str) -> str:
    StoreLocation.of(url)
    return url


def _http_url(url: str) -> str:
    TypeAdapter(AnyHttpUrl).validate_python(url)
    return url.rstrip("/")


def _secret(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value().encode()) < LEAST_SECRET_BYTES:
        raise ValueError(f"must have {LEAST_SECRET_BYTES} bytes or more, as many as the signature it makes")
    return secret


def _origins(text: object) -> object:
    origins = tuple(each.strip() for each in text.split(",") if each.strip()) if isinstance(text, str) else text
    for origin in origins if isinstance(origins, tuple) else ():
        if origin != "*" and not re.fullmatch(r"https?://[^/?#\s]+", origin):
            raise ValueError(f"{origin!r} is no origin such as https://quakes.example")
    return origins


def _names(text: object) -> object:
    return tuple(each.strip() for each in text.split(",") if each.strip()) if isinstance(text, str) else text


P = TypeVar("P", bound="SettingsPart")

Url = Annotated[str, AfterValidator(_http_url)]


class Misconfigured(Exception):
    """What a setting names cannot be used. The message is for the operator, in one line."""


class SettingsPart(BaseSettings):
    """Some settings. Each line has its unit and default; the description says what it does."""

    model_config = SettingsConfigDict(env_prefix="GRAPH_", frozen=True, extra="ignore", env_ignore_empty=True)


class DomainNames(SettingsPart):
    """Which domains are on: read first, since the other settings are theirs."""

    domains: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)] = Field(
        (), description="Domains that are served, with commas between them; all without it."
    )


class Settings(DomainNames):
    """What an operator can set, whichever domains are on."""

    _parts: ClassVar[tuple[type[SettingsPart], ...]] = ()  # of the domains

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    store: Annotated[str, AfterValidator(_store_url)] = Field(
        "sqlite:///quakegraph.db",
        description="Where the tables are kept: `sqlite:///FILE`, `dynamodb://`, or `dynamodb://PREFIX` "
        "with PREFIX before each name.",
    )
    environment: str = Field(
        "dev", pattern="^[A-Za-z0-9_-]+$", description="What `{env}` in the names of DynamoDB's tables stands for."
    )
    store_timeout: float = Field(
        2.0, gt=0, le=60, description="Seconds for one attempt on the store, of which there are three at most."
    )
    workers: int = Field(1, ge=1, le=64, description="Number of processes that serve.")
    page_size: int = Field(50, ge=1, le=1000, description="Records on a page where a query names no number.")
    max_page_size: int = Field(1000, ge=1, le=10_000, description="Records on a page at most.")
    jwt_secret: Annotated[SecretStr, AfterValidator(_secret)] | None = Field(
        None, description="Secret that tokens are signed with by HS256, 32 bytes or more."
    )
    jwks_url: Url | None = Field(
        None, description="Where the public keys are that tokens are signed with by RS256 or ES256."
    )
    jwt_issuer: str | None = Field(None, description="Issuer that tokens must name.")
    jwt_audience: str | None = Field(None, description="Audience that tokens must name.")
    jwt_leeway: int = Field(30, ge=0, le=300, description="Seconds that the clock of a token's issuer may be off.")
    public_read: bool = Field(True, description="Whether events can be read without a token.")
    introspection: bool = Field(True, description="Whether the schema can be read, and errors suggest names of it.")
    compiled: bool = Field(
        True, description="Whether plain selections are executed by compiled functions; graphql-core alone otherwise."
    )
    graphiql: bool = Field(True, description="Whether browsers get GraphiQL.")
    cors_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_origins)] = Field(
        (), description="Origins whose pages may ask, with commas between them; `*` for all."
    )
    allowed_documents: Path | None = Field(
        None, description="File of the only documents that are executed; any without it."
    )
    max_document_bytes: int = Field(16_384, ge=1, le=1_048_576, description="Bytes of a document at most.")
    max_tokens: int = Field(2000, ge=1, le=100_000, description="Tokens of a document at most.")
    max_definitions: int = Field(50, ge=1, le=10_000, description="Operations and fragments of a document at most.")
    max_depth: int = Field(16, ge=1, le=100, description="Levels of fields in a document at most.")
    max_aliases: int = Field(15, ge=0, le=10_000, description="Aliases in a document at most.")
    max_directives: int = Field(50, ge=0, le=10_000, description="Directives in a document at most.")
    max_root_fields: int = Field(10, ge=1, le=1000, description="Root fields of an operation at most.")
    max_cost: int = Field(20_000, ge=1, description="Points that an operation may cost: about one for each value.")
    rate_limit: int = Field(0, ge=0, description="Points that a caller may spend in a minute; 0 for no limit.")
    rate_limit_store: str = Field(
        "memory://",
        pattern="^(memory|rediss?|memcached)://",
        description="Where the spent points are counted: `memory://` for each process, `redis://HOST`.",
    )
    execution_timeout: float = Field(10.0, gt=0, le=600, description="Seconds that a query may take.")
    ingest_timeout: float = Field(120.0, gt=0, le=3600, description="Seconds that a mutation may take.")
    request_timeout: float = Field(
        15.0, gt=0, le=600, description="Seconds that a client may take to send a request, or to take its answer."
    )
    max_connections: int = Field(
        900, ge=1, le=100_000, description="Connections of clients to one process at most."
    )  # the usual limit is 1,024 open files, some of which the store needs
    max_subscriptions: int = Field(
        200, ge=1, le=100_000, description="Subscriptions, and WebSockets, that a caller may have open in one process."
    )
    max_socket_operations: int = Field(
        50, ge=1, le=10_000, description="Operations that may be under way on one WebSocket."
    )
    max_heavy_operations: int = Field(
        8,
        ge=1,
        le=10_000,
        description="Operations of a caller that may be reading much at once; twice as many are in progress; "
        "of all, four times.",
    )
    drain: float = Field(
        1.0, ge=0, le=60, description="Seconds after SIGTERM in which requests are still taken, as `/readyz` says no."
    )
    shutdown_timeout: int = Field(30, ge=1, le=600, description="Seconds that requests have to finish at the end.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="What is logged at least.")
    log_format: Literal["console", "json"] = Field("console", description="How a log line is written.")
    loop_watch: float = Field(
        0, ge=0, le=60_000, description="Milliseconds beyond which it is logged what held the event loop; 0 for never."
    )
    tracing: bool = Field(
        False, description="Whether spans are exported by OpenTelemetry, which its own `OTEL_` variables set up."
    )

    @field_validator("max_page_size")
    @classmethod
    def _holds_a_default_page(cls, most: int, info: ValidationInfo) -> int:
        if most < info.data.get("page_size", 1):
            raise ValueError("must not be less than GRAPH_PAGE_SIZE")
        return most

    @field_validator("jwks_url")
    @classmethod
    def _is_the_only_way_to_check_a_token(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url and info.data.get("jwt_secret"):
            raise ValueError("must not be set together with GRAPH_JWT_SECRET")
        return url

    @field_validator("tracing")
    @classmethod
    def _has_an_exporter(cls, on: bool) -> bool:
        if on and not _is_installed("opentelemetry.exporter.otlp.proto.http"):
            raise ValueError("needs the extra `otel`: install quakegraph[otel]")
        return on

    def part(self, kind: type[P]) -> P:
        """The settings of a domain.

        Raises:
            TypeError: They are not among these.
        """
        if not isinstance(self, kind):
            raise TypeError(f"these settings have no {kind.__name__}: read them with `settings_class` of its domain")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._parts, dict(self))


@cache
def settings_class(*parts: type[SettingsPart]) -> type[Settings]:
    """The class of settings that has those of these domains too.

    Raises:
        ValueError: Two parts declare the same setting.
    """
    declared: dict[str, type] = dict.fromkeys(Settings.model_fields, Settings)
    for part in parts:
        for name in part.model_fields:
            if name in declared:
                raise ValueError(f"GRAPH_{name.upper()} is declared by {declared[name].__name__} and {part.__name__}")
            declared[name] = part
    return new_class(
        "Settings", (Settings, *parts), exec_body=lambda body: body.update(_parts=parts, __module__=__name__)
    )


def _restored(parts: tuple[type[SettingsPart], ...], values: dict[str, Any]) -> Settings:
    """Settings in another process. They were validated in the first."""
    return settings_class(*parts).model_construct(**values)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of a package around it
        return False
