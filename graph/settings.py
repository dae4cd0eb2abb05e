"""The settings of the service, read once from the environment: `GRAPH_PORT` is `port` here.

This file has the settings that belong to no domain. A domain declares its own as a `SettingsPart`.
`settings_class` joins all of them into one class, whose value is an instance of each part. Options of
the command line set the same names. A test compares the table in docs/settings.md with these classes.
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

from graph.core.paging import PageSizes
from graph.store.choices import TableChoices
from graph.store.location import StoreLocation

LEAST_SECRET_BYTES = 32  # RFC 7518 section 3.2: the key is at least as long as the hash of HS256


ALL_ORIGINS = "*"
LOOPBACK_ORIGINS = "loopback"  # those of development servers on this machine


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


def _matching(pattern: str, wanted: str) -> AfterValidator:
    """A validator of texts that match a pattern as a whole."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text!r} is no {wanted}")
        return text

    return AfterValidator(check)


def _capacity(text: str) -> str:
    bounds = re.fullmatch(r"([1-9]\d{0,5})-([1-9]\d{0,5})", text)
    if not bounds or int(bounds[1]) > int(bounds[2]):
        raise ValueError(f"{text!r} is not the least and the most capacity, such as 5-100")
    return text


def _items(text: object) -> object:
    return tuple(each.strip() for each in text.split(",") if each.strip()) if isinstance(text, str) else text


T = TypeVar("T")
P = TypeVar("P", bound="SettingsPart")

