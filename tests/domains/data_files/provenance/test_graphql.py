"""Runs, lineage and plans as clients of the graph see them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.domains.data_files.in_store import run_id
from tests.service import Service, running
from tests.settings import Settings

REGISTER = "mutation($files: [DataFileInput!]!) { registerFiles(input: {files: $files}) { registered } }"
CALIBRATION = {"name": "cal.nc", "level": "CAL", "calibrations": [{"calibrates": "L0", "calibrationVersion": "1.0.0"}]}
RECORD = "mutation($input: RecordRunInput!) { recordRun(input: $input) { run { runId state used { name revision } } } }"
LINEAGE = """query($name: String!, $direction: LineageDirection = BOTH, $depth: Int, $most: Int, $revision: Int) {
  dataFile(name: $name) {
    lineage(direction: $direction, depth: $depth, maxNodes: $most, revision: $revision) {
      nodes { distance file { name revision } run { runId } }
      edges { relation runId file { name revision } }
      truncated { omittedNodes frontier { name revision } }
      complete
    }
  }
}"""
PLAN = """query($calibration: String!, $version: String!) {
  affectedBy(calibration: $calibration, version: $version) {
    files
    calibrations { name revision }
    stages { number groups { product day files { state file { name revision } } } }
  }
}"""
RUN = "query($id: ID!) { run(runId: $id) { runId algorithm used { name } generated { name generatedBy { runId } } } }"


PACKETS = {
    "applicableDates": ["2024-01-01"],
    "firstPacketTime": "2024-01-01T03:00:00Z",
    "lastPacketTime": "2024-01-01T04:00:00Z",
}
EXPORTS = """query ($run: ID!) {
  dataFile(name: "b.nc") { lineage(direction: UPSTREAM) { provJson } revisions(first: 1) { nodes { stacItem } } }
  run(runId: $run) { openLineage }
}"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A calibration, a file of two revisions that was made with it, and one that was made from the first of these."""
    with running(Settings(store=f"sqlite:///{tmp_path_factory.mktemp('lineage') / 'lineage.db'}")) as service:
        service.ask(REGISTER, {"files": [CALIBRATION]})
        day = {"level": "L1B", "product": "RAD", "applicableDates": ["2024-01-01"]}
        for number, used, made in (
            (1, ["cal.nc"], {"name": "a.nc", "checksum": "0" * 32, **day}),
            (2, ["a.nc"], {"name": "b.nc", "size": 7, "level": "L1B", "product": "RAD", "sortable": [PACKETS]}),
            (3, ["cal.nc"], {"name": "a.nc", "checksum": "1" * 32, **day}),
        ):
            record(service, number, used, [made])
        yield service


def record(service: Service, number: int, used: list[str], generated: list[dict[str, Any]]) -> Any:
    """Record a run."""
    told = {"runId": run_id(number), "algorithm": "l1b", "used": [{"name": name} for name in used]}
    return service.ask(RECORD, {"input": {**told, "generated": generated}})["recordRun"]["run"]


def lineage(service: Service, name: str, **arguments: Any) -> Any:
    """The lineage of a file."""
    return service.ask(LINEAGE, {"name": name, "depth": 20, "most": 200, **arguments})["dataFile"]["lineage"]


def test_a_lineage_has_versions_with_their_distances_and_runs_and_says_where_to_go_on(service: Service) -> None:
    def node(name: str, revision: int, distance: int, number: int | None) -> dict[str, Any]:
        run = None if number is None else {"runId": run_id(number)}
        return {"distance": distance, "file": {"name": name, "revision": revision}, "run": run}

    found = lineage(service, "a.nc", revision=1)
    assert found["nodes"] == [node("a.nc", 1, 0, 1), node("b.nc", 1, 1, 2), node("cal.nc", 1, 1, None)]
    assert found["complete"]
    assert found["truncated"] is None
    assert sorted((edge["relation"], edge["runId"][-1], edge["file"]["name"]) for edge in found["edges"]) == [
        ("GENERATED", "1", "a.nc"),
        ("GENERATED", "2", "b.nc"),
        ("USED", "1", "cal.nc"),
        ("USED", "2", "a.nc"),
    ]
    latest = lineage(service, "a.nc")
    assert latest["nodes"] == [node("a.nc", 2, 0, 3), node("cal.nc", 1, 1, None)]

    cut_short = lineage(service, "cal.nc", direction="DOWNSTREAM", most=1)
    files = [{"name": name, "revision": 1} for name in ("cal.nc", "a.nc")]
    assert [node["file"] for node in cut_short["nodes"]] == files
    assert cut_short["truncated"] == {"omittedNodes": 1, "frontier": files}
    assert not cut_short["complete"]


