"""PROV-JSON is valid by its schema, and the library of PROV reads every relation back."""

import asyncio
import json
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from prov.model import ProvDocument

from graph.core.errors import BadUserInput
from graph.domains.data_files.exports.prov_json import prov_json, run_name, version_name
from graph.domains.data_files.model import FileRevision, Run
from graph.domains.data_files.references import Version
from tests.domains.data_files.exports.graphs import Graph, graphs


@cache
def validator() -> Any:
    """What checks a document by the schema of the submission to W3C."""
    schema = files("prov.tests.schemas").joinpath("prov-json.schema.json").read_text()
    return jsonschema_rs.validator_for(json.loads(schema), validate_formats=True)


def written(revisions: Collection[FileRevision], runs: Collection[Run]) -> dict[str, Any]:
    """The document of revisions and runs."""
    return asyncio.run(prov_json(revisions, runs))


def read(document: dict[str, Any]) -> ProvDocument:
    """The document as the library reads it."""
    return ProvDocument.deserialize(content=json.dumps(document), format="json")


def serialised(document: ProvDocument) -> Any:
    """The document as the library writes it."""
    return json.loads(document.serialize(format="json") or "")


@given(graphs())
def test_a_document_is_valid_and_comes_through_the_library_unchanged(graph: Graph) -> None:
    document = written(graph.revisions, graph.runs)

    validator().validate(document)
    once = read(document)
    assert read(serialised(once)) == once


@given(graphs())
def test_a_document_has_every_relation_between_what_it_tells_of(graph: Graph) -> None:
    document = written(graph.revisions, graph.runs)

    known = graph.by_version
    pairs = {
        relation: {(each["prov:activity"], each["prov:entity"]) for each in document.get(relation, {}).values()}
        for relation in ("used", "wasGeneratedBy")
    }
    for relation, attribute in (("used", "used"), ("wasGeneratedBy", "generated")):
        assert pairs[relation] == {
            (run_name(run.run_id), version_name(version))
            for run in graph.runs
            for version in getattr(run, attribute)
            if version in known
        }
    derived = [each for each in document.get("wasDerivedFrom", {}).values() if "prov:activity" in each]
    assert len(derived) == sum(len(run.used) * len(run.generated) for run in graph.runs)
    assert len(document.get("wasDerivedFrom", {})) - len(derived) == sum(each.number > 1 for each in graph.revisions)
    assert len(document.get("wasInvalidatedBy", {})) == sum(each.invalidated_at is not None for each in graph.revisions)


@given(graphs())
def test_what_has_different_names_here_has_different_names_there(graph: Graph) -> None:
    document = written(graph.revisions, graph.runs)

    assert len(document["entity"]) == len(graph.revisions)
    assert len(document.get("activity", {})) == len(graph.runs)
    assert len(document.get("agent", {})) == len({(run.algorithm, run.version) for run in graph.runs})
    uris = [each.identifier.uri for each in read(document).get_records() if each.is_element() and each.identifier]
    assert len(uris) == len(set(uris))


def test_relations_to_what_a_document_leaves_out_are_left_out() -> None:
    raw = FileRevision(
        {"file-name": "raw.nc", "revision": 1, "applicable-dates": [], "registered-at": "2024-01-01 00:00:00"}
    )
    run = Run(
        {
            "run-id": "0190c6a0-0000-7000-8000-000000000001",
            "algorithm": "calibrate",
            "state": "COMPLETE",
            "used": ["raw.nc@1", "other.nc@4"],
            "generated": ["rad.nc@1"],
            "recorded-at": "2024-01-01 00:00:00",
        }
    )

    document = written([raw], [run])

    assert list(document["entity"]) == ["quakegraph:file/raw.nc@1"]
    assert [each["prov:entity"] for each in document["used"].values()] == ["quakegraph:file/raw.nc@1"]
    assert "wasGeneratedBy" not in document
    assert "wasDerivedFrom" not in document


def test_a_document_that_would_be_too_large_is_refused() -> None:
    names = [f"{number}.nc" for number in range(300)]
    registered = {"revision": 1, "applicable-dates": [], "registered-at": "2024-01-01 00:00:00"}
    revisions = [FileRevision({"file-name": name, **registered}) for name in names]
    run = Run(
        {
            "run-id": "0190c6a0-0000-7000-8000-000000000001",
            "algorithm": "mix",
            "state": "COMPLETE",
            "used": [f"{name}@1" for name in names[:150]],
            "generated": [f"{name}@1" for name in names[150:]],
            "recorded-at": "2024-01-01 00:00:00",
        }
    )

    with pytest.raises(BadUserInput, match="ask for fewer"):
        written(revisions, [run])
    assert len(written(revisions[20:], [run])["wasDerivedFrom"]) == 130 * 150


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("LIBERA_L1B.nc", "quakegraph:file/LIBERA_L1B.nc@2"),
        ("s3://a#b c.", "quakegraph:file/s3%3A%2F%2Fa%23b%20c.@2"),
        ("-ü@1", "quakegraph:file/-%C3%BC%401@2"),
    ],
)
def test_a_name_has_only_characters_of_a_qualified_name(name: str, escaped: str) -> None:
    assert version_name(Version(name, 2)) == escaped
