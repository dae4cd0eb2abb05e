"""Data files through the graph: their nodes, what their filters mean, and what is refused."""

import json
from pathlib import Path
from typing import Any

from graph.api.relay import global_id
from graph.app import schema_of
from graph.domains import DOMAINS
from tests.domains.data_files.schema.conftest import RECORD, REGISTER, RUN_ID, serving_files
from tests.domains.triggers.schema.probes import selection
from tests.schemas import schema
from tests.service import Service

LONGEST = "\U0001f6f0" * 250


# Nodes


def test_a_file_with_the_longest_name_is_a_node(tmp_path: Path) -> None:
    with serving_files(tmp_path / "files.db") as service:
        service.ask(REGISTER, {"files": [{"name": LONGEST}]})
        query = "query($name: String!) { dataFile(name: $name) { id revisions { nodes { id } } } }"
        file = service.ask(query, {"name": LONGEST})["dataFile"]
        ids = [file["id"], file["revisions"]["nodes"][0]["id"]]
        assert ids == [global_id("DataFile", LONGEST), global_id("DataFileRevision", f"{LONGEST}@1")]
        for node_id in ids:
            query = "query($id: ID!) { node(id: $id) { id ... on DataFile { name } ... on DataFileRevision { name } } }"
            assert service.ask(query, {"id": node_id})["node"] == {"id": node_id, "name": LONGEST}