def test_a_plan_has_stages_by_product_and_day(service: Service) -> None:
    def group(*files: tuple[str, int, str]) -> dict[str, Any]:
        planned = [{"state": state, "file": {"name": name, "revision": number}} for name, number, state in files]
        return {"product": "RAD", "day": "2024-01-01", "files": planned}

    plan = service.ask(PLAN, {"calibration": "cal.nc", "version": "1.0.0"})["affectedBy"]
    assert plan == {
        "files": 3,
        "calibrations": [{"name": "cal.nc", "revision": 1}],
        "stages": [
            {"number": 1, "groups": [group(("a.nc", 1, "REPLACED"), ("a.nc", 2, "CURRENT"))]},
            {"number": 2, "groups": [group(("b.nc", 1, "CURRENT"))]},
        ],
    }


def test_a_run_has_what_it_used_and_generated(service: Service) -> None:
    run = {"runId": run_id(2), "algorithm": "l1b", "used": [{"name": "a.nc"}]}
    generated = [{"name": "b.nc", "generatedBy": {"runId": run_id(2)}}]
    assert service.ask(RUN, {"id": run_id(2)}) == {"run": {**run, "generated": generated}}
    for unknown in (run_id(99), "", "x", "\x00", "x" * 1000):
        assert service.ask(RUN, {"id": unknown}) == {"run": None}


def test_lineages_runs_and_revisions_go_out_in_the_formats_of_others(service: Service) -> None:
    asked = service.ask(EXPORTS, {"run": run_id(2)})
    prov = asked["dataFile"]["lineage"]["provJson"]
    assert prov["entity"].keys() == {"quakegraph:file/a.nc@1", "quakegraph:file/b.nc@1"}
    assert prov["agent"].keys() == {"quakegraph:algorithm/l1b"}
    assert prov["activity"].keys() == {f"quakegraph:run/{run_id(2)}"}
    assert len(prov["wasDerivedFrom"]) == 1
    *_, end = asked["run"]["openLineage"]
    assert [[each["name"] for each in end[side]] for side in ("inputs", "outputs")] == [["a.nc"], ["b.nc"]]
    (node,) = asked["dataFile"]["revisions"]["nodes"]
    item = node["stacItem"]
    assert (item["properties"]["processing:level"], item["assets"]["data"]["file:size"]) == ("L1B", 7)
    assert item["properties"]["start_datetime"] == "2024-01-01T03:00:00Z"  # of its packets, more exact than its day
    assert [link["href"] for link in item["links"] if link["rel"] == "derived_from"] == ["./a.nc@1.json"]


def test_arguments_of_a_lineage_have_bounds_and_what_is_unknown_has_none(service: Service) -> None:
    depth, most = "`depth` must lie between 1 and 20.", "`maxNodes` must lie between 1 and 1,000."
    refused: list[tuple[str, int, str, str]] = [
        *(("depth", number, "BAD_USER_INPUT", depth) for number in (-1, 0, 21)),
        *(("most", number, "BAD_USER_INPUT", most) for number in (-1, 0, 1001)),
        *(("revision", number, "NOT_FOUND", "") for number in (-1, 0, 3, 1_000_000)),
    ]
    for name, number, code, message in refused:
        asked = {"name": "a.nc", "direction": "UPSTREAM", "depth": 1, "most": 1, name: number}
        (error,) = service.answer(LINEAGE, asked)["errors"]
        assert error["extensions"]["code"] == code, (name, number, error)
        assert message in error["message"]
    assert service.ask(LINEAGE, {"name": "unknown", "depth": 1, "most": 1}) == {"dataFile": None}
    for name, version in (("unknown", "1.0.0"), ("", "1.0.0"), ("cal.nc", "2.0.0")):
        assert service.codes(PLAN, {"calibration": name, "version": version}) == ["BAD_USER_INPUT"]