Url = Annotated[str, AfterValidator(_http_url)]
ORIGIN = rf"{re.escape(ALL_ORIGINS)}|{LOOPBACK_ORIGINS}|https?://[^/?#\s]+"
Origin = Annotated[str, _matching(ORIGIN, "origin such as https://quakes.example")]
HeaderName = Annotated[str, _matching(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", "name of a header such as X-Tenant")]
Tag = Annotated[str, _matching(r"(?!aws:)[\w .:/+@-]{1,128}=[\w .:/+@-]{0,256}", "tag such as team=seismology")]

CommaSeparated = Annotated[tuple[T, ...], NoDecode, BeforeValidator(_items)]
"""Several values in one text. Spaces around them do not matter."""


class Misconfigured(Exception):
    """A setting cannot be used. The message tells the operator why, in one line."""


class SettingsPart(BaseSettings):
    """Some settings, each with its default, its bounds and a description that names the unit."""

    model_config = SettingsConfigDict(env_prefix="GRAPH_", frozen=True, extra="ignore", env_ignore_empty=True)


class DomainNames(SettingsPart):
    """The domains that are on. They are read first, since each domain has settings of its own."""

    domains: CommaSeparated[str] = Field(
        (),
        description="Names of the domains to serve, separated by commas, each with its parts; all by default. `-NAME` "
        "leaves one out.",
    )

    def serves(self, domain: str) -> bool:
        """Whether a domain is on. The functions of a domain that take settings find all names of those that are."""
        return not self.domains or domain in self.domains


class Settings(DomainNames):
    """The settings of the service that belong to no domain."""

    _parts: ClassVar[tuple[type[SettingsPart], ...]] = ()  # the domains' own settings

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    store: Annotated[str, AfterValidator(_store_url)] = Field(
        "sqlite:///quakegraph.db",
        description="Where the tables are kept: `sqlite:///FILE`, `dynamodb://`, or `dynamodb://PREFIX` "
        "with PREFIX before each name.",
    )
    sole_writer: bool = Field(
        False,
        description="Whether this service alone writes its tables in DynamoDB. Then answers to GET may have a tag.",
    )
    environment: str = Field(
        "dev", pattern="^[A-Za-z0-9_-]+$", description="Value of `{env}` in the names of DynamoDB's tables."
    )
    table_billing: Literal["documented", "on-demand", "provisioned"] = Field(
        "documented",
        description="Billing of DynamoDB's tables: `documented` for each as its document says, or `on-demand` or "
        "`provisioned` for all.",
    )
    table_capacity: Annotated[str, AfterValidator(_capacity)] | None = Field(
        None,
        description="Least and most capacity units of provisioned tables, such as `5-100`; by default as documented.",
    )
    table_encryption: str = Field(
        "documented",
        pattern=r"^(documented|aws-managed|customer-managed|alias/[A-Za-z0-9/_-]+|arn:[a-z-]+:kms:\S+)$",
        description="Keys that encrypt DynamoDB's tables: `documented`, or for all tables `aws-managed`, "
        "`customer-managed` (a key of each table's own), or the ARN or alias of a key in KMS.",
    )
    table_recovery: bool = Field(
        True, description="Whether DynamoDB's tables are created with point-in-time recovery, 35 days back."
    )
    table_protection: bool = Field(
        True, description="Whether DynamoDB's tables are created with protection from deletion."
    )
    table_tags: CommaSeparated[Tag] = Field(
        (), description="Tags of DynamoDB's tables, such as `team=seismology`, separated by commas."
    )
    table_alarm_topic: str | None = Field(
        None,
        pattern=r"^arn:[a-z-]+:sns:\S+$",
        description="ARN of the SNS topic that the tables' alarms notify; without it, CloudWatch only shows them.",
    )
    store_timeout: float = Field(
        2.0, gt=0, le=60, description="Seconds for one attempt on the store; there are at most three attempts."
    )
    workers: int = Field(1, ge=1, le=64, description="Number of processes that serve requests.")
    page_size: int = Field(50, ge=1, le=1000, description="Number of records on a page by default.")
    max_page_size: int = Field(1000, ge=1, le=10_000, description="Maximum number of records on a page.")
    jwt_secret: Annotated[SecretStr, AfterValidator(_secret)] | None = Field(
        None, description="Secret that signs tokens with HS256, at least 32 bytes."
    )
    jwks_url: Url | None = Field(
        None, description="URL of the public keys that verify tokens signed with RS256 or ES256."
    )
    jwt_issuer: str | None = Field(None, description="Issuer that tokens must name.")
    jwt_audience: str | None = Field(None, description="Audience that tokens must name.")
    jwt_leeway: int = Field(30, ge=0, le=300, description="Seconds by which the clock of a token's issuer may differ.")
    public_read: bool = Field(True, description="Whether events can be read without a token.")
    introspection: bool = Field(
        True, description="Whether clients can read the schema, and errors suggest names from it."
    )
    federation: bool = Field(
        False, description="Whether the service is a subgraph of Apollo Federation 2, with `_service` and `_entities`."
    )
    compiled: bool = Field(
        True, description="Whether compiled functions execute plain selections; if not, graphql-core executes all."
    )
    graphiql: bool = Field(True, description="Whether browsers get GraphiQL.")
    compression: bool = Field(
        True, description="Whether answers are compressed for clients that accept Zstandard, Brotli or gzip."
    )
    cors_origins: CommaSeparated[Origin] = Field(
        (),
        description="Origins whose web pages may send requests, separated by commas; `loopback` for development "
        "servers on this machine, `*` for all.",
    )
    cors_headers: CommaSeparated[HeaderName] = Field(
        (),
        description="Headers that web pages of these origins may send beside the usual ones, separated by commas; `*` "
        "for all.",
    )
    allowed_documents: Path | None = Field(
        None, description="File that lists the only documents to execute; without it, any document is executed."
    )
    max_document_bytes: int = Field(16_384, ge=1, le=1_048_576, description="Maximum size of a document in bytes.")
    max_tokens: int = Field(2000, ge=1, le=100_000, description="Maximum number of tokens in a document.")
    max_definitions: int = Field(
        50, ge=1, le=10_000, description="Maximum number of operations and fragments in a document."
    )
    max_depth: int = Field(16, ge=1, le=100, description="Maximum depth of the fields in a document.")
    max_aliases: int = Field(15, ge=0, le=10_000, description="Maximum number of aliases in a document.")
    max_directives: int = Field(50, ge=0, le=10_000, description="Maximum number of directives in a document.")
    max_root_fields: int = Field(10, ge=1, le=1000, description="Maximum number of root fields in an operation.")
    max_cost: int = Field(
        20_000,
        ge=1,
        description="Maximum cost of an operation in points: about one for each value. Introspection may cost more.",
    )
    rate_limit: int = Field(0, ge=0, description="Points that a caller may spend in a minute; 0 for no limit.")
    rate_limit_store: str = Field(
        "memory://",
        pattern="^(memory|rediss?|memcached)://",
        description="Where spent points are counted: `memory://` in each process, `redis://HOST` for all processes.",
    )
    execution_timeout: float = Field(10.0, gt=0, le=600, description="Seconds that a query may take.")
    ingest_timeout: float = Field(120.0, gt=0, le=3600, description="Seconds that a mutation may take.")
    request_timeout: float = Field(
        15.0, gt=0, le=600, description="Seconds that a client may take to send a request, or to read its answer."
    )
    max_connections: int = Field(
        900, ge=1, le=100_000, description="Maximum number of client connections to one process."
    )  # the usual limit is 1,024 open files, some of which the store needs
    max_subscriptions: int = Field(
        200,
        ge=1,
        le=100_000,
        description="Maximum number of open subscriptions of a caller in one process; the same for WebSockets.",
    )
    max_socket_operations: int = Field(
        50, ge=1, le=10_000, description="Maximum number of operations in progress on one WebSocket."
    )
    max_heavy_operations: int = Field(
        8,
        ge=1,
        le=10_000,
        description="Maximum number of a caller's operations that read much at once; as many others wait. A caller "
        "may have twice as many operations in progress; all callers together may have four times as many of each kind.",
    )
    drain: float = Field(
        1.0,
        ge=0,
        le=60,
        description="Seconds after SIGTERM during which requests are still accepted, while `/readyz` answers 503.",
    )
    shutdown_timeout: int = Field(
        30, ge=1, le=600, description="Seconds that requests in progress have to finish at the end."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level of messages that are logged."
    )
    log_format: Literal["console", "json"] = Field(
        "console", description="Format of a log line: `console` for people, or `json`."
    )
    loop_watch: float = Field(
        0,
        ge=0,
        le=60_000,
        description="Milliseconds after which the log names the code that blocks the event loop; 0 for never.",
    )
    tracing: bool = Field(
        False, description="Whether OpenTelemetry exports spans, as its own `OTEL_` variables configure."
    )

    @field_validator("max_page_size")
    @classmethod
    def _is_at_least_the_default(cls, most: int, info: ValidationInfo) -> int:
        if most < info.data.get("page_size", 1):
            raise ValueError("must not be less than GRAPH_PAGE_SIZE")
        return most

    @field_validator("jwks_url")
    @classmethod
    def _excludes_a_secret(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url and info.data.get("jwt_secret"):
            raise ValueError("must not be set together with GRAPH_JWT_SECRET")
        return url

    @field_validator("tracing")
    @classmethod
    def _has_an_exporter(cls, on: bool) -> bool:
        if on and not _is_installed("opentelemetry.exporter.otlp.proto.http"):
            raise ValueError("needs the extra `otel`: install quakegraph[otel]")
        return on

    @property
    def page_sizes(self) -> PageSizes:
        """The number of records on a page."""
        return PageSizes(self.page_size, self.max_page_size)

    @property
    def table_choices(self) -> TableChoices:
        """What the tables on DynamoDB have otherwise than their designs."""
        least, _, most = (self.table_capacity or "").partition("-")
        return TableChoices(
            prefix=StoreLocation.of(self.store).prefix,
            environment=self.environment,
            billing=self.table_billing,
            capacity=(int(least), int(most)) if most else None,
            encryption=self.table_encryption,
            recovery=self.table_recovery,
            protection=self.table_protection,
            alarm_topic=self.table_alarm_topic,
            tags=dict(tag.split("=", 1) for tag in self.table_tags),
        )

    def part(self, kind: type[P]) -> P:
        """The settings of one domain.

        Raises:
            TypeError: These settings do not include them.
        """
        if not isinstance(self, kind):
            raise TypeError(f"these settings have no {kind.__name__}: read them with `settings_class` of its domain")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._parts, dict(self))


@cache
def settings_class(*parts: type[SettingsPart]) -> type[Settings]:
    """The class of settings that joins `Settings` with the settings of domains."""
    return new_class(
        "Settings", (Settings, *parts), exec_body=lambda body: body.update(_parts=parts, __module__=__name__)
    )


def _unpickled(parts: tuple[type[SettingsPart], ...], values: dict[str, Any]) -> Settings:
    """Unpickle settings. They were validated in the process that pickled them."""
    return settings_class(*parts).model_construct(**values)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False
