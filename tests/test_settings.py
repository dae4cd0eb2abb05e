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

SETTINGS: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "domains": (
        (),
        {"earthquakes, request_logs": ("earthquakes", "request_logs")},
        ["volcanoes", "request_logs", "earthquakes, volcanoes"],
    ),
    "host": ("127.0.0.1", {"0.0.0.0": "0.0.0.0", "::1": "::1"}, []),  # noqa: S104
    "port": (8000, {"0": 0, "65535": 65535}, ["eighty", "-1", "65536", "80.5", "http"]),
    "store": (
        "sqlite:///quakegraph.db",
        {
            "sqlite:////var/lib/quakes.db": "sqlite:////var/lib/quakes.db",
            "dynamodb://": "dynamodb://",
            "dynamodb://quakes-": "dynamodb://quakes-",
        },
        ["mysql://quakes", "sqlite://quakes.db", "sqlite:///", "dynamodb://a/b", "quakes.db"],
    ),
    "sole_writer": (False, {"true": True}, ["perhaps"]),
    "environment": ("dev", {"prod-eu_1": "prod-eu_1"}, ["prod/eu", "{env}", "a.b"]),
    "table_billing": ("documented", {"on-demand": "on-demand", "provisioned": "provisioned"}, ["monthly", "ON-DEMAND"]),
    "table_capacity": (None, {"5-100": "5-100", "7-7": "7-7"}, ["5", "0-5", "10-5", "5-1000000", "few-many"]),
    "table_encryption": (
        "documented",
        {
            "aws-managed": "aws-managed",
            "customer-managed": "customer-managed",
            "alias/tables": "alias/tables",
            "arn:aws:kms:us-east-1:123456789012:key/1": "arn:aws:kms:us-east-1:123456789012:key/1",
        },
        ["none", "alias/", "arn:aws:sns:us-east-1:123456789012:ops"],
    ),
    "table_recovery": (True, {"false": False}, ["perhaps"]),
    "table_protection": (True, {"0": False}, ["perhaps"]),
    "table_tags": (
        (),
        {"team=seismology, cost centre=42": ("team=seismology", "cost centre=42")},
        ["team", "=x", "aws:team=x", "team=ä;"],
    ),
    "table_alarm_topic": (
        None,
        {"arn:aws:sns:us-east-1:123456789012:ops": "arn:aws:sns:us-east-1:123456789012:ops"},
        ["ops", "arn:aws:kms:us-east-1:123456789012:key/1"],
    ),
    "store_timeout": (2.0, {"0.5": 0.5}, ["0", "61", "long"]),
    "workers": (1, {"64": 64}, ["0", "65", "two", "1.5"]),
    "poll": (
        0.0,
        {"86400": 86400.0, "60": 60.0, "90.5": 90.5},
        ["-1", "59", "86401", "often", "nan", "inf", "-0.1", "59.9"],
    ),
    "revisions": ("keep", {"ignore": "ignore"}, ["KEEP", "yes", "some"]),
    "keep_payloads": (None, {"/var/lib/payloads": Path("/var/lib/payloads")}, ["/dev/null"]),
    "demo": (False, {"true": True, "1": True, "0": False}, ["perhaps"]),
    "usgs_url": (
        "https://earthquake.usgs.gov",
        {
            "http://127.0.0.1:8080": "http://127.0.0.1:8080",
            "https://mirror.example/usgs/": "https://mirror.example/usgs",
        },
        ["ftp://usgs", "usgs", "http://", "earthquake.usgs.gov"],
    ),
    "usgs_timeout": (30.0, {"0.1": 0.1, "600": 600.0}, ["0", "601", "long"]),
    "page_size": (50, {"1": 1, "1000": 1000}, ["0", "1001", "all"]),
    "max_page_size": (1000, {"10000": 10000}, ["0", "10001", "all", "49"]),
    "max_days_counted": (None, {"100000": 100000}, ["0", "100001", "all"]),
    "check_summaries": (300.0, {"0": 0.0, "60": 60.0, "86400": 86400.0}, ["-1", "59", "86401", "often", "nan", "inf"]),
    "max_statistics_events": (30000, {"1000000": 1000000}, ["999", "1000001", "all"]),
    "jwt_secret": (None, {"x" * 32: SecretStr("x" * 32), "é" * 16: SecretStr("é" * 16)}, ["short", "x" * 31]),
    "jwks_url": (
        None,
        {"https://id.example/.well-known/jwks.json": "https://id.example/.well-known/jwks.json"},
        ["ftp://id.example", "id.example"],
    ),
    "jwt_issuer": (None, {"https://id.example/": "https://id.example/"}, []),
    "jwt_audience": (None, {"quakegraph": "quakegraph"}, []),
    "jwt_leeway": (30, {"0": 0, "300": 300}, ["-1", "301", "long"]),
    "public_read": (True, {"false": False}, ["perhaps"]),
    "introspection": (True, {"0": False}, ["perhaps"]),
    "federation": (False, {"true": True}, ["perhaps"]),
    "compiled": (True, {"false": False}, ["perhaps"]),
    "graphiql": (True, {"no": False}, ["perhaps"]),
    "compression": (True, {"false": False}, ["perhaps"]),
    "dashboard": (True, {"0": False}, ["perhaps"]),
    "fdsn": (True, {"0": False}, ["maybe", "perhaps"]),
    "fdsn_authority": ("quakegraph", {"org.example": "org.example"}, ["no", "a:b", "localhost:8000", "ab"]),
    "fdsn_max_events": (200000, {"5": 5}, ["0", "100000001", "all"]),
    "cors_origins": (
        (),
        {
            "https://a.example, http://b.example:8080": ("https://a.example", "http://b.example:8080"),
            "*": ("*",),
            "loopback": ("loopback",),
            ",": (),
        },
        ["a.example", "https://a.example/page", "null", "https://a.example/", "*,null", "localhost"],
    ),
    "cors_headers": ((), {"X-Tenant, x-b3": ("X-Tenant", "x-b3"), "*": ("*",)}, ["X Tenant", "X:Y", "é"]),
    "allowed_documents": (None, {"documents.json": Path("documents.json")}, []),
    "max_document_bytes": (16384, {"1048576": 1048576}, ["0", "1048577", "all"]),
    "max_tokens": (2000, {"100000": 100000}, ["0", "100001", "all"]),
    "max_definitions": (50, {"1": 1}, ["0", "10001", "all"]),
    "max_depth": (16, {"1": 1}, ["0", "101", "all"]),
    "max_aliases": (15, {"0": 0}, ["-1", "10001", "all"]),
    "max_directives": (50, {"0": 0}, ["-1", "10001", "all"]),
    "max_root_fields": (10, {"1": 1}, ["0", "1001", "all"]),
    "max_cost": (20000, {"1000000": 1000000}, ["0", "all"]),
    "rate_limit": (0, {"60000": 60000}, ["-1", "all"]),
    "rate_limit_store": (
        "memory://",
        {"redis://127.0.0.1:6379/1": "redis://127.0.0.1:6379/1", "rediss://cache.example": "rediss://cache.example"},
        ["file:///tmp", "redis", "file:///tmp/rates"],
    ),
    "execution_timeout": (10.0, {"0.5": 0.5}, ["0", "601", "long", "nan"]),
    "ingest_timeout": (120.0, {"3600": 3600.0}, ["0", "3601", "long"]),
    "request_timeout": (15.0, {"0.1": 0.1}, ["0", "601", "long"]),
    "max_connections": (900, {"100000": 100000}, ["0", "100001", "all"]),
    "max_subscriptions": (200, {"1": 1}, ["0", "100001", "all"]),
    "max_socket_operations": (50, {"10000": 10000}, ["0", "10001", "all"]),
    "max_heavy_operations": (8, {"1": 1}, ["0", "10001", "all"]),
    "max_logs": (1000000, {"0": 0}, ["-1", "all"]),
    "max_log_bytes": (512 * 1024 * 1024, {"0": 0}, ["-1", "all"]),
    "max_logs_per_minute": (6000, {"0": 0}, ["-1", "all"]),
    "max_log_bytes_per_minute": (4 * 1024 * 1024, {"0": 0}, ["-1", "all"]),
    "application_log_days": (90, {"0": 0, "36500": 36500}, ["-1", "36501", "1.5", "all"]),
    "system_log_days": (90, {"7": 7}, ["-1", "36501", "1.5", "all"]),
    "audit_log_days": (90, {"365": 365}, ["-1", "36501", "1.5", "all"]),
    "hot_services": ((), {"checkout, search,": ("checkout", "search")}, []),
    "max_services": (1000, {"1": 1, "10000": 10000}, ["0", "10001", "all"]),
    "own_logs": (False, {"true": True}, ["perhaps"]),
    "max_own_logs_per_minute": (6000, {"0": 0}, ["-1", "1.5", "all"]),
    "deliver": (True, {"false": False}, ["perhaps"]),
    "deliverer_lease": (10.0, {"1": 1.0, "600": 600.0}, ["0", "601", "nan", "long", "0.9"]),
    "webhook_timeout": (15.0, {"0.5": 0.5, "60": 60.0}, ["0", "61", "nan", "long"]),
    "webhook_retries": (
        (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400),
        {"0.5, 60,": (0.5, 60.0)},
        ["5, soon", "0", "-1", "nan", "5, 0", ",".join(21 * ["5"])],
    ),
    "webhook_networks": (
        (),
        {"10.0.0.0/8, ::1": (IPv4Network("10.0.0.0/8"), IPv6Network("::1/128"))},
        ["10.0.0.1/8", "localhost", "10.0.0.0/33"],
    ),
    "webhook_http": (False, {"true": True}, ["perhaps"]),
    "max_endpoints": (20, {"1": 1, "40": 40}, ["0", "41", "all"]),
    "max_watches": (1000, {"100000": 100000}, ["0", "100001", "all"]),
    "max_watch_events": (10_000, {"10000000": 10_000_000}, ["0", "10000001", "all"]),
    "sighting_lifetime": (1800, {"60": 60, "21600": 21600}, ["59", "82801", "long"]),
    "sighting_refresh": (1800, {"0": 0, "82800": 82800}, ["-1", "82801", "long"]),
    "sighting_longest": (21600, {"1800": 1800, "82800": 82800}, ["59", "1799", "82801", "long"]),
    "sighting_categories": (
        (),
        {"FLOOD, Street Food,": ("FLOOD", "Street Food")},
        ["ALL", "GAS#LEAK", "<b>", 65 * "A", ",".join(f"KIND{number}" for number in range(33))],
    ),
    "sighting_areas": (None, {"areas.csv": Path("areas.csv")}, []),
    "sighting_reports": (10, {"1": 1}, ["0", "10001", "all"]),
    "sighting_watches": (100, {"10000": 10000}, ["0", "10001", "all"]),
    "drain": (1.0, {"0": 0.0, "60": 60.0}, ["-1", "61", "long"]),
    "shutdown_timeout": (30, {"600": 600}, ["0", "601", "long"]),
    "log_level": ("info", {"debug": "debug", "error": "error"}, ["loud", "INFORMATION"]),
    "log_format": ("console", {"json": "json"}, ["xml"]),
    "loop_watch": (0.0, {"2.5": 2.5}, ["-1", "60001", "long"]),
    "tracing": (False, {"true": True}, ["perhaps"]),
}
"""Each setting: its default, texts of its variable with their values, and texts that are refused.

`tests.test_cli` gives the latter to the command.
"""

DEFAULTS = {name: default for name, (default, _, _) in SETTINGS.items()}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment, with no setting of ours in it."""
    for name in [name for name in os.environ if name.upper().startswith("GRAPH_")]:
        monkeypatch.delenv(name)
    return monkeypatch


def test_without_variables_each_setting_has_its_default() -> None:
    assert Settings().model_dump() == DEFAULTS


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_read_from_its_own_variable(environment: pytest.MonkeyPatch, name: str) -> None:
    _, values, _ = SETTINGS[name]
    assert values
    for text, value in {**values, "": DEFAULTS[name]}.items():  # an empty variable is as none
        environment.setenv(f"GRAPH_{name.upper()}", text)

        assert Settings().model_dump() == {**DEFAULTS, name: value}


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


def test_every_setting_is_described_in_a_sentence() -> None:
    assert [name for name, field in Settings.model_fields.items() if not (field.description or "").endswith(".")] == []
