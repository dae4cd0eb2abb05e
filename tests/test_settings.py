"""The settings: each from its own variable, with its default, and never changed afterwards."""

import os
import pickle
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.request_logs.settings import RequestLogSettings
from graph.settings import settings_class
from tests.settings import Settings

DEFAULTS: dict[str, Any] = {
    "domains": (),
    "host": "127.0.0.1",
    "port": 8000,
    "store": "sqlite:///quakegraph.db",
    "environment": "dev",
    "store_timeout": 2.0,
    "workers": 1,
    "poll": 0.0,
    "revisions": "keep",
    "keep_payloads": None,
    "demo": False,
    "usgs_url": "https://earthquake.usgs.gov",
    "usgs_timeout": 30.0,
    "page_size": 50,
    "max_page_size": 1000,
    "max_days_counted": None,
    "check_summaries": 300.0,
    "max_statistics_events": 30_000,
    "jwt_secret": None,
    "jwks_url": None,
    "jwt_issuer": None,
    "jwt_audience": None,
    "jwt_leeway": 30,
    "public_read": True,
    "introspection": True,
    "compiled": True,
    "graphiql": True,
    "compression": True,
    "dashboard": True,
    "fdsn": True,
    "fdsn_authority": "quakegraph",
    "fdsn_max_events": 200_000,
    "cors_origins": (),
    "allowed_documents": None,
    "max_document_bytes": 16_384,
    "max_tokens": 2000,
    "max_definitions": 50,
    "max_depth": 16,
    "max_aliases": 15,
    "max_directives": 50,
    "max_root_fields": 10,
    "max_cost": 20_000,
    "rate_limit": 0,
    "rate_limit_store": "memory://",
    "execution_timeout": 10.0,
    "ingest_timeout": 120.0,
    "request_timeout": 15.0,
    "max_connections": 900,
    "max_subscriptions": 200,
    "max_socket_operations": 50,
    "max_heavy_operations": 8,
    "max_logs": 1_000_000,
    "max_log_bytes": 512 * 1024 * 1024,
    "max_logs_per_minute": 6000,
    "max_log_bytes_per_minute": 4 * 1024 * 1024,
    "application_log_days": 90,
    "system_log_days": 90,
    "audit_log_days": 90,
    "hot_services": (),
    "max_services": 1000,
    "own_logs": False,
    "max_own_logs_per_minute": 6000,
    "deliver": True,
    "deliverer_lease": 10.0,
    "webhook_timeout": 15.0,
    "webhook_retries": (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400),
    "webhook_networks": (),
    "webhook_http": False,
    "max_endpoints": 20,
    "max_watches": 1000,
    "sighting_lifetime": 1800,
    "sighting_refresh": 1800,
    "sighting_longest": 21_600,
    "sighting_categories": (),
    "sighting_areas": None,
    "sighting_reports": 10,
    "sighting_watches": 100,
    "sighting_key": None,
    "drain": 1.0,
    "shutdown_timeout": 30,
    "log_level": "info",
    "log_format": "console",
    "loop_watch": 0.0,
    "tracing": False,
}

