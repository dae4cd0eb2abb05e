"""Tests that the tables of documents are complete: settings, error codes, metrics, scopes, keys, layers."""

import re
import tomllib
from collections import defaultdict
from typing import Any

from graph.api.scopes import required_scope
from graph.app import OWN_PATHS
from graph.cli import main
from graph.core import errors
from graph.core.names import camel_case
from graph.domain import routes_of, tables_of
from graph.domains import DOMAINS
from graph.domains.earthquakes.schema.filters import CONDITIONS
from graph.pages import graphiql
from graph.reference import CONFIGURATION, configuration_row, markdown, setting_rows
from tests.contracts.documents import fields
from tests.documents.markdown import DOCUMENTS, ROOT, document
from tests.observability.scraping import scraped
from tests.service import Service
from tests.settings import Settings

MODULES = {path.name for path in (ROOT / "graph").iterdir()}
OPERATIONS = document("docs/operations.md")


def test_the_table_of_settings_is_the_settings_and_no_page_names_others() -> None:
    section = document("docs/settings.md").section("Settings")
    options = {str(parameter.name): parameter.opts[0] for parameter in main.commands["serve"].params}
    rows = list(setting_rows(Settings, options))

    lines = [line for line in section.splitlines(keepends=True) if line.startswith("| `")]
    assert sorted(lines) == sorted(map(markdown, rows))
    named = {name for one in DOCUMENTS for name in re.findall(r"\bGRAPH_[A-Z_]+[A-Z]\b", one.text)}
    assert named <= {row[0].strip("`") for row in rows}


def test_the_paths_that_a_proxy_passes_are_those_of_all_routes_but_the_operators_own() -> None:
    passed = OPERATIONS.names("Paths that a proxy passes")
    routes: list[Any] = routes_of(DOMAINS, Settings(store="sqlite:///unused.db"), OWN_PATHS)
    paths = {route.path.partition("{")[0] for route in (*routes, *graphiql.routes())} | {*OWN_PATHS}

    def passing(path: str) -> list[str]:
        return [each for each in passed if path == each or (each != "/" and path.startswith(each))]

    assert {path for path in paths if not passing(path)} == {"/healthz", "/readyz", "/metrics"}
    assert {each for path in paths for each in passing(path)} == set(passed)


def test_the_table_of_configuration_is_that_of_the_tables() -> None:
    section = document("docs/dynamodb.md").section("Configuration")

    head, _, *rows = [f"{line}\n" for line in section.splitlines() if line.startswith("|")]
    assert [head, *rows] == [
        markdown(CONFIGURATION),
        *(markdown(configuration_row(each)) for each in tables_of(DOMAINS)),
    ]


def test_every_error_code_is_explained() -> None:
    explained = document("docs/queries.md").names("Errors")
    kinds = [errors.GraphError]
    for kind in kinds:
        kinds += kind.__subclasses__()

    codes = {kind.code for kind in kinds if "code" in vars(kind)}
    assert len(explained) == len(set(explained))
    assert set(explained) == codes | {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "BAD_REQUEST"}


def test_the_table_of_domains_is_the_domains() -> None:
    rows = document("docs/architecture.md").rows("Domains and parts")

    assert {host.strip("`"): re.findall(r"`(\w+)`", parts) for host, parts in rows} == {
        host.name: [part.name for part in DOMAINS if part.part_of == host.name]
        for host in DOMAINS
        if host.part_of is None
    }


def test_every_condition_of_a_filter_is_explained() -> None:
    section = document("docs/queries.md").section("Filters")
    assert [name for name in CONDITIONS if camel_case(name) not in section] == []


def test_the_table_of_metrics_is_the_metrics(service: Service) -> None:
    """Each has samples, and so its labels, once something was stored, read, exported and logged."""
    service.ask("mutation { ingestRecent { upserted } }")
    service.ask("{ events { totalCount } }")
    service.http.get("/export/events.csv")
    service.ask('mutation { writeServiceLogs(input: {logs: [{service: "checkout", message: "Paid"}]}) { accepted } }')

    text = scraped(service.url).text
    metrics = {}
    for name, kind in re.findall(r"^# TYPE (quakegraph_\w+) (\w+)$", text, re.MULTILINE):
        sample = re.search(rf"^{name}(?:_bucket|)(?:{{(.*)}})? ", text, re.MULTILINE)
        assert sample, name
        labels = re.findall(r'(\w+)="', sample[1] or "")
        metrics[name] = set(labels) - ({"le"} if kind == "histogram" else set())

    assert {row[0].strip("`"): set(re.findall(r"\w+", row[1])) for row in OPERATIONS.rows("Metrics")} == metrics


def test_the_table_of_scopes_names_the_fields_that_need_each() -> None:
    needed: defaultdict[str, set[str]] = defaultdict(set)
    for type_name, name, field in fields():
        if scope := required_scope(field):
            needed[scope].add(name if type_name in ("Query", "Mutation", "Subscription") else f"{type_name}.{name}")

    assert OPERATIONS.names("Tokens") == sorted(needed)
    shown = {row[0].strip("`"): set(re.findall(r"`([\w.]+)`", row[1])) for row in OPERATIONS.rows("Tokens")}
    assert {scope: names - shown[scope] for scope, names in needed.items() if names - shown[scope]} == {}


def test_the_picture_of_the_layers_is_the_import_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [name.strip("_ ") for layer in contract["layers"] for name in layer.split("|")]
    drawn = re.findall(r'\b(\w+)\["', document("docs/architecture.md").section("The layers"))

    assert [name for name in drawn if {name, f"{name}.py", f"__{name}__.py"} & MODULES] == layers
