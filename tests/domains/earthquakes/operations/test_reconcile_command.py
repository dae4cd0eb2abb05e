"""`quakegraph reconcile`: what it prints, for people and as JSON, and what is refused before USGS is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.domains.earthquakes.operations.test_ingest_command_usgs import assert_refused
from tests.domains.earthquakes.usgs.usgs_history import BEGINNING, DAY_MS, Life, UsgsHistory, Version
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, status, week_features
from tests.processes import quakegraph

pytestmark = pytest.mark.usefixtures("folder")

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


def test_a_failure_of_usgs_ends_with_one_line_or_an_object_and_status_1(usgs: UsgsServer, history: UsgsHistory) -> None:
    usgs.answer_next(status(400), status(400))
    told, as_json = reconcile(usgs), reconcile(usgs, "--json")

    assert (told.exit_code, as_json.exit_code) == (1, 1)
    assert told.stderr.startswith("Error: USGS: USGS refused the request with status 400")
    assert told.stderr.endswith("Run the same command again to resume.\n")
    assert json.loads(as_json.stdout)["error"]["code"] == "INVALID_UPSTREAM_RESPONSE"


def test_a_wrong_argument_ends_with_one_line_and_sends_no_request(folder: Path, usgs: UsgsServer) -> None:
    for options, error in (
        ("", "Missing option '--from'."),
        ("--from 2023-08-01", "Missing option '--to'."),
        ("--from 2023-08-03 --to 2023-08-01", "--from must not be later than --to."),
        ("--from 2023-08-01 --to 2023-08-03 --min-magnitude nan", "--min-magnitude must be a number."),
    ):
        assert_refused(folder, usgs, "reconcile", options, error)
