"""A window of any number of events: each arrives once, whatever USGS's limit and however they lie in time."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.ingest.backfill import PARTS_AT_ONCE, BackfillProgress
from graph.domains.earthquakes.ingest.backfill_marks import Window
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse, UpstreamUnavailable
from graph.domains.earthquakes.usgs.requests import EventQuery
from tests.domains.earthquakes.ingest.guarded import GuardedTransport
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    a_station,
    an_ingest,
    counts,
    events_in,
    file_of,
    logs_in,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.usgs.usgs_server import FDSN_COUNT, FDSN_QUERY, UsgsServer, cut_json, html, status
from tests.domains.entities import everything_in
from tests.held_time import HeldTime

T = TypeVar("T")

LIMIT = 5
START, END = NOW - 40 * DAY_MS, NOW
WINDOW = EventQuery(limit=20_000, start_ms=START, end_ms=END)


def features_at(*times: int, **properties: Any) -> list[dict[str, Any]]:
    return [a_feature(f"us{n}", time=time, **properties) for n, time in enumerate(times)]


def evenly(events: int) -> list[dict[str, Any]]:
    """So many events from the first to the last millisecond of the window."""
    return features_at(*[START + (END - START) * n // (events - 1) for n in range(events)])


# Every event once


@st.composite
def clustered_times(draw: st.DrawFn) -> list[int]:
    """Times within the window, many within a second and several on a millisecond, fewer than the limit on each."""
    times: list[int] = []
    for _ in range(draw(st.integers(0, 4))):
        centre = draw(st.integers(START, END) | st.sampled_from([START, END, (START + END) // 2]))
        width = draw(st.sampled_from([0, 1, 999, 3_600_000, 20 * DAY_MS]))
        offsets = draw(st.lists(st.integers(-width, width), max_size=25))
        times += [min(max(centre + offset, START), END) for offset in offsets]
    seen: Counter[int] = Counter()
    return [time for time in times if (seen.update([time]) or seen[time]) < LIMIT]


@A_FEW
@given(times=clustered_times(), cuts=st.booleans())
async def test_every_event_arrives_once_however_they_lie_in_time(
    usgs: UsgsServer, times: list[int], cuts: bool
) -> None:
    async with a_station("sqlite", usgs) as station:
        holdings = usgs.hold(features_at(*times), limit=LIMIT, cuts=cuts)

        report = await station.ingest.window(WINDOW)

        assert counts(report) == (len(times), len(times), 0, 0)
        assert sum(holdings.given) == len(times)
        assert max(holdings.given, default=0) < LIMIT
        assert holdings.refused == 0
        assert {event: item["eventTsMs"] for event, item in (await events_in(station.database)).items()} == {
            f"us{n}": time for n, time in enumerate(times)
        }
        assert await summaries_in(station.database) == await recounted(station.database)


# Requests


async def test_a_window_that_fits_is_one_count_and_one_query_and_leaves_no_marks(station: Station) -> None:
    station.usgs.hold(evenly(LIMIT - 1), limit=LIMIT)

    report = await station.ingest.window(WINDOW)

    assert [request.path for request in station.usgs.requests] == [FDSN_COUNT, FDSN_QUERY]
    assert counts(report) == (4, 4, 0, 0)
    assert len(report.upstream_hash or "") == 64
    expected = {"EVENT", "ARRIVAL", "SUMMARY", "FACETS", "LOG", "LOG_COUNT"}
    assert {item["entity"] for item in await everything_in(station.database)} == expected


async def test_open_ends_mean_thirty_days_ago_and_now(station: Station) -> None:
    station.usgs.hold(evenly(40), limit=LIMIT)

    since = await station.ingest.window(EventQuery(20_000, start_ms=NOW - 10 * DAY_MS))
    until = await station.ingest.window(EventQuery(20_000, end_ms=NOW - 10 * DAY_MS))

    assert counts(since) == (10, 10, 0, 0)
    assert counts(until) == (20, 20, 0, 0)
    # Only what USGS was first asked has an open end; the parts have two.
    assert [("starttime" in r.query and "endtime" in r.query) for r in station.usgs.requests].count(False) == 2


async def test_an_open_end_that_contradicts_the_local_clock_is_refused(station: Station, time: HeldTime) -> None:
    """A start 30 days before now lies behind the end, where this clock is 40 days ahead."""
    station.usgs.hold(evenly(40), limit=LIMIT)
    time.move(40 * 86_400)

    with pytest.raises(BadUserInput, match="Give both `startTime` and `endTime`"):
        await station.ingest.window(EventQuery(20_000, end_ms=NOW))

    assert await events_in(station.database) == {}


async def test_at_most_two_requests_are_in_progress(station: Station) -> None:
    under_way, seen = 0, set[int]()

    async def counting(name: str, about: Any, operation: Callable[[], Awaitable[T]]) -> T:
        nonlocal under_way
        under_way += 1
        seen.add(under_way)
        try:
            return await operation()
        finally:
            under_way -= 1

    station.usgs.hold(evenly(100), limit=LIMIT)
    async with httpx.AsyncClient(transport=GuardedTransport(counting)) as http:
        await an_ingest(station.database, http, station.usgs.url, station.pauses).window(WINDOW)

    assert max(seen) == PARTS_AT_ONCE == 2


async def test_a_part_without_events_is_counted_and_not_fetched(station: Station) -> None:
    """USGS answers 409 for a window whose events were all deleted."""
    holdings = station.usgs.hold(features_at(*range(START, START + 20)), limit=LIMIT, deleted=[END - 1])

    report = await station.ingest.window(WINDOW)

    assert counts(report) == (20, 20, 0, 0)
    assert 0 not in holdings.given


# A catalogue that grows


@pytest.mark.parametrize("cuts", [False, True], ids=["refuses", "cuts"])
async def test_events_that_come_between_count_and_query_are_fetched_too(station: Station, cuts: bool) -> None:
    """USGS refuses what has grown too large, or leaves out its oldest events: of the whole window, or of a part."""
    for held in (3, 12):
        features = [a_feature(f"us{held}-{n}", time=START + n) for n in range(held)]
        arriving = [a_feature(f"us{held}-{n}-{k}", time=START + n) for n in range(12) for k in range(3)]
        holdings = station.usgs.hold(features, limit=LIMIT, cuts=cuts)
        holdings.arriving.append(arriving)

        report = await station.ingest.window(WINDOW)

        assert counts(report) == (held + 36, held + 36, 0, 0)
        assert {feature["id"] for feature in features + arriving} <= (await events_in(station.database)).keys()
        assert (LIMIT in holdings.given, holdings.refused > 0) == (cuts, not cuts)


# Failures


async def test_a_millisecond_with_too_many_events_is_an_error(station: Station) -> None:
    station.usgs.hold(features_at(*[NOW - 1] * LIMIT), limit=LIMIT)

    with pytest.raises(InvalidUpstreamResponse) as refused:
        await station.ingest.window(WINDOW)

    assert str(refused.value) == (
        "USGS has too many events at 2023-08-04T03:08:56.999+00:00 to give them at once, and a millisecond cannot be "
        "split: raise `minMagnitude`."
    )
    assert await events_in(station.database) == {}
    (log,) = await logs_in(station.database)
    assert (log["error"], log["status"], log["fetched"]) == ("INVALID_UPSTREAM_RESPONSE", 502, 0)


async def test_an_outage_ends_the_ingest_after_the_parts_in_progress_and_all_retries_are_counted(
    station: Station,
) -> None:
    catalogue = station.usgs.catalogue
    station.usgs.hold(evenly(40), limit=LIMIT)
    station.usgs.answer_next(status(503), html(), cut_json(), *[catalogue] * 12, *[status(503)] * 8)
    told: list[tuple[IngestReport, BackfillProgress]] = []

    with pytest.raises(UpstreamUnavailable):
        await station.ingest.window(WINDOW, lambda *now: told.append(now))

    report, progress = told[-1]
    stored = await events_in(station.database)
    assert 0 < len(stored) < 40
    assert report.fetched == report.upserted == len(stored)
    assert progress.parts > 0
    (log,) = await logs_in(station.database)
    assert (log["error"], log["fetched"], log["retries"]) == ("UPSTREAM_UNAVAILABLE", len(stored), 3 + 3)
    assert len(station.usgs.requests) <= 3 + 12 + 2 * 4


async def test_all_parts_are_told_of_and_logged_together_with_the_size_of_all_bodies(station: Station) -> None:
    features = evenly(40)
    features[3]["properties"]["mag"] = features[33]["properties"]["mag"] = None
    await station.ingest.file(file_of(features[10:20]))
    station.usgs.hold(features, limit=LIMIT)
    told: list[tuple[int | None, int, int]] = []

    report = await station.ingest.window(
        WINDOW, lambda report, now: told.append((now.to_fetch, report.fetched, now.parts))
    )

    assert counts(report) == (40, 28, 10, 2)
    assert sorted(rejection.event_id or "" for rejection in report.rejections) == ["us3", "us33"]
    assert len(await events_in(station.database)) == 38
    assert told[:2] == [(None, 0, 0), (40, 0, 0)]
    assert (told[-1][0], told[-1][1]) == (40, 40)
    assert [fetched for _, fetched, _ in told] == sorted(fetched for _, fetched, _ in told)
    (log,) = [log for log in await logs_in(station.database) if log["route"] == "/ingest/recent"]
    assert (log["requestId"], log["fetched"], log["upserted"]) == (report.request_id, 40, 28)
    assert log["upstreamSize"] == report.upstream_size
    assert (report.upstream_size or 0) > 40 * 100
    assert (report.upstream_hash, "upstreamHash" in log) == (None, False)


# Windows

SPAN = 12


@st.composite
def windows(draw: st.DrawFn) -> Window:
    start_ms = draw(st.integers(-SPAN, SPAN))
    return Window(start_ms, draw(st.integers(start_ms, SPAN)))


def milliseconds(*windows: Window) -> list[int]:
    return [ms for window in windows for ms in range(window.start_ms, window.end_ms + 1)]


@given(window=windows())
def test_the_halves_of_a_window_are_the_window(window: Window) -> None:
    halves = window.halves()

    assert len(halves) == (0 if window.start_ms == window.end_ms else 2)
    if halves:
        assert milliseconds(*halves) == milliseconds(window)
        assert all(len(milliseconds(half)) < len(milliseconds(window)) for half in halves)


@given(window=windows(), others=st.lists(windows(), max_size=5))
def test_a_window_without_others_has_each_remaining_millisecond_once(window: Window, others: list[Window]) -> None:
    left = window.without(others)

    assert milliseconds(*left) == sorted(set(milliseconds(window)) - set(milliseconds(*others)))
