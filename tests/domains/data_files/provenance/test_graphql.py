"""Runs, lineage and plans as clients of the graph see them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.domains.data_files.in_store import run_id
from tests.service import Service, running
from tests.settings import Settings

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


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A calibration, a file of two revisions that was made with it, and one that was made from the first of these."""
    with running(Settings(store=f"sqlite:///{tmp_path_factory.mktemp('lineage') / 'lineage.db'}")) as service:
        calibration = {"name": "cal.nc", "level": "CAL", "calibrations": [{"calibrates": "L0", "version": "1.0.0"}]}
        service.ask(
            "mutation($files: [DataFileInput!]!) { registerFiles(input: {files: $files}) { registered } }",
            {"files": [calibration]},
        )
        day = {"level": "L1B", "product": "RAD", "applicableDates": ["2024-01-01"]}
        for number, used, made in (
            (1, ["cal.nc"], {"name": "a.nc", "checksum": "0" * 32, **day}),
            (2, ["a.nc"], {"name": "b.nc", **day}),
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


def test_lineage_has_versions_with_their_distances_and_runs(service: Service) -> None:
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


def test_a_truncated_lineage_says_where_to_go_on(service: Service) -> None:
    found = lineage(service, "cal.nc", direction="DOWNSTREAM", most=1)
    assert [node["file"] for node in found["nodes"]] == [
        {"name": "cal.nc", "revision": 1},
        {"name": "a.nc", "revision": 1},
    ]
    frontier = [{"name": "cal.nc", "revision": 1}, {"name": "a.nc", "revision": 1}]
    assert found["truncated"] == {"omittedNodes": 1, "frontier": frontier}
    assert not found["complete"]


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0}, "`depth` must lie between 1 and 20."),
        ({"depth": 21}, "`depth` must lie between 1 and 20."),
        ({"depth": -1}, "`depth` must lie between 1 and 20."),
        ({"most": 0}, "`maxNodes` must lie between 1 and 1,000."),
        ({"most": 1001}, None),
        ({"revision": 3}, None),
        ({"revision": 0}, None),
        ({"revision": -1}, None),
        ({"revision": 1_000_000}, None),
    ],
)
def test_arguments_of_a_lineage_have_bounds(service: Service, arguments: dict[str, int], message: str | None) -> None:
    asked = {"name": "a.nc", "direction": "UPSTREAM", "depth": 1, "most": 1, **arguments}
    (error,) = service.answer(LINEAGE, asked)["errors"]
    code = "NOT_FOUND" if "revision" in arguments else "BAD_USER_INPUT"
    assert error["extensions"]["code"] in (code, "QUERY_TOO_COMPLEX")
    assert message is None or error["message"] == message


def test_what_is_unknown_has_no_lineage_and_no_plan(service: Service) -> None:
    for name in ("unknown", "", "\x00", "x" * 401):
        assert service.ask(LINEAGE, {"name": name, "depth": 1, "most": 1}) == {"dataFile": None}
        assert service.codes(PLAN, {"calibration": name, "version": "1.0.0"}) == ["BAD_USER_INPUT"]
    assert service.codes(PLAN, {"calibration": "cal.nc", "version": "2.0.0"}) == ["BAD_USER_INPUT"]


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ({"used": [{"name": "unknown"}]}, "NOT_FOUND"),
        ({"used": [{"name": "a.nc", "revision": 0}]}, "NOT_FOUND"),
        ({"used": [{"name": "a.nc", "revision": 3}]}, "NOT_FOUND"),
        ({"runId": "1"}, "BAD_USER_INPUT"),
        ({"generated": [{"name": "a.nc", "checksum": "1" * 32}]}, "ALREADY_GENERATED"),
        ({"used": [{"name": "x" * 500}]}, "NOT_FOUND"),
        ({"generated": [{"name": ""}]}, "BAD_USER_INPUT"),
        ({"generated": [{"name": "c.nc", "metadata": [1]}]}, "BAD_USER_INPUT"),
        ({"algorithm": "x" * 2000}, "BAD_USER_INPUT"),
    ],
)
def test_runs_that_break_a_rule_are_refused_with_a_code(service: Service, told: dict[str, Any], code: str) -> None:
    assert service.codes(RECORD, {"input": {"algorithm": "l1b", **told}}) == [code]


def test_a_run_that_closes_a_cycle_is_refused(service: Service) -> None:
    calibration = {"name": "cal.nc", "level": "CAL", "calibrations": [{"calibrates": "L0", "version": "1.0.0"}]}
    told = {"algorithm": "l1b", "used": [{"name": "b.nc"}], "generated": [calibration]}
    (error,) = service.answer(RECORD, {"input": told})["errors"]
    assert error["extensions"]["code"] == "PROVENANCE_CYCLE"
    assert error["message"] == (
        "Revision 1 of 'cal.nc' cannot be generated by this run: what the run used was made from it."
    )


