"""PROV-JSON is valid by its schema, and the library of PROV reads every relation back."""

import asyncio
import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
from hypothesis import given
from prov.model import ProvDocument

from graph.domains.provenance_exports.prov_json import prov_json
from tests.domains.provenance_exports.graphs import Graph, graphs

SCHEMA = json.loads(files("prov.tests.schemas").joinpath("prov-json.schema.json").read_text())
VALIDATOR = jsonschema_rs.validator_for(SCHEMA, validate_formats=True)
"""What checks a document by the schema of the submission to W3C."""


def read(document: dict[str, Any]) -> ProvDocument:
    """The document as the library reads it."""
    return ProvDocument.deserialize(content=json.dumps(document), format="json")


@given(graphs())
def test_a_document_is_valid_and_comes_through_the_library_unchanged(graph: Graph) -> None:
    document = asyncio.run(prov_json(graph.revisions, graph.runs))

    VALIDATOR.validate(document)
    once = read(document)
    assert read(json.loads(once.serialize(format="json") or "")) == once
    uris = [each.identifier.uri for each in once.get_records() if each.is_element() and each.identifier]
    assert len(uris) == len(set(uris))
