"""Tables of documents are complete: settings, error codes, metrics, scopes, keys, layers."""

import json
import re
import tomllib
from pathlib import Path

from pydantic import BaseModel

from graph.cli import main
from graph.core import errors
from graph.domain import scopes_of
from graph.domains import DOMAINS
from graph.observability.metrics import Metrics
from graph.observability.requests import RequestMetrics
from graph.opening import open_services
from graph.settings import Settings as CoreSettings
from graph.work.account import Work
from graph.work.metrics import measure_work
from tests.documents.markdown import DOCUMENTS, ROOT, document
from tests.settings import Settings

MODULES = {path.name for path in (ROOT / "graph").iterdir()}
OPERATIONS = document("docs/operations.md")
PARTS: list[type[BaseModel]] = [CoreSettings, *(domain.settings for domain in DOMAINS if domain.settings)]
FIELDS = {name: field for part in PARTS for name, field in part.model_fields.items()}
"""The settings that are nobody's domain, and then those of each domain."""


def test_the_table_of_settings_is_the_settings() -> None:
    rows = [[cell.strip("`") for cell in row[:3]] + row[3:] for row in document("docs/settings.md").rows("Settings")]

    assert [row[0] for row in rows] == [f"GRAPH_{name.upper()}" for name in FIELDS]
    options = {parameter.name: parameter.opts[0] for parameter in main.commands["serve"].params}
    for (_, option, default, description), (name, field) in zip(rows, FIELDS.items(), strict=True):
        assert description == field.description
        assert default == (
            "none" if field.default in (None, ()) else json.dumps(field.default).strip('"').removesuffix(".0")
        )
        assert option == options.get(name, "")


def test_a_setting_that_is_named_exists() -> None:
    known = {f"GRAPH_{name.upper()}" for name in FIELDS}

    for one in DOCUMENTS:
        assert set(re.findall(r"\bGRAPH_[A-Z_]+[A-Z]\b", one.text)) <= known, one.name


def test_every_error_code_is_explained() -> None:
    explained = [code for row in document("docs/queries.md").rows("Errors") for code in re.findall(r"`(\w+)`", row[0])]
    kinds = [errors.GraphError]
    for kind in kinds:
        kinds += kind.__subclasses__()

    codes = {kind.code for kind in kinds if "code" in vars(kind)}
    assert len(explained) == len(set(explained))
    assert set(explained) == codes | {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "BAD_REQUEST"}


async def test_the_table_of_metrics_is_the_metrics(tmp_path: Path) -> None:
    registered = Metrics()
    RequestMetrics(registered)
    measure_work(Work(), registered)
    async with open_services(Settings(store=f"sqlite:///{tmp_path}/empty.db"), DOMAINS, metrics=registered):
        collectors = set(registered.registry._names_to_collectors.values())
    metrics = {}
    for collector in collectors:
        for family in collector.collect():
            if family.name.startswith("quakegraph_"):
                name = f"{family.name}_total" if family.type == "counter" else family.name
                metrics[name] = tuple(getattr(collector, "_labelnames", ()))

    assert {row[0].strip("`"): tuple(re.findall(r"\w+", row[1])) for row in OPERATIONS.rows("Metrics")} == metrics


def test_the_table_of_scopes_is_the_scopes() -> None:
    assert [row[0].strip("`") for row in OPERATIONS.rows("Tokens")] == sorted(scopes_of(DOMAINS))


def test_the_picture_of_the_layers_is_the_import_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [name.strip("_ ") for layer in contract["layers"] for name in layer.split("|")]
    drawn = re.findall(r'\b(\w+)\["', document("docs/architecture.md").section("The layers"))

    assert [name for name in drawn if {name, f"{name}.py", f"__{name}__.py"} & MODULES] == layers
