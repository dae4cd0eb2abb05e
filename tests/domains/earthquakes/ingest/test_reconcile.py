"""Reconciling: what USGS says of each event is what the catalogue has afterwards, and silence is no deletion."""

from collections import Counter
from typing import Any

import pytest

from graph.domains.earthquakes.entities import BACKFILL_PART, EVENT
from graph.domains.earthquakes.ingest.backfill_marks import Window
from graph.domains.earthquakes.ingest.reconcile import LOOK_UPS_A_MINUTE, Difference, LookUpPace, ReconcileReport
from graph.domains.earthquakes.model import Event, is_listed
from graph.domains.earthquakes.usgs.errors import UpstreamUnavailable
from graph.domains.earthquakes.usgs.requests import EventQuery
from tests.domains.earthquakes.ingest.ingests import NOW, Station, a_feature, a_reconciler, file_of, logs_in
from tests.domains.earthquakes.ingest.truth import assert_it_is_the_truth
from tests.domains.earthquakes.usgs.usgs_history import BEGINNING, DAY_MS, Life, UsgsHistory, Version
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, status
from tests.domains.entities import everything_in

WINDOW = EventQuery(20_000, NOW - DAY_MS, NOW, 3.0, include_deleted=True)
YESTERDAY = NOW - DAY_MS // 2


@pytest.fixture
def history(station: Station) -> UsgsHistory:
    """A USGS without events, at the time at which every ingest runs."""
    return stood_in(station.usgs)


def stood_in(usgs: UsgsServer) -> UsgsHistory:
    history = UsgsHistory(0, events=0)
    history.now = NOW
    usgs.stand_in(history.application)
    return history


async def reconciled(
    station: Station, query: EventQuery = WINDOW, *, dry_run: bool = False
) -> tuple[ReconcileReport, list[Difference]]:
    found: list[Difference] = []
    reconciler = a_reconciler(station.database, station.ingest, station.usgs, station.http, station.clock)
    report = await reconciler.reconcile(query, dry_run=dry_run, found=found.append)
    return report, sorted(found, key=lambda difference: difference.event_id)


def stored(event_id: str, **properties: Any) -> dict[str, Any]:
    """An event as it is stored at first."""
    return a_feature(event_id, **{"time": YESTERDAY, "updated": YESTERDAY, "ids": f",{event_id},", **properties})


def changed(event_id: str, **properties: Any) -> dict[str, Any]:
    """The same event as USGS has it now."""
    return stored(event_id, **{"status": "reviewed", "updated": YESTERDAY + 1, "net": event_id[:2], **properties})


def lives_of(*features: dict[str, Any]) -> list[Life]:
    return [Life([Version(BEGINNING, feature)]) for feature in features]


async def listed_in(station: Station) -> dict[str, Event]:
    """The events of the catalogue by the id that USGS prefers."""
    events = [Event(item) async for item in station.database.scan(EVENT) if is_listed(item)]
    return {event.preferred_id: event for event in events}


async def test_each_answer_of_usgs_is_applied_and_silence_is_not(any_station: Station) -> None:
    station, history = any_station, stood_in(any_station.usgs)
    before = ("same", "gone", "weak", "late", "name", "twin", "dupe", "lost", "else", "took")
    split = stored("ussplit", ids=",ussplit,ncsplit,")
    await station.ingest.file(file_of([split, *(stored(f"us{name}") for name in before)]))
    own = {"event_ts_ms": YESTERDAY, "mag": 4.5, "place": None, "lat": 1.0, "lon": 1.0, "depth": None}
    given = {**dict.fromkeys(("status", "ids", "updated")), **own}
    await station.ingest.events([{**given, "event_id": "my1", "source": "MINE"}])  # which USGS is not asked for
    history.known_as = {"ustook": "usnear"}
    history.lives = lives_of(
        stored("ussame"),
        changed("usgone", time=YESTERDAY - 3 * DAY_MS, status="deleted", mag=None),
        changed("usweak", mag=2.9),
        changed("uslate", time=YESTERDAY + 2 * DAY_MS),
        changed("ncname", ids=",usname,ncname,"),
        changed("ustwin", ids=",ustwin,usdupe,"),
        changed("usnew"),
        changed("usother", ids=",usother,"),
        changed("usnear", time=NOW - 9 * DAY_MS),
        changed("ncsplit"),  # which is an event of its own now
        changed("ussplit", status="deleted", time=NOW - 9 * DAY_MS),
    )

    report, found = await reconciled(station)

    assert [(difference.event_id, difference.kind, difference.now) for difference in found] == [
        ("ncsplit", "created", None),
        ("usdupe", "revised", None),
        ("uselse", "unknown", None),
        ("usgone", "deleted", None),
        ("uslate", "revised", None),
        ("uslost", "unknown", None),
        ("usname", "revised", None),
        ("usnew", "created", None),
        ("usother", "created", None),
        ("ussplit", "deleted", None),
        ("ustook", "other", "usnear"),
        ("ustwin", "merged", "usdupe"),
        ("usweak", "revised", None),
    ]
    by_id = {difference.event_id: difference for difference in found}
    assert by_id["usweak"].changes == {"mag": (4.5, 2.9), "status": (None, "reviewed")}
    assert by_id["usname"].changes == {"status": (None, "reviewed"), "preferredId": ("usname", "ncname")}
    assert report.compared == 11
    assert report.looked_up == 7
    ours = await listed_in(station)
    names = {f"us{name}" for name in ("same", "weak", "late", "twin", "new", "other", "lost", "else", "took")}
    assert ours.keys() == names | {"ncname", "ncsplit", "my1"}
    assert (ours["uslate"].event_ts_ms, ours["usweak"].mag) == (YESTERDAY + 2 * DAY_MS, 2.9)
    (log,) = [log for log in await logs_in(station.database) if log["route"] == "/ingest/reconcile"]
    counts = report.ingest
    assert counts.fetched == counts.upserted + counts.revised + counts.skipped + counts.rejected
    assert (log["status"], log["fetched"], log["revised"]) == (200, counts.fetched, counts.revised)


