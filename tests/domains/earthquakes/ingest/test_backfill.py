"""A window of any number of events: each arrives once, whatever USGS's limit and however they lie in time."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.core.errors import BadUserInput, InvalidUpstreamResponse, UpstreamUnavailable
from graph.domains.earthquakes.ingest.backfill import PARTS_AT_ONCE, Progress
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.usgs.requests import EventQuery
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    a_station,
    an_ingest,
    counts,
    events_in,
    logs_in,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.usgs.usgs_server import FDSN_COUNT, FDSN_QUERY, UsgsServer, cut_json, html, status
from tests.domains.entities import everything_in

LIMIT = 5
START, END = NOW - 40 * DAY_MS, NOW
WINDOW = EventQuery(limit=20_000, start_ms=START, end_ms=END)


def features_at(*times: int, **properties: Any) -> list[dict[str, Any]]:
    return [a_feature(f"us{n}", time=time, **properties) for n, time in enumerate(times)]


def evenly(events: int) -> list[dict[str, Any]]:
    """So many events from the first to the last millisecond of the window."""
    return features_at(*[START + (END - START) * n // (events - 1) for n in range(events)])


def paths(usgs: UsgsServer) -> list[str]:
    return [request.path for request in usgs.requests]


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


async def test_events_outside_the_window_or_below_the_magnitude_are_not_fetched(station: Station) -> None:
    outside = [a_feature("us-before", time=START - 1), a_feature("us-after", time=END + 1)]
    weak = [a_feature(f"us-weak{n}", time=START + n, mag=4.4) for n in range(30)]
    holdings = station.usgs.hold([*outside, *weak, *evenly(30)], limit=LIMIT)

    report = await station.ingest.window(EventQuery(20_000, START, END, 4.5))

    assert counts(report) == (30, 30, 0, 0)
    assert sum(holdings.given) == 30


async def test_all_parts_together_count_each_event_once(station: Station) -> None:
    features = evenly(40)
    features[3]["properties"]["mag"] = features[33]["properties"]["mag"] = None
    station.usgs.hold(features[10:20])
    await station.ingest.window(WINDOW)
    station.usgs.hold(features, limit=LIMIT)

    report = await station.ingest.window(WINDOW)

    assert counts(report) == (40, 28, 10, 2)
    assert sorted(rejection.event_id or "" for rejection in report.rejections) == ["us3", "us33"]
    assert len(await events_in(station.database)) == 38


# Requests


async def test_a_window_that_fits_is_one_count_and_one_query_and_leaves_no_marks(station: Station) -> None:
    station.usgs.hold(evenly(LIMIT - 1), limit=LIMIT)

    report = await station.ingest.window(WINDOW)

    assert paths(station.usgs) == [FDSN_COUNT, FDSN_QUERY]
    assert counts(report) == (4, 4, 0, 0)
    assert len(report.upstream_hash or "") == 64
    expected = {"EVENT", "ARRIVAL", "SUMMARY", "FACETS", "LOG", "LOG_COUNT"}
    assert {item["entity"] for item in await everything_in(station.database)} == expected


async def test_a_requested_limit_below_that_of_usgs_is_kept(station: Station) -> None:
    holdings = station.usgs.hold(evenly(40))

    report = await station.ingest.window(EventQuery(LIMIT, START, END))

    assert counts(report) == (40, 40, 0, 0)
    assert max(holdings.given) < LIMIT


async def test_open_ends_mean_thirty_days_ago_and_now(station: Station) -> None:
    station.usgs.hold(evenly(40), limit=LIMIT)

    since = await station.ingest.window(EventQuery(20_000, start_ms=NOW - 10 * DAY_MS))
    until = await station.ingest.window(EventQuery(20_000, end_ms=NOW - 10 * DAY_MS))

    assert counts(since) == (10, 10, 0, 0)
    assert counts(until) == (20, 20, 0, 0)
    # Only what USGS was first asked has an open end; the parts have two.
    assert [("starttime" in r.query and "endtime" in r.query) for r in station.usgs.requests].count(False) == 2


async def test_an_open_end_that_contradicts_the_local_clock_is_refused(engine: str, usgs: UsgsServer) -> None:
    """A start 30 days before now lies behind the end, where this clock is 40 days ahead."""
    async with a_station(engine, usgs, lambda: NOW + 40 * DAY_MS) as station:
        usgs.hold(evenly(40), limit=LIMIT)

        with pytest.raises(BadUserInput, match="Give both `startTime` and `endTime`"):
            await station.ingest.window(EventQuery(20_000, end_ms=NOW))

        assert await events_in(station.database) == {}


class CountingTransport(httpx.AsyncHTTPTransport):
    """Keeps how many requests were under way at once, from their sending to the end of their answers."""

    def __init__(self) -> None:
        super().__init__()
        self.under_way = 0
        self.most = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        response = await super().handle_async_request(request)
        return httpx.Response(response.status_code, headers=response.headers, stream=Watched(response, self))


class Watched(httpx.AsyncByteStream):
    """The body of an answer, which ends when it is closed."""

    def __init__(self, response: httpx.Response, transport: CountingTransport) -> None:
        self._response = response
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.aiter_raw():
            yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()
        self._transport.under_way -= 1


@asynccontextmanager
async def counted(station: Station) -> AsyncIterator[tuple[Station, CountingTransport]]:
    """The station with its requests counted."""
    transport = CountingTransport()
    async with httpx.AsyncClient(transport=transport) as http:
        ingest = an_ingest(station.database, http, station.usgs.url, station.pauses)
        yield Station(station.database, station.usgs, ingest, http, station.clock, station.pauses), transport


async def test_at_most_two_requests_are_in_progress(station: Station) -> None:
    async with counted(station) as (station, transport):
        station.usgs.hold(evenly(100), limit=LIMIT)

        await station.ingest.window(WINDOW)

        assert (transport.most, transport.under_way) == (PARTS_AT_ONCE, 0)
        assert PARTS_AT_ONCE == 2


async def test_a_part_without_events_is_counted_and_not_fetched(station: Station) -> None:
    """USGS answers 409 for a window whose events were all deleted."""
    holdings = station.usgs.hold(features_at(*range(START, START + 20)), limit=LIMIT, deleted=[END - 1])

    report = await station.ingest.window(WINDOW)

    assert counts(report) == (20, 20, 0, 0)
    assert 0 not in holdings.given


# A catalogue that grows


@pytest.mark.parametrize("cuts", [False, True], ids=["refuses", "cuts"])
@pytest.mark.parametrize("held", [3, 12], ids=["whole", "part"])
async def test_events_that_come_between_count_and_query_are_fetched_too(
    station: Station, held: int, cuts: bool
) -> None:
    """USGS refuses what has grown too large, or leaves out its oldest events."""
    features = [a_feature(f"us{n}", time=START + n) for n in range(held)]
    arriving = [a_feature(f"us{n}-{k}", time=START + n) for n in range(12) for k in range(3)]
    holdings = station.usgs.hold(features, limit=LIMIT, cuts=cuts)
    holdings.arriving.append(arriving)

    report = await station.ingest.window(WINDOW)

    assert counts(report) == (held + 36, held + 36, 0, 0)
    assert (await events_in(station.database)).keys() == {feature["id"] for feature in features + arriving}
    assert (LIMIT in holdings.given, holdings.refused > 0) == (cuts, not cuts)


async def test_a_part_that_has_grown_to_the_limit_exactly_is_halved_as_well(station: Station) -> None:
    """Nothing tells an answer with as many events as USGS gives from one that was cut."""
    features = evenly(LIMIT)
    holdings = station.usgs.hold(features[:-1], limit=LIMIT)
    holdings.arriving.append(features[-1:])

    report = await station.ingest.window(WINDOW)

    assert counts(report) == (LIMIT, LIMIT, 0, 0)
    assert holdings.given[0] == LIMIT
    assert sum(holdings.given[1:]) == LIMIT


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


async def test_temporary_failures_of_counts_and_queries_are_retried_and_counted(station: Station) -> None:
    catalogue = station.usgs.catalogue
    station.usgs.hold(evenly(4), limit=LIMIT)
    station.usgs.answer_next(status(503), html(), catalogue, cut_json(), status(429, retry_after="7"))

    report = await station.ingest.window(WINDOW)

    assert counts(report) == (4, 4, 0, 0)
    assert report.retries == 4
    assert station.pauses[-1] == 7.0
    (log,) = await logs_in(station.database)
    assert (log["route"], log["status"], log["retries"], log["fetched"]) == ("/ingest/recent", 200, 4, 4)


async def test_an_outage_ends_the_ingest_after_the_parts_in_progress(station: Station) -> None:
    catalogue = station.usgs.catalogue
    station.usgs.hold(evenly(40), limit=LIMIT)
    station.usgs.answer_next(*[catalogue] * 12, *[status(503)] * 8)
    told: list[tuple[IngestReport, Progress]] = []

    with pytest.raises(UpstreamUnavailable):
        await station.ingest.window(WINDOW, lambda *now: told.append(now))

    report, progress = told[-1]
    stored = await events_in(station.database)
    assert 0 < len(stored) < 40
    assert report.fetched == report.upserted == len(stored)
    assert progress.parts > 0
    (log,) = await logs_in(station.database)
    assert (log["error"], log["fetched"], log["retries"]) == ("UPSTREAM_UNAVAILABLE", len(stored), 3)
    assert len(station.usgs.requests) <= 12 + 2 * 4


async def test_each_ingest_is_logged_once_with_the_size_of_all_bodies(station: Station) -> None:
    station.usgs.hold(evenly(40), limit=LIMIT)

    report = await station.ingest.window(WINDOW)

    (log,) = await logs_in(station.database)
    assert (log["requestId"], log["fetched"], log["upserted"]) == (report.request_id, 40, 40)
    assert log["upstreamSize"] == report.upstream_size
    assert (report.upstream_size or 0) > 40 * 100
    assert (report.upstream_hash, "upstreamHash" in log) == (None, False)


async def test_the_progress_begins_with_the_count_of_all_and_ends_with_all_fetched(station: Station) -> None:
    station.usgs.hold(evenly(40), limit=LIMIT)
    told: list[tuple[int | None, int, int]] = []

    await station.ingest.window(WINDOW, lambda report, now: told.append((now.to_fetch, report.fetched, now.parts)))

    assert told[:2] == [(None, 0, 0), (40, 0, 0)]
    assert (told[-1][0], told[-1][1]) == (40, 40)
    assert [fetched for _, fetched, _ in told] == sorted(fetched for _, fetched, _ in told)
