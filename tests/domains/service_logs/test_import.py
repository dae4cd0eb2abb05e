"""`quakegraph logs import`: what is stored, the lines or JSON about it, the progress bar, the exit status."""

import json
from pathlib import Path

import pytest

from tests.domains.service_logs.lines import KEPT, a_line, a_record, a_request, imported, logs, ndjson, stored
from tests.forking import assert_progress, on_a_terminal

pytestmark = pytest.mark.usefixtures("folder")


def test_a_file_is_imported_once() -> None:
    lines = [a_line("one"), a_line("one"), a_line("two", level="warn", type="audit", user="ann")]
    Path("some.ndjson").write_bytes(ndjson(*lines))

    first = logs("import", "some.ndjson")
    again = logs("import", "some.ndjson")

    assert (first.exit_code, first.stdout) == (0, "some.ndjson: 3 read, 3 accepted, 0 skipped, 0 rejected\n")
    assert (again.exit_code, again.stdout) == (0, "some.ndjson: 3 read, 0 accepted, 3 skipped, 0 rejected\n")
    assert [(log["message"], log["level"], log["type"], log.get("metadata")) for log in stored()] == [
        ("one", "INFO", "APPLICATION", None),
        ("one", "INFO", "APPLICATION", None),
        ("two", "WARN", "AUDIT", {"user": "ann"}),
    ]


def test_equal_logs_of_a_file_are_kept_and_one_that_has_grown_is_imported_from_where_it_has_grown() -> None:
    lines = [a_line("Tick"), *[a_line(str(number % 700)) for number in range(1100)], a_line("Tick"), a_line("Tick")]

    assert imported(*lines) == "-: 1,103 read, 1,103 accepted, 0 skipped, 0 rejected"
    assert imported(*lines, *lines[:5]) == "-: 1,108 read, 5 accepted, 1,103 skipped, 0 rejected"


def test_requests_of_otlp_json_are_imported_once() -> None:
    records = [a_record(f"one-{number}", severityText="WARN") for number in range(1200)]
    untimed = {"body": {"stringValue": "never"}}
    lines = [a_request(*records), a_request(a_record("two", traceId="AB" * 16), untimed, service="search")]
    Path("logs.json").write_bytes(ndjson(*lines))

    first = logs("import", "logs.json")
    again = logs("import", "logs.json")

    assert first.stdout.splitlines() == [
        "logs.json: 1,202 read, 1,201 accepted, 0 skipped, 1 rejected",
        "  line 2: TIME_INVALID: The time must lie between the years 1970 and 2262.",
    ]
    assert again.stdout.splitlines()[0] == "logs.json: 1,202 read, 0 accepted, 1,201 skipped, 1 rejected"
    assert [log["message"] for log in stored("--level", "WARN")] == [f"one-{number}" for number in range(1200)]
    assert [log["traceId"] for log in stored("--service", "search")] == ["ab" * 16]


def test_rejections_of_any_batch_have_the_numbers_of_their_lines() -> None:
    lines = [a_line(str(number)) for number in range(2100)]
    for broken in (7, 1500, 1501, 2090, 2091, 2092):
        lines[broken - 1]["level"] = ["LOUD"]

    said = logs("import", "-", stdin=ndjson(*lines)).stdout.splitlines()

    assert said[0] == "-: 2,100 read, 2,094 accepted, 0 skipped, 6 rejected"
    assert [line.split(":")[0] for line in said[1:6]] == [f"  line {n}" for n in (7, 1500, 1501, 2090, 2091)]
    assert said[6:] == ["  and 1 more"]


def test_the_exit_status_is_1_if_nothing_of_a_file_could_be_used() -> None:
    Path("good").write_bytes(ndjson(a_line("good")))
    for content, exit_code in (
        (ndjson(a_line()), 0),
        (ndjson(a_line(), b"Dear reader,"), 0),
        (b"", 0),
        (b"Dear reader,", 1),
        (ndjson(a_line(level=["LOUD"]), a_line(timestamp=None)), 1),
    ):
        Path("some").write_bytes(content)
        assert logs("import", "some", "good").exit_code == exit_code


def test_json_is_an_object_a_file() -> None:
    Path("one").write_bytes(ndjson(a_line(), b"{}", a_line()))
    Path("two").write_bytes(ndjson(a_line()))

    one, two = map(json.loads, logs("import", "--json", "one", "two").stdout.splitlines())

    assert one == {
        "source": "one",
        "read": 3,
        "accepted": 2,
        "skipped": 0,
        "rejected": 1,
        "rejections": [{"line": 2, "code": "SERVICE_INVALID", "message": "The log needs a text `service`."}],
    }
    assert two == {"source": "two", "read": 1, "accepted": 0, "skipped": 1, "rejected": 0, "rejections": []}


def test_what_tail_prints_can_be_imported_into_another_store() -> None:
    imported(a_line("one", traceId="a" * 32, eventName="paid", user="ann"), a_line("two", severityNumber=22))
    printed = logs("tail", "--no-follow", "--json").stdout

    copied = logs("import", "-", "--store", "sqlite:///other.db", stdin=printed.encode())

    assert copied.stdout == "-: 2 read, 2 accepted, 0 skipped, 0 rejected\n"
    assert logs("tail", "--no-follow", "--json", "--store", "sqlite:///other.db").stdout == printed


def test_a_terminal_is_shown_how_far_the_import_is(folder: Path) -> None:
    (folder / "some.ndjson").write_bytes(ndjson(*[a_line(str(number)) for number in range(3500)]))

    shown, output = on_a_terminal("logs", "import", "some.ndjson", folder=folder, settings=KEPT)

    assert output == "some.ndjson: 3,500 read, 3,500 accepted, 0 skipped, 0 rejected\n"
    assert_progress(shown, "some.ndjson")