@pytest.mark.parametrize("names", [("us1", "us2"), ("us2", "us1")], ids=["older", "younger"])
async def test_events_that_usgs_merged_without_a_later_product_are_merged(
    station: Station, history: UsgsHistory, names: tuple[str, str]
) -> None:
    kept, gone = names
    later = YESTERDAY + 1000
    await station.ingest.file(file_of([stored(kept, updated=later), stored(gone, mag=4.6)]))
    history.lives = lives_of(stored(kept, updated=later, ids=f",{kept},{gone},"))

    _, found = await reconciled(station)

    assert "merged" in [difference.kind for difference in found]
    assert {(event.preferred_id, event.mag) for event in (await listed_in(station)).values()} == {(kept, 4.5)}
    assert (await reconciled(station))[1] == []


async def test_a_dry_run_finds_the_same_and_writes_nothing_and_a_second_run_what_usgs_does_not_know(
    station: Station, history: UsgsHistory
) -> None:
    await station.ingest.file(file_of([stored("us1"), stored("us2"), stored("us3")]))
    history.lives = lives_of(changed("us1", mag=5.0), changed("us2", status="deleted", time=NOW - 9 * DAY_MS))
    before = await everything_in(station.database)

    report, found = await reconciled(station, dry_run=True)

    assert await everything_in(station.database) == before
    assert report.ingest.fetched == 0
    assert [difference.kind for difference in found] == ["revised", "deleted", "unknown"]
    assert (await reconciled(station))[1] == found
    report, second = await reconciled(station)
    assert second == [Difference("us3", "unknown")]
    assert (report.compared, report.looked_up, report.ingest.revised) == (2, 1, 0)


async def test_any_window_of_any_history_becomes_what_usgs_has(station: Station) -> None:
    """The catalogue was filled in the midst of the history, and nobody polled since."""
    history = UsgsHistory(3, limit=25)
    station.usgs.stand_in(history.application)
    for part in (2, 3):
        history.now = history.moments[len(history.moments) // part]
        await station.ingest.window(EventQuery(20_000, BEGINNING - DAY_MS, NOW))
    history.now = history.end
    query = EventQuery(20_000, BEGINNING - DAY_MS, NOW, include_deleted=True)

    planned, _ = await reconciled(station, query, dry_run=True)
    report, _ = await reconciled(station, query)

    await assert_it_is_the_truth(station.database, until(history, NOW))
    assert report.differences == planned.differences
    assert {"created", "revised", "deleted"} <= report.differences.keys()
    assert (await reconciled(station, query))[0].differences == Counter()


def until(history: UsgsHistory, last: int) -> UsgsHistory:
    """The history of the events up to an origin time."""
    history.lives = [
        life for life in history.lives if all(v.feature["properties"]["time"] <= last for v in life.versions)
    ]
    return history


# Interruptions and politeness


@pytest.mark.parametrize("answers", [5, 9, 13])
async def test_an_interrupted_run_goes_on_where_it_was(station: Station, history: UsgsHistory, answers: int) -> None:
    """The finished parts are neither fetched nor looked up again."""
    features = [stored(f"us{number}", time=NOW - number * 3_600_000) for number in range(20)]
    await station.ingest.file(file_of(features))
    history.limit = 8
    gone_by = {"status": "deleted", "updated": NOW, "time": NOW - 90 * DAY_MS}
    deleted = [stored(f"us{number}", **gone_by) for number in range(10, 20)]
    history.lives = lives_of(*features[:10], *deleted)
    station.usgs.answer_next(*[station.usgs.catalogue] * answers, *[status(503)] * 50)
    with pytest.raises(UpstreamUnavailable):
        await reconciled(station)
    station.usgs.forget_answers()
    done = [Window(mark["startMs"], mark["endMs"]) async for mark in station.database.scan(BACKFILL_PART)]
    gone = {f["id"] for f in deleted} - (await listed_in(station)).keys()
    station.usgs.requests.clear()

    report, _ = await reconciled(station)

    assert (await listed_in(station)).keys() == {f["id"] for f in features[:10]}
    assert report.looked_up == 10 - len(gone)
    asked = [Window(*request.window) for request in station.usgs.requests if "starttime" in request.query][1:]
    assert [window for window in asked if window.without(done) != [window]] == []


async def test_look_ups_are_spread_over_time_and_bounded(station: Station, history: UsgsHistory) -> None:
    await station.ingest.file(file_of(stored(f"us{number}") for number in range(30)))
    now, pauses = [0.0], list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    pace = LookUpPace(at_once=5, sleep=sleep, clock=lambda: now[0])
    at_pace = a_reconciler(station.database, station.ingest, station.usgs, station.http, station.clock, lambda: pace)
    report = await at_pace.reconcile(WINDOW)

    assert report.looked_up == 30
    asked = [request for request in station.usgs.requests if "eventid" in request.query]
    assert len(asked) == 30
    assert now[0] == pytest.approx(25 * 60 / LOOK_UPS_A_MINUTE)
