"""`quakegraph ingest` and `reconcile` from USGS: what it is asked for, what is printed, and what is refused before."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.domains.earthquakes.usgs.usgs_history import BEGINNING, DAY_MS, Life, UsgsHistory, Version
from tests.domains.earthquakes.usgs.usgs_server import FDSN_COUNT, FDSN_QUERY, UsgsServer, status, week_features
from tests.processes import quakegraph

pytestmark = pytest.mark.usefixtures("folder")

ONE_SOURCE = "Give one of FILE..., --recent, --feed, or --from, --to and --updated-since."


@pytest.mark.parametrize(
    ("options", "requested", "stored"),
    [
        ("--recent --min-magnitude 4.5", f"{FDSN_QUERY}?format=geojson&orderby=time&limit=100&minmagnitude=4.5", 81),
        ("--feed m2_5_week", "/earthquakes/feed/v1.0/summary/2.5_week.geojson?", 253),
        (
            "--from 2023-08-01 --to 2023-08-01",
            f"{FDSN_QUERY}?format=geojson&orderby=time&limit=20000"
            "&starttime=2023-08-01T00%3A00%3A00.000Z&endtime=2023-08-01T23%3A59%3A59.999Z",
            380,
        ),
        (
            "--from 2023-08-01T02:00:00+02:00 --to 2023-08-01 --updated-since 2023-08-02 --min-magnitude 1",
            f"{FDSN_QUERY}?format=geojson&orderby=time&limit=20000"
            "&starttime=2023-08-01T00%3A00%3A00.000Z&endtime=2023-08-01T23%3A59%3A59.999Z&minmagnitude=1.0"
            "&updatedafter=2023-08-02T00%3A00%3A00.000Z&includedeleted=true",
            194,
        ),
    ],
)
def test_the_options_become_a_request_to_usgs(usgs: UsgsServer, options: str, requested: str, stored: int) -> None:
    result = quakegraph("ingest", *options.split(), settings={"GRAPH_USGS_URL": usgs.url})

    conditions = requested.partition("&limit=20000&")[2]
    counted = [f"{FDSN_COUNT}?format=geojson&{conditions}"] if conditions else []  # of a window
    assert [f"{request.path}?{request.query}" for request in usgs.requests] == [*counted, requested]
    assert result.stdout == f"USGS: {stored:,} fetched, {stored:,} upserted, 0 revised, 0 skipped, 0 rejected\n"
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_failure_of_usgs_ends_with_one_line_or_an_object_and_status_1(usgs: UsgsServer) -> None:
    usgs.answer_next(status(429, retry_after="61"), status(404))
    told = quakegraph("ingest", "--recent", settings={"GRAPH_USGS_URL": usgs.url})
    as_json = quakegraph("ingest", "--recent", "--json", settings={"GRAPH_USGS_URL": usgs.url})

    assert (told.exit_code, as_json.exit_code) == (1, 1)
    assert told.stderr == "Error: USGS: USGS is overloaded (status 429): try again in 61 seconds, as it asks.\n"
    outcome = json.loads(as_json.stdout)
    assert (outcome["source"], outcome["fetched"], outcome["error"]["code"]) == ("USGS", 0, "INVALID_UPSTREAM_RESPONSE")
    assert as_json.stderr == ""


WRONG = [
    ("", ONE_SOURCE),
    ("--recent --feed ALL_DAY", ONE_SOURCE),
    ("--recent --from 2023-08-01", ONE_SOURCE),
    ("--feed ALL_DAY --to 2023-08-01", ONE_SOURCE),
    ("- --recent", ONE_SOURCE),
    ("- --updated-since 2023-08-01", ONE_SOURCE),
    ("--recent --updated-since 2023-08-01", ONE_SOURCE),
    ("- --min-magnitude 2", "--min-magnitude goes with --from, --to, --updated-since or --recent."),
    ("--feed ALL_DAY --min-magnitude 2", "--min-magnitude goes with --from, --to, --updated-since or --recent."),
    ("--recent --min-magnitude nan", "--min-magnitude must be a number."),
    ("--recent --min-magnitude -inf", "--min-magnitude must be a number."),
    ("--recent --min-magnitude big", "Invalid value for '--min-magnitude': 'big' is not a valid float."),
    ("--from 2023-08-03 --to 2023-08-01", "--from must not be later than --to."),
    *[
        (
            f"--from {time}",
            f"Invalid value for '--from': '{time}' is not a time: give a time of RFC 3339 with an offset, "
            "such as 2023-08-03T02:52:13.180Z, or a date, such as 2023-08-03.",
        )
        for time in (
            *("today", "2023-02-29", "1691118537000", "0001-01-01T00:00:00+14:00", "2023-W31-4", "20230803"),
            *("2023-08-01T12", "2023-08-01T12:00", "2023-08-01T12:00:00", "20230801T120000Z"),
        )
    ],
    (
        "--recent --store mysql://quakes",
        "--store: 'mysql://quakes' is not a store URL: write sqlite:///FILE, dynamodb:// or dynamodb://PREFIX.",
    ),
]


def test_a_wrong_argument_ends_with_one_line_and_sends_no_request(folder: Path, usgs: UsgsServer) -> None:
    for options, error in WRONG:
        assert_refused(folder, usgs, "ingest", options, error)
    unknown = quakegraph("ingest", "--feed", "M9_HOUR")
    assert unknown.exit_code == 2
    assert "'M9_HOUR' is not one of 'all_hour', 'all_day', " in unknown.stderr.splitlines()[-1]


def assert_refused(folder: Path, usgs: UsgsServer, command: str, options: str, error: str) -> None:
    """The command ends with one line, and has neither asked USGS nor made a file."""
    result = quakegraph(command, *options.split(), settings={"GRAPH_USGS_URL": usgs.url})

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"Error: {error}"
    assert (usgs.requests, list(folder.iterdir())) == ([], [])


DAY = ("--from", "2023-08-01", "--to", "2023-08-01")


@pytest.fixture
def history(usgs: UsgsServer) -> UsgsHistory:
    """A USGS with some events of that day, which the catalogue has as they are first."""
    features = [f for f in week_features() if f["properties"]["ids"].count(",") == 2 and DAY_MS > since(f) > 0][:5]
    history = UsgsHistory(0, events=0)
    history.now = BEGINNING + 9 * DAY_MS
    history.lives = [Life([Version(BEGINNING, feature)]) for feature in features]
    usgs.forget()
    usgs.stand_in(history.application)
    assert quakegraph("ingest", *DAY, settings={"GRAPH_USGS_URL": usgs.url}).exit_code == 0
    weaker, deleted, renamed, unknown, _ = history.lives
    revise(weaker, mag=0.5, place="Elsewhere")
    revise(deleted, status="deleted", time=BEGINNING)
    preferred = f"us{features[2]['id']}"
    revise(renamed, preferred, ids=f"{features[2]['properties']['ids']}{preferred},")
    history.lives.remove(unknown)
    return history


def since(feature: dict[str, Any]) -> int:
    """Milliseconds since the beginning of that day."""
    time: int = feature["properties"]["time"]
    return time - 1_690_848_000_000


def revise(life: Life, event_id: str | None = None, **properties: Any) -> None:
    feature = life.versions[0].feature
    values = {**feature["properties"], "updated": feature["properties"]["updated"] + 1, **properties}
    life.versions.append(Version(BEGINNING, {**feature, "id": event_id or feature["id"], "properties": values}))


def reconcile(usgs: UsgsServer, *options: str) -> Any:
    return quakegraph("reconcile", *DAY, *options, settings={"GRAPH_USGS_URL": usgs.url})


def test_differences_are_printed_for_people_or_as_json_and_removed(usgs: UsgsServer, history: UsgsHistory) -> None:
    planned = reconcile(usgs, "--dry-run")
    *objects, plan = [json.loads(line) for line in reconcile(usgs, "--dry-run", "--json").stdout.splitlines()]
    *differences, outcome = [json.loads(line) for line in reconcile(usgs, "--json").stdout.splitlines()]
    again = reconcile(usgs)

    assert (planned.exit_code, planned.stderr, again.exit_code, again.stderr) == (0, "", 0, "")
    *lines, last = planned.stdout.splitlines()
    summary = "5 events compared, 2 looked up: 1 deleted, 1 renamed, 1 revised, 1 unknown"
    assert last == f"Dry run, nothing was changed. {summary}"
    kinds = sorted(line.split(": ")[1] for line in lines)
    assert kinds == ["deleted", "not known to USGS; nothing is changed", "renamed", "revised"]
    (of_revised,) = [line for line in lines if ": revised: " in line]
    assert " → 0.5, place " in of_revised
    assert of_revised.endswith(" → Elsewhere")
    (of_renamed,) = [line for line in lines if ": renamed: " in line]
    event_id = of_renamed.split(": ")[0]
    assert of_renamed == f"{event_id}: renamed: preferredId {event_id} → us{event_id}"
    assert again.stdout.splitlines()[-1] == "4 events compared, 1 looked up: 1 unknown"

    assert sorted(map(str, objects)) == sorted(map(str, differences))
    assert {difference["kind"] for difference in differences} == {"DELETED", "RENAMED", "REVISED", "UNKNOWN"}
    (revised,) = [difference for difference in differences if difference["kind"] == "REVISED"]
    assert [(change["field"], change["after"]) for change in revised["changes"]] == [
        ("mag", 0.5),
        ("place", "Elsewhere"),
    ]
    assert outcome["differences"] == {"REVISED": 1, "RENAMED": 1, "DELETED": 1, "UNKNOWN": 1}
    assert (outcome["compared"], outcome["lookedUp"], outcome["dryRun"]) == (5, 2, False)
    assert (outcome["revised"], outcome["deleted"], outcome["fetched"]) == (3, 1, 4)
    assert (plan["dryRun"], plan["fetched"]) == (True, 0)


def test_a_failure_of_usgs_ends_a_comparison_with_one_line_or_an_object_and_status_1(
    usgs: UsgsServer, history: UsgsHistory
) -> None:
    usgs.answer_next(status(400), status(400))
    told, as_json = reconcile(usgs), reconcile(usgs, "--json")

    assert (told.exit_code, as_json.exit_code) == (1, 1)
    assert told.stderr.startswith("Error: USGS: USGS refused the request with status 400")
    assert told.stderr.endswith("Run the same command again to resume.\n")
    assert json.loads(as_json.stdout)["error"]["code"] == "INVALID_UPSTREAM_RESPONSE"


def test_a_wrong_argument_of_a_comparison_ends_with_one_line_and_sends_no_request(
    folder: Path, usgs: UsgsServer
) -> None:
    for options, error in (
        ("", "Missing option '--from'."),
        ("--from 2023-08-01", "Missing option '--to'."),
        ("--from 2023-08-03 --to 2023-08-01", "--from must not be later than --to."),
        ("--from 2023-08-01 --to 2023-08-03 --min-magnitude nan", "--min-magnitude must be a number."),
    ):
        assert_refused(folder, usgs, "reconcile", options, error)