def test_ids_of_nothing_are_null(archive: Service) -> None:
    for key in ("none.nc", "a@0", "a@1", "a@999999", "a@01", "a@1000000", "@", "x" * 400):
        ids = [global_id(kind, key) for kind in ("DataFile", "DataFileRevision", "Run")]
        assert archive.ask("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ids})["nodes"] == [None] * 3


def test_a_run_is_found_and_completed_by_its_own_id_and_its_global_one(tmp_path: Path) -> None:
    node_id = global_id("Run", RUN_ID)
    with serving_files(tmp_path / "files.db") as service:
        for given, state in ((RUN_ID, "RUNNING"), (node_id, "COMPLETE")):
            service.ask(RECORD, {"run": {"algorithm": "decode", "runId": given, "state": state}})
            for run_id in (RUN_ID, node_id):
                query = "query($id: ID!) { run(runId: $id) { id runId state } }"
                found = service.ask(query, {"id": run_id})["run"]
                assert found == {"id": node_id, "runId": RUN_ID, "state": state}
        assert service.codes(query, {"id": global_id("DataFile", RUN_ID)}) == ["BAD_USER_INPUT"]
        assert service.codes(RECORD, {"run": {"algorithm": "decode", "runId": ""}}) == ["BAD_USER_INPUT"]


# Filters


def test_days_that_contradict_each_other_and_lists_without_end_are_refused(archive: Service) -> None:
    many = json.dumps(["L0"] * 101)
    for conditions, message in {
        '{startDate: "2024-01-02", endDate: "2024-01-01"}': "`startDate` must not be after `endDate`",
        f"{{levels: {many}}}": "`levels` takes at most 100",
        f"{{products: {many}}}": "`products` takes at most 100",
    }.items():
        (error,) = archive.answer(f"{{ dataFiles(filter: {conditions}) {{ nodes {{ id }} }} }}")["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert message in error["message"]


def test_the_filter_means_what_it_says(archive: Service) -> None:
    def names(filter: str) -> list[str]:
        nodes = archive.ask(f"{{ dataFiles(filter: {filter}) {{ nodes {{ name }} }} }}")["dataFiles"]["nodes"]
        return [node["name"] for node in nodes]

    both = ["L0_CONS_file.PDS", "l1a.nc"]
    assert sorted(names("{}")) == both
    assert sorted(names('{startDate: "2024-01-01", endDate: "2024-01-01"}')) == both
    assert names('{startDate: "2024-01-02", endDate: "2024-01-02"}') == both[:1]
    assert names('{type: "APID11", missingPackets: {gt: 2}}') == both[:1]
    for nothing in ("{missingPackets: {gt: 3}}", '{levels: ["\\u0000"]}', "{products: []}", '{type: ""}'):
        assert names(nothing) == []
    assert names('{version: "1.0.0"}') == both[:1]
    assert names('{version: LATEST, levels: ["L1A", "L2"]}') == both[1:]
    assert sorted(names('{levels: ["L0", "L1A"]}')) == both


def test_the_revisions_of_a_file_are_counted(archive: Service) -> None:
    found = archive.ask('{ dataFile(name: "L0_CONS_file.PDS") { revisions(first: 1) { totalCount } } }')
    assert found == {"dataFile": {"revisions": {"totalCount": 2}}}


def test_what_is_no_version_is_refused(archive: Service) -> None:
    for version in ('""', '"é"', f'"{"1" * 65}"', "1.0", "[]", "null"):
        query = f'{{ calibrations(filter: {{calibrates: "L0", version: {version}}}) {{ nodes {{ calibrates }} }} }}'
        assert set(archive.codes(query)) <= {"GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"}, version


# Writing


def test_bad_files_are_rejected_with_their_codes_and_places(tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [
        {"name": "a\nb"},
        {"name": "a", "checksum": "x"},
        {"name": "b", "metadata": [1]},
        {"name": "c", "additional": [{"identifier": "PDS", "attributes": "text"}]},
        {"name": "d", "metadata": {"x": 1e200}},
        {"name": "e", "applicableDates": ["2024-01-01"]},
        {"name": "fine", "archiveTime": "2024-01-01"},
    ]
    query = (
        "mutation($f: [DataFileInput!]!) { registerFiles(input: {files: $f}) { registered rejections { index code } } }"
    )
    with serving_files(tmp_path / "files.db") as service:
        payload = service.ask(query, {"f": bad})["registerFiles"]
        assert service.ask('{ dataFile(name: "fine") { archiveTime } }')["dataFile"] == {
            "archiveTime": "2024-01-01T00:00:00.000Z"
        }
        many = [{"name": str(number)} for number in range(1001)]
        assert service.codes(query, {"f": many}) == ["BAD_USER_INPUT"]
        assert service.ask('{ dataFile(name: "1") { id } }') == {"dataFile": None}
    assert payload["registered"] == 1
    codes = {each["index"]: each["code"] for each in payload["rejections"]}
    assert codes == {
        0: "NAME_INVALID",
        1: "CHECKSUM_INVALID",
        **dict.fromkeys((2, 3, 4), "METADATA_INVALID"),
        5: "FILE_INVALID",
    }


# All fields

WITHOUT = schema_of(tuple(domain for domain in DOMAINS if "data_files" not in (domain.name, *domain.needs))).graphql
ROOTS = {
    "dataFile": '(name: "L0_CONS_file.PDS")',
    "dataFiles": '(first: 2, filter: {startDate: "2024-01-01", version: LATEST})',
    "calibrations": '(filter: {calibrates: "L0", version: LATEST_MAJOR})',
    "run": f'(runId: "{RUN_ID}")',
    "affectedBy": '(calibration: "cal.nc", version: "1.0.0")',
}
"""Each root field that the domain adds, with its arguments."""


def test_all_fields_together_are_answered_alike(both: tuple[Service, Service]) -> None:
    """By compiled functions and by the execution. For any selection, it is a rule of the compiled functions."""
    assert schema.query_type is not None
    assert WITHOUT.query_type is not None
    assert schema.query_type.fields.keys() - WITHOUT.query_type.fields.keys() == ROOTS.keys()
    lineage = f"lineage(direction: BOTH, depth: 3) {selection(schema.type_map['Lineage'], 3)}"
    texts = {root: selection(schema.query_type.fields[root].type, 3) for root in ROOTS}
    for root, text in [*texts.items(), ("dataFile", f"{{ {lineage} }}")]:
        compiled, plain = (service.ask(f"{{ {root}{ROOTS[root]} {text} }}") for service in both)
        assert compiled == plain, root
        assert compiled[root]
