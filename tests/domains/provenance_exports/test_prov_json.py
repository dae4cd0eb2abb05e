"""A lineage as PROV-JSON: what stands in the document, and that what it leaves out has no relation there."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given

from graph.core.errors import BadUserInput
from graph.domains.data_files.model import FileRevision, Run
from graph.domains.data_files.references import Version
from graph.domains.provenance_exports.prov_json import STATEMENTS_PER_PIECE, prov_json, run_name, version_name
from graph.work.account import Work
from tests.domains.earthquakes.test_giving_way import CountedPace
from tests.domains.provenance_exports.graphs import RUN_ID, Graph, a_revision, a_run, graphs
from tests.work.accounts import an_account


def written(revisions: Collection[FileRevision], runs: Collection[Run]) -> dict[str, Any]:
    """The document of revisions and runs."""
    return asyncio.run(prov_json(revisions, runs))


def test_a_document_tells_of_files_runs_and_all_relations() -> None:
    first = a_revision("rad.nc", level="L1B", size=7, invalidated_at="2024-01-06 00:00:00", invalidated_by=RUN_ID)
    again, cal = a_revision("rad.nc", 2, url="s3://archive/rad.nc"), a_revision("cal 1.nc")
    run = a_run(["cal 1.nc@1"], ["rad.nc@2"], version="1.2", ended_at="2024-01-05 13:00:00")

    document = written([first, again, cal], [run])

    def entity(label: str, **attributes: Any) -> dict[str, Any]:
        kind = {"$": "quakegraph:DataFileRevision", "type": "prov:QUALIFIED_NAME"}
        return {"prov:type": kind, "prov:label": label, **attributes}

    one, two, of_cal = ("quakegraph:file/rad.nc@1", "quakegraph:file/rad.nc@2", "quakegraph:file/cal%201.nc@1")
    run_, agent = f"quakegraph:run/{RUN_ID}", "quakegraph:algorithm/calibrate@1.2"
    assert document["entity"] == {
        one: entity("rad.nc", **{"quakegraph:revision": 1, "quakegraph:level": "L1B", "quakegraph:size": 7}),
        two: entity("rad.nc", **{"quakegraph:revision": 2, "prov:location": "s3://archive/rad.nc"}),
        of_cal: entity("cal 1.nc", **{"quakegraph:revision": 1}),
    }
    assert document["activity"][run_]["prov:endTime"] == "2024-01-05T13:00:00Z"
    assert document["agent"][agent]["quakegraph:version"] == "1.2"
    assert {name: [*section.values()] for name, section in document.items() if name[:1] in "uw"} == {
        "wasAssociatedWith": [{"prov:activity": run_, "prov:agent": agent}],
        "used": [{"prov:activity": run_, "prov:entity": of_cal}],
        "wasGeneratedBy": [{"prov:entity": two, "prov:activity": run_, "prov:time": "2024-01-05T13:00:00Z"}],
        "wasDerivedFrom": [
            {"prov:generatedEntity": two, "prov:usedEntity": of_cal, "prov:activity": run_},
            {
                "prov:generatedEntity": two,
                "prov:usedEntity": one,
                "prov:type": {"$": "prov:Revision", "type": "prov:QUALIFIED_NAME"},
            },
        ],
        "wasInvalidatedBy": [{"prov:entity": one, "prov:activity": run_, "prov:time": "2024-01-06T00:00:00Z"}],
    }


@given(graphs())
def test_a_document_has_every_relation_between_what_it_tells_of(graph: Graph) -> None:
    document = written(graph.revisions, graph.runs)

    pairs = {
        relation: {(each["prov:activity"], each["prov:entity"]) for each in document.get(relation, {}).values()}
        for relation in ("used", "wasGeneratedBy")
    }
    for relation, attribute in (("used", "used"), ("wasGeneratedBy", "generated")):
        assert pairs[relation] == {
            (run_name(run.run_id), version_name(version)) for run in graph.runs for version in getattr(run, attribute)
        }
    derived = [each for each in document.get("wasDerivedFrom", {}).values() if "prov:activity" in each]
    assert len(derived) == sum(len(run.used) * len(run.generated) for run in graph.runs)
    assert len(document.get("wasDerivedFrom", {})) - len(derived) == sum(each.number > 1 for each in graph.revisions)
    assert len(document.get("wasInvalidatedBy", {})) == sum(each.invalidated_at is not None for each in graph.revisions)
    assert len(document["entity"]) == len(graph.revisions)
    assert len(document.get("activity", {})) == len(graph.runs)
    assert len(document.get("agent", {})) == len({(run.algorithm, run.version) for run in graph.runs})


def test_relations_to_what_a_document_leaves_out_are_left_out() -> None:
    document = written([a_revision("raw.nc")], [a_run(["raw.nc@1", "other.nc@4"], ["rad.nc@1"])])

    assert list(document["entity"]) == ["quakegraph:file/raw.nc@1"]
    assert [each["prov:entity"] for each in document["used"].values()] == ["quakegraph:file/raw.nc@1"]
    assert not {"wasGeneratedBy", "wasDerivedFrom"} & document.keys()


async def test_a_document_gives_way_while_it_is_written_and_one_that_would_be_too_large_is_refused() -> None:
    names = [f"{number}.nc" for number in range(300)]
    references = [f"{name}@1" for name in names]
    revisions, run = [*map(a_revision, names)], a_run(references[:150], references[150:])

    with pytest.raises(BadUserInput, match="ask for fewer"):
        await prov_json(revisions, [run])
    pace = CountedPace()
    with an_account(Work(pace=pace)):
        document = await prov_json(revisions[20:], [run])
    assert len(document["wasDerivedFrom"]) == 130 * 150
    assert pace.offers >= 130 * 150 // STATEMENTS_PER_PIECE


def test_a_name_has_only_characters_of_a_qualified_name() -> None:
    for name, escaped in (
        ("LIBERA_L1B.nc", "quakegraph:file/LIBERA_L1B.nc@2"),
        ("s3://a#b c.", "quakegraph:file/s3%3A%2F%2Fa%23b%20c.@2"),
        ("-ü@1", "quakegraph:file/-%C3%BC%401@2"),
    ):
        assert version_name(Version(name, 2)) == escaped