def test_runs_that_break_a_rule_are_refused_with_a_code(service: Service) -> None:
    refused: list[tuple[str, dict[str, Any]]] = [
        ("NOT_FOUND", {"used": [{"name": "unknown"}]}),
        ("NOT_FOUND", {"used": [{"name": "a.nc", "revision": 3}]}),
        ("BAD_USER_INPUT", {"runId": "1"}),
        *(("BAD_USER_INPUT", {"generated": [each]}) for each in ({"name": ""}, {"name": "c.nc", "metadata": [1]})),
        ("BAD_USER_INPUT", {"algorithm": "x" * 2000}),
        ("ALREADY_GENERATED", {"generated": [{"name": "a.nc", "checksum": "1" * 32}]}),
        ("PROVENANCE_CYCLE", {"used": [{"name": "b.nc"}], "generated": [CALIBRATION]}),
    ]
    for code, told in refused:
        (error,) = service.answer(RECORD, {"input": {"algorithm": "l1b", **told}})["errors"]
        assert error["extensions"]["code"] == code, told
    assert error["message"] == (
        "Revision 1 of 'cal.nc' cannot be generated by this run: what the run used was made from it."
    )


def test_a_revision_that_was_registered_before_its_run_has_ended_the_one_before_by_this_run(service: Service) -> None:
    for checksum in ("2" * 32, "3" * 32):
        service.ask(REGISTER, {"files": [{"name": "early.nc", "checksum": checksum}]})
    asked = '{ dataFile(name: "early.nc") { revisions(first: 2) { nodes { invalidatedBy { runId } } } } }'
    latest, before = service.ask(asked)["dataFile"]["revisions"]["nodes"]
    assert (latest["invalidatedBy"], before["invalidatedBy"]) == (None, None)

    record(service, 50, [], [{"name": "early.nc", "checksum": "3" * 32}])
    latest, before = service.ask(asked)["dataFile"]["revisions"]["nodes"]
    assert (latest["invalidatedBy"], before["invalidatedBy"]) == (None, {"runId": run_id(50)})


def test_what_a_run_used_and_a_plan_are_charged_by_what_is_read(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'wide.db'}"
    files = [{"name": f"in{number}"} for number in range(900)]
    with running(Settings(store=store)) as service:
        service.ask(REGISTER, {"files": [CALIBRATION]})
        for number in range(9):
            record(service, number, ["cal.nc"], files[100 * number :][:100])
        told = {"runId": run_id(9), "algorithm": "a", "used": files, "generated": [{"name": "out"}]}
        service.ask(RECORD.partition("{ run")[0] + "{ run { runId } } }", {"input": told})

    plan = 'affectedBy(calibration: "cal.nc", version: "1.0.0") { files }'
    queries = [*(f'run(runId: "{run_id(9)}") {{ {each} }}' for each in ("used { name }", "openLineage")), plan]
    points = 900 // 10  # for reading the versions; the rest of a query of a run costs some 20
    for most, answered in ((points - 1, 0), (2 * points, 2), (3 * points, 3)):
        with running(Settings(store=store, max_cost=most)) as service:
            for number, query in enumerate(queries):
                body = service.answer(f"{{ {query} }}")
                assert ("errors" not in body) == (number < answered), (most, query)
                assert answered > number or body["errors"][0]["extensions"]["code"] == "QUERY_TOO_COMPLEX"