# Setting, text of its variable, value.
READ: list[tuple[str, str, Any]] = [
    ("domains", "earthquakes, request_logs", ("earthquakes", "request_logs")),
    ("host", "0.0.0.0", "0.0.0.0"),  # noqa: S104
    ("host", "::1", "::1"),
    ("port", "0", 0),
    ("port", "65535", 65535),
    ("store", "sqlite:////var/lib/quakes.db", "sqlite:////var/lib/quakes.db"),
    ("store", "dynamodb://", "dynamodb://"),
    ("store", "dynamodb://quakes-", "dynamodb://quakes-"),
    ("environment", "prod-eu_1", "prod-eu_1"),
    ("store_timeout", "0.5", 0.5),
    ("workers", "64", 64),
    ("poll", "86400", 86_400.0),
    ("revisions", "ignore", "ignore"),
    ("keep_payloads", "/var/lib/payloads", Path("/var/lib/payloads")),
    ("poll", "60", 60.0),
    ("poll", "90.5", 90.5),
    ("demo", "true", True),
    ("demo", "1", True),
    ("demo", "0", False),
    ("usgs_url", "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ("usgs_url", "https://mirror.example/usgs/", "https://mirror.example/usgs"),
    ("usgs_timeout", "0.1", 0.1),
    ("usgs_timeout", "600", 600.0),
    ("page_size", "1", 1),
    ("page_size", "1000", 1000),
    ("max_page_size", "10000", 10_000),
    ("max_days_counted", "100000", 100_000),
    ("check_summaries", "0", 0.0),
    ("check_summaries", "60", 60.0),
    ("check_summaries", "86400", 86_400.0),
    ("max_statistics_events", "1000000", 1_000_000),
    ("shutdown_timeout", "600", 600),
    ("jwt_secret", "x" * 32, SecretStr("x" * 32)),
    ("jwt_secret", "é" * 16, SecretStr("é" * 16)),
    ("jwks_url", "https://id.example/.well-known/jwks.json", "https://id.example/.well-known/jwks.json"),
    ("jwt_issuer", "https://id.example/", "https://id.example/"),
    ("jwt_audience", "quakegraph", "quakegraph"),
    ("jwt_leeway", "0", 0),
    ("jwt_leeway", "300", 300),
    ("public_read", "false", False),
    ("introspection", "0", False),
    ("compiled", "false", False),
    ("graphiql", "no", False),
    ("compression", "false", False),
    ("dashboard", "0", False),
    ("fdsn", "0", False),
    ("fdsn_authority", "org.example", "org.example"),
    ("fdsn_max_events", "5", 5),
    ("cors_origins", "https://a.example, http://b.example:8080", ("https://a.example", "http://b.example:8080")),
    ("cors_origins", "*", ("*",)),
    ("cors_origins", "loopback", ("loopback",)),
    ("cors_origins", ",", ()),
    ("allowed_documents", "documents.json", Path("documents.json")),
    ("max_document_bytes", "1048576", 1_048_576),
    ("max_tokens", "100000", 100_000),
    ("max_definitions", "1", 1),
    ("max_depth", "1", 1),
    ("max_aliases", "0", 0),
    ("max_directives", "0", 0),
    ("max_root_fields", "1", 1),
    ("max_cost", "1000000", 1_000_000),
    ("rate_limit", "60000", 60_000),
    ("rate_limit_store", "redis://127.0.0.1:6379/1", "redis://127.0.0.1:6379/1"),
    ("rate_limit_store", "rediss://cache.example", "rediss://cache.example"),
    ("execution_timeout", "0.5", 0.5),
    ("ingest_timeout", "3600", 3600.0),
    ("request_timeout", "0.1", 0.1),
    ("max_connections", "100000", 100_000),
    ("max_subscriptions", "1", 1),
    ("max_socket_operations", "10000", 10_000),
    ("max_heavy_operations", "1", 1),
    ("max_logs", "0", 0),
    ("max_log_bytes", "0", 0),
    ("max_logs_per_minute", "0", 0),
    ("max_log_bytes_per_minute", "0", 0),
    ("application_log_days", "0", 0),
    ("application_log_days", "36500", 36_500),
    ("system_log_days", "7", 7),
    ("audit_log_days", "365", 365),
    ("hot_services", "checkout, search,", ("checkout", "search")),
    ("max_services", "1", 1),
    ("max_services", "10000", 10_000),
    ("own_logs", "true", True),
    ("max_own_logs_per_minute", "0", 0),
    ("deliver", "false", False),
    ("deliverer_lease", "1", 1.0),
    ("deliverer_lease", "600", 600.0),
    ("webhook_timeout", "0.5", 0.5),
    ("webhook_timeout", "60", 60.0),
    ("webhook_retries", "0.5, 60,", (0.5, 60.0)),
    ("webhook_networks", "10.0.0.0/8, ::1", (IPv4Network("10.0.0.0/8"), IPv6Network("::1/128"))),
    ("webhook_http", "true", True),
    ("max_endpoints", "1", 1),
    ("max_endpoints", "40", 40),
    ("max_watches", "100000", 100_000),
    ("sighting_lifetime", "60", 60),
    ("sighting_lifetime", "21600", 21_600),
    ("sighting_refresh", "0", 0),
    ("sighting_refresh", "82800", 82_800),
    ("sighting_longest", "1800", 1800),
    ("sighting_longest", "82800", 82_800),
    ("sighting_categories", "FLOOD, GAS_LEAK,", ("FLOOD", "GAS_LEAK")),
    ("sighting_areas", "areas.csv", Path("areas.csv")),
    ("sighting_reports", "1", 1),
    ("sighting_watches", "10000", 10_000),
    ("sighting_key", "k" * 16, SecretStr("k" * 16)),
    ("loop_watch", "2.5", 2.5),
    ("drain", "0", 0.0),
    ("drain", "60", 60.0),
    ("log_format", "json", "json"),
    ("tracing", "true", True),
    ("log_level", "debug", "debug"),
    ("log_level", "error", "error"),
]

WRONG: list[tuple[str, str]] = [
    ("port", "-1"),
    ("port", "65536"),
    ("port", "http"),
    ("store", "mysql://quakes"),
    ("store", "sqlite:///"),
    ("store", "dynamodb://a/b"),
    ("environment", "prod/eu"),
    ("environment", "a.b"),
    ("environment", "{env}"),
    ("store_timeout", "0"),
    ("workers", "0"),
    ("workers", "65"),
    ("poll", "-0.1"),
    ("revisions", "some"),
    ("keep_payloads", "/dev/null"),
    ("poll", "59.9"),
    ("poll", "86401"),
    ("poll", "nan"),
    ("demo", "perhaps"),
    ("usgs_url", "ftp://usgs"),
    ("usgs_url", "earthquake.usgs.gov"),
    ("usgs_timeout", "0"),
    ("usgs_timeout", "601"),
    ("page_size", "0"),
    ("page_size", "1001"),
    ("max_page_size", "0"),
    ("max_page_size", "10001"),
    ("max_page_size", "49"),  # less than the default page
    ("max_days_counted", "0"),
    ("check_summaries", "59"),
    ("check_summaries", "-1"),
    ("check_summaries", "86401"),
    ("max_days_counted", "100001"),
    ("max_statistics_events", "999"),
    ("max_statistics_events", "1000001"),
    ("shutdown_timeout", "0"),
    ("shutdown_timeout", "601"),
    ("jwt_secret", "x" * 31),
    ("jwks_url", "id.example"),
    ("jwt_leeway", "-1"),
    ("jwt_leeway", "301"),
    ("public_read", "perhaps"),
    ("introspection", "perhaps"),
    ("compiled", "perhaps"),
    ("graphiql", "perhaps"),
    ("compression", "perhaps"),
    ("dashboard", "perhaps"),
    ("fdsn", "perhaps"),
    ("fdsn_authority", "localhost:8000"),
    ("fdsn_authority", "ab"),
    ("fdsn_max_events", "0"),
    ("cors_origins", "a.example"),
    ("cors_origins", "https://a.example/"),
    ("cors_origins", "*,null"),
    ("cors_origins", "localhost"),
    ("max_document_bytes", "0"),
    ("max_document_bytes", "1048577"),
    ("max_tokens", "0"),
    ("max_definitions", "0"),
    ("max_depth", "101"),
    ("max_aliases", "-1"),
    ("max_directives", "-1"),
    ("max_root_fields", "0"),
    ("max_cost", "0"),
    ("rate_limit", "-1"),
    ("rate_limit_store", "file:///tmp/rates"),
    ("execution_timeout", "0"),
    ("execution_timeout", "nan"),
    ("ingest_timeout", "3601"),
    ("request_timeout", "0"),
    ("max_connections", "0"),
    ("max_subscriptions", "0"),
    ("max_socket_operations", "10001"),
    ("max_heavy_operations", "0"),
    ("max_logs", "-1"),
    ("max_log_bytes", "-1"),
    ("max_logs_per_minute", "-1"),
    ("max_log_bytes_per_minute", "-1"),
    ("application_log_days", "-1"),
    ("system_log_days", "36501"),
    ("audit_log_days", "1.5"),
    ("max_services", "0"),
    ("max_services", "10001"),
    ("own_logs", "perhaps"),
    ("max_own_logs_per_minute", "-1"),
    ("deliver", "perhaps"),
    ("deliverer_lease", "0.9"),
    ("deliverer_lease", "601"),
    ("webhook_timeout", "0"),
    ("webhook_timeout", "61"),
    ("webhook_retries", "5, soon"),
    ("webhook_retries", "5, 0"),
    ("webhook_retries", ",".join(21 * ["5"])),
    ("webhook_networks", "10.0.0.1/8"),
    ("webhook_networks", "localhost"),
    ("webhook_http", "perhaps"),
    ("max_endpoints", "0"),
    ("max_endpoints", "41"),
    ("max_watches", "0"),
    ("max_watches", "100001"),
    ("sighting_lifetime", "59"),
    ("sighting_refresh", "-1"),
    ("sighting_refresh", "82801"),
    ("sighting_longest", "1799"),  # less than the life of a new sighting
    ("sighting_longest", "82801"),
    ("sighting_categories", "flood"),
    ("sighting_categories", "ALL"),
    ("sighting_categories", ",".join(f"KIND{number}" for number in range(33))),
    ("sighting_reports", "0"),
    ("sighting_reports", "10001"),
    ("sighting_watches", "0"),
    ("sighting_watches", "10001"),
    ("sighting_key", "k" * 15),
    ("loop_watch", "-1"),
    ("drain", "-1"),
    ("drain", "61"),
    ("log_format", "xml"),
    ("tracing", "perhaps"),
    ("log_level", "loud"),
]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment, with no setting of ours in it."""
    for name in [name for name in os.environ if name.upper().startswith("GRAPH_")]:
        monkeypatch.delenv(name)
    return monkeypatch


def test_without_variables_each_setting_has_its_default() -> None:
    assert Settings().model_dump() == DEFAULTS


def test_each_setting_is_read_from_a_variable() -> None:
    assert {name for name, _, _ in READ} == Settings.model_fields.keys()


@pytest.mark.parametrize(("name", "text", "value"), READ)
def test_a_setting_is_read_from_its_own_variable(
    environment: pytest.MonkeyPatch, name: str, text: str, value: Any
) -> None:
    environment.setenv(f"GRAPH_{name.upper()}", text)

    assert Settings().model_dump() == {**DEFAULTS, name: value}


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_a_wrong_value_is_refused(environment: pytest.MonkeyPatch, name: str, text: str) -> None:
    environment.setenv(f"GRAPH_{name.upper()}", text)

    with pytest.raises(ValidationError) as caught:
        Settings()

    assert len(caught.value.errors()) == 1


@pytest.mark.parametrize("name", DEFAULTS)
def test_an_empty_variable_is_as_none(environment: pytest.MonkeyPatch, name: str) -> None:
    environment.setenv(f"GRAPH_{name.upper()}", "")

    assert Settings().model_dump() == DEFAULTS


def test_unknown_environment_variables_are_ignored(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("GRAPH_COLOUR", "blue")
    environment.setenv("PORT", "9000")

    assert Settings().model_dump() == DEFAULTS


def test_arguments_win_over_the_environment(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("GRAPH_PORT", "9000")

    assert Settings(port=9001).port == 9001


@pytest.mark.parametrize("name", DEFAULTS)
def test_settings_are_never_changed(name: str) -> None:
    settings = Settings()

    with pytest.raises(ValidationError, match="frozen"):
        setattr(settings, name, DEFAULTS[name])


def test_another_process_gets_the_same_settings(environment: pytest.MonkeyPatch) -> None:
    settings = settings_class(EarthquakeSettings, RequestLogSettings)(
        port=0,
        poll=90.5,
        demo=True,
        store="dynamodb://quakes",
        usgs_url="http://127.0.0.1:9",
        jwt_secret=SecretStr("a secret of thirty-two bytes, or more"),
        cors_origins=("https://a.example",),
        allowed_documents=Path("documents.json"),
    )

    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - our own


def test_tokens_are_checked_in_one_way(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("GRAPH_JWT_SECRET", "x" * 32)
    environment.setenv("GRAPH_JWKS_URL", "https://id.example/keys")

    with pytest.raises(ValidationError, match="must not be set together with GRAPH_JWT_SECRET"):
        Settings()


def test_secrets_are_never_printed() -> None:
    settings = Settings(jwt_secret=SecretStr("x" * 32))

    assert "x" * 32 not in f"{settings!r} {settings} {settings.model_dump()}"
    with pytest.raises(ValidationError) as caught:
        Settings(jwt_secret=SecretStr("x" * 31))
    assert "x" * 31 not in str(caught.value)


@pytest.mark.parametrize("name", DEFAULTS)
def test_every_setting_is_described_in_a_sentence(name: str) -> None:
    description = Settings.model_fields[name].description

    assert description
    assert description.endswith(".")