def test_a_plan_that_reads_too_much_is_refused_as_too_complex(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = tmp_path_factory.mktemp("cheap") / "cheap.db"
    with running(Settings(store=f"sqlite:///{store}")) as service:
        calibration = {"name": "cal.nc", "calibrations": [{"calibrates": "L0", "version": "1"}]}
        record(service, 0, [], [calibration])
        for number in range(1, 6):
            record(service, number, ["cal.nc"], [{"name": f"made{number}-{of}"} for of in range(100)])
    query = 'query { affectedBy(calibration: "cal.nc", version: "1") { files } }'
    with running(Settings(store=f"sqlite:///{store}", max_cost=100)) as service:
        assert service.codes(query) == ["QUERY_TOO_COMPLEX"]
    with running(Settings(store=f"sqlite:///{store}", max_cost=200)) as service:
        assert service.ask(query) == {"affectedBy": {"files": 500}}


def test_a_revision_that_was_registered_before_its_run_has_ended_the_one_before_by_this_run(service: Service) -> None:
    register = "mutation($files: [DataFileInput!]!) { registerFiles(input: {files: $files}) { registered } }"
    for checksum in ("2" * 32, "3" * 32):
        service.ask(register, {"files": [{"name": "early.nc", "checksum": checksum}]})
    asked = '{ dataFile(name: "early.nc") { revisions(first: 2) { nodes { invalidatedBy { runId } } } } }'
    latest, before = service.ask(asked)["dataFile"]["revisions"]["nodes"]
    assert (latest["invalidatedBy"], before["invalidatedBy"]) == (None, None)

    record(service, 50, [], [{"name": "early.nc", "checksum": "3" * 32}])
    latest, before = service.ask(asked)["dataFile"]["revisions"]["nodes"]
    assert (latest["invalidatedBy"], before["invalidatedBy"]) == (None, {"runId": run_id(50)})


USERS = """query($first: Int, $after: String, $last: Int) {
  dataFile(name: "hub.nc") { revisions { nodes {
    usedBy(first: $first, after: $after, last: $last) {
      edges { cursor node { id runId algorithm used { name } } }
      pageInfo { hasNextPage hasPreviousPage }
    }
  } } }
}"""


def test_the_runs_that_used_a_revision_are_a_connection(service: Service) -> None:
    service.ask(
        "mutation($files: [DataFileInput!]!) { registerFiles(input: {files: $files}) { registered } }",
        {"files": [{"name": "hub.nc"}]},
    )
    for number in range(60, 65):
        record(service, number, ["hub.nc"], [{"name": f"of-hub-{number}.nc"}])

    def used_by(**arguments: Any) -> Any:
        return service.ask(USERS, arguments)["dataFile"]["revisions"]["nodes"][0]["usedBy"]

    first = used_by(first=2)
    assert [edge["node"]["runId"] for edge in first["edges"]] == [run_id(60), run_id(61)]
    assert [edge["node"]["used"] for edge in first["edges"]] == [[{"name": "hub.nc"}]] * 2
    assert first["pageInfo"] == {"hasNextPage": True, "hasPreviousPage": False}
    rest = used_by(first=3, after=first["edges"][-1]["cursor"])
    assert [edge["node"]["runId"] for edge in rest["edges"]] == [run_id(number) for number in (62, 63, 64)]
    assert rest["pageInfo"] == {"hasNextPage": False, "hasPreviousPage": True}
    (last,) = used_by(last=1)["edges"]
    assert last == rest["edges"][-1]
    (error,) = service.answer(USERS, {"first": 1, "after": first["edges"][0]["cursor"] + "A"})["errors"]
    assert error["extensions"]["code"] == "INVALID_CURSOR"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store where one run used 900 files and made one, which is far more than its price takes for usual."""
    url = f"sqlite:///{tmp_path_factory.mktemp('wide') / 'wide.db'}"
    names = [f"in{number}" for number in range(900)]
    with running(Settings(store=url)) as service:
        service.ask(
            "mutation($files: [DataFileInput!]!) { registerFiles(input: {files: $files}) { registered } }",
            {"files": [{"name": name} for name in names]},
        )
        record_quietly = RECORD.partition("{ run")[0] + "{ run { runId } } }"
        used = [{"name": name} for name in names]
        told = {"runId": run_id(1), "algorithm": "a", "used": used, "generated": [{"name": "out"}]}
        service.ask(record_quietly, {"input": told})
    return url


@pytest.mark.parametrize(
    "query",
    [
        f'{{ run(runId: "{run_id(1)}") {{ used {{ name }} }} }}',
        f'{{ run(runId: "{run_id(1)}") {{ openLineage }} }}',
    ],
)
def test_what_a_run_used_is_charged_by_its_number(wide: str, query: str) -> None:
    points = 900 // 10  # for reading the versions; the rest of each query costs some 20
    with running(Settings(store=wide, max_cost=2 * points)) as service:
        assert service.answer(query).keys() == {"data"}
    with running(Settings(store=wide, max_cost=points - 1)) as service:
        assert service.codes(query) == ["QUERY_TOO_COMPLEX"]
