"""Pages of the request logs over days, and days read whole, on every engine; and what is asked most of them.

Each record is its item as documented.
"""

from datetime import date
from typing import Any

import pytest
from strawberry.utils.await_maybe import await_maybe

from graph.api.recording import RecordedWork
from graph.core.days import DAY_MS
from graph.core.errors import BadUserInput
from graph.core.paging import Paging
from graph.domains.request_logs.access_patterns import RequestLogSelection
from graph.domains.request_logs.analytics import PopularFilter, popular_filters
from graph.domains.request_logs.buffer import log_of
from graph.domains.request_logs.entities import LOG, key_of
from graph.domains.request_logs.model import RequestLog, RequestLogType
from graph.store.conditions import Compare
from tests.domains.earthquakes.builders import at
from tests.domains.entities import documented
from tests.domains.request_logs.builders import MIDNIGHT, NOW, TODAY, a_log, log_with, stored_logs, uuid

ALL = RequestLogSelection()
LEAP_DAY = at("2024-02-29")
OLDEST = NOW - 7 * DAY_MS + 1000  # a log that is kept for a second more

HISTORY = [
    a_log(LEAP_DAY, 1, status=500, error="INTERNAL_SERVER_ERROR"),
    a_log(MIDNIGHT - 1, 2, log_type=RequestLogType.INGEST, route="/ingest/recent", status=503),
    a_log(MIDNIGHT, 3, route="/node"),
    a_log(NOW, 4, log_type=RequestLogType.INGEST, route="/ingest/events"),
    a_log(NOW, 5, status=400),
]


SELECTED = [
    (ALL, [5, 4, 3, 2, 1]),
    (RequestLogSelection(start_ms=MIDNIGHT), [5, 4, 3]),
    (RequestLogSelection(end_ms=MIDNIGHT - 1), [2, 1]),
    (RequestLogSelection(routes=("/earthquake",)), []),
    (RequestLogSelection(routes=()), []),
    (RequestLogSelection(log_types=(RequestLogType.INGEST,)), [4, 2]),
    (RequestLogSelection(min_status=400), [5, 2, 1]),
    (RequestLogSelection(MIDNIGHT - 1, NOW, min_status=400), [5, 2]),
    (RequestLogSelection(MIDNIGHT - 1, NOW, tuple(RequestLogType), ("/ingest/recent", "/node"), 503), [2]),
    # Times with more or fewer digits than those of the logs
    (RequestLogSelection(start_ms=0), [5, 4, 3, 2, 1]),
    (RequestLogSelection(start_ms=-1), [5, 4, 3, 2, 1]),
    (RequestLogSelection(start_ms=at("2000-01-01")), [5, 4, 3, 2, 1]),
    (RequestLogSelection(end_ms=at("2300-01-01")), [5, 4, 3, 2, 1]),
    (RequestLogSelection(at("0001-01-01"), at("9999-12-31")), [5, 4, 3, 2, 1]),
    (RequestLogSelection(start_ms=at("2300-01-01")), []),
    (RequestLogSelection(end_ms=at("2000-01-01")), []),
    (RequestLogSelection(end_ms=-1), []),
]
"""Selection → the logs of `HISTORY` that it finds, newest first."""


async def test_a_selection_finds_what_it_says_page_by_page_in_both_directions(engine: str) -> None:
    async with stored_logs(engine, HISTORY) as logs:
        for selection, found in SELECTED:
            page = await logs.page(selection, Paging(10))
            assert [log.request_id for log in page.records] == [uuid(number) for number in found], selection
            for place, log in enumerate(page.records):
                after = await logs.page(selection, Paging(2, after=log.item))
                before = await logs.page(selection, Paging(2, backward=True, before=log.item))
                assert (after.records, after.has_next) == (page.records[place + 1 : place + 3], place + 3 < len(found))
                assert (before.records, before.has_previous) == (page.records[max(place - 2, 0) : place], place > 2)


def test_a_window_that_ends_before_it_begins_or_a_route_longer_than_any_is_refused() -> None:
    with pytest.raises(BadUserInput):
        RequestLogSelection(start_ms=2, end_ms=1)
    RequestLogSelection(routes=("/" * 256,) * 100)
    with pytest.raises(BadUserInput):
        RequestLogSelection(routes=("/", "/" * 257))


async def test_a_log_is_found_for_seven_days_and_no_longer(engine: str) -> None:
    expired, kept = a_log(NOW - 7 * DAY_MS, 1), a_log(OLDEST, 2)
    async with stored_logs(engine, [expired, kept]) as logs:
        assert (await logs.page(ALL, Paging(10))).records == [kept]
        assert (await logs.page(RequestLogSelection(start_ms=0), Paging(10))).records == [kept]
        assert await logs.at([LOG.key_of(each.item) for each in (expired, kept)]) == {LOG.key_of(kept.item): kept}


async def test_a_cursor_between_two_logs_divides_older_from_newer(engine: str) -> None:
    async with stored_logs(engine, HISTORY) as logs:
        for time_ms, newer in ((NOW + 1, 0), (MIDNIGHT + 1, 2), (MIDNIGHT - 2, 4), (LEAP_DAY - 1, 5), (0, 5)):
            nowhere = {"timestamp": time_ms, "requestId": "zz"}
            behind = await logs.page(ALL, Paging(10, after=nowhere))
            assert behind.records == HISTORY[::-1][newer:]
            assert (await await_maybe(behind.has_previous), await await_maybe(behind.has_next)) == (newer > 0, False)


async def test_days_are_read_whole_from_their_first_to_their_last_millisecond(engine: str) -> None:
    day = date(2024, 2, 29)
    inside = [a_log(LEAP_DAY, 1), a_log(LEAP_DAY + DAY_MS - 1, 2), a_log(LEAP_DAY + DAY_MS, 3)]
    outside = [a_log(LEAP_DAY - 1, 4), a_log(LEAP_DAY + 2 * DAY_MS, 5)]
    async with stored_logs(engine, [*inside, *outside]) as logs:
        assert [log async for some in logs.of_days(day, day, {}, None) for log in some] == inside[:2]
        assert [log async for some in logs.of_days(day, date(2024, 3, 1), {}, None) for log in some] == inside
        assert [log async for some in logs.of_days(day, day, {}, Compare("status", ">", 200)) for log in some] == []
        assert [log async for some in logs.of_days(date(2024, 3, 1), day, {}, None) for log in some] == []
        if engine == "sqlite":
            many = [a_log(MIDNIGHT + number, number) for number in range(2001)]
            await logs.insert_many(many)
            found = [log async for some in logs.of_days(date(2024, 3, 2), date(2024, 3, 2), {}, None) for log in some]
            assert found == sorted([*outside[1:], *many], key=lambda log: (log.timestamp, log.request_id))


def uses(times: int, first: int, **values: object) -> list[RequestLog]:
    """Some logs of one filter; `first` numbers them."""
    return [a_log(MIDNIGHT, first + number, **values) for number in range(times)]


WINDOWS = [
    (TODAY, 1, MIDNIGHT, MIDNIGHT + DAY_MS - 1),
    (TODAY, 7, MIDNIGHT - 6 * DAY_MS, MIDNIGHT + DAY_MS - 1),
    (date(2024, 2, 29), 1, MIDNIGHT - 2 * DAY_MS, MIDNIGHT - DAY_MS - 1),
    (date(2024, 3, 1), 3, MIDNIGHT - 3 * DAY_MS, MIDNIGHT - 1),
]


async def test_the_window_is_the_days_that_end_on_the_given_one() -> None:
    for day, window_days, first_ms, last_ms in WINDOWS:
        inside = [a_log(first_ms, 1, minmagnitude=1.0), a_log(last_ms, 2, minmagnitude=2.0)]
        outside = [a_log(first_ms - 1, 3, minmagnitude=3.0), a_log(last_ms + 1, 4, minmagnitude=4.0)]
        async with stored_logs("sqlite", [*inside, *outside]) as logs:
            found = await popular_filters(logs, day, window_days, 10)

        assert (found.window_end - found.window_start).days == window_days - 1
        assert found.window_end == day
        assert found.total_requests == 2
        assert sorted(each.minmagnitude or 0 for each in found.filters) == [1.0, 2.0]


async def test_filters_are_grouped_by_all_four_values_and_the_most_used_come_first() -> None:
    values = {"starttime": 1, "endtime": 2, "minmagnitude": 4.5, "page_size": 50}
    logs_of_filters = [
        *uses(1, 10, **values | {"starttime": None}),
        *uses(2, 20, **values | {"endtime": 3}),
        *uses(5, 30, **values | {"minmagnitude": None}),
        *uses(4, 40, **values | {"page_size": 20}),
        *uses(3, 50, **values),
    ]
    async with stored_logs("sqlite", logs_of_filters) as logs:
        found = await popular_filters(logs, TODAY, 1, 10)
        two = await popular_filters(logs, TODAY, 1, 2)

    assert found.total_requests == two.total_requests == 15
    assert two.filters == found.filters[:2]
    assert [(each.starttime, each.endtime, each.minmagnitude, each.page_size, each.hits) for each in found.filters] == [
        (1, 2, None, 50, 5),
        (1, 2, 4.5, 20, 4),
        (1, 2, 4.5, 50, 3),
        (1, 3, 4.5, 50, 2),
        (None, 2, 4.5, 50, 1),
    ]


async def test_hits_of_queries_of_the_catalogue_count_pages_with_a_next_page_and_their_mean_size(engine: str) -> None:
    of_one_filter = [
        a_log(NOW, 1, page_size=50, result_count=50, has_next_token=True, buckets_scanned=1),
        a_log(NOW, 2, page_size=50, result_count=50, has_next_token=True, buckets_scanned=1),
        a_log(NOW, 3, page_size=50, result_count=25, has_next_token=False, buckets_scanned=2),
        a_log(NOW, 4, page_size=50, status=503, error="DATABASE_UNAVAILABLE"),
    ]
    failed = [a_log(NOW, 5, page_size=-1, status=400, error="BAD_USER_INPUT")]
    others = [
        a_log(NOW, 6, route="/earthquakes/event"),
        a_log(NOW, 7, route="/analytics/popular-filters"),
        a_log(NOW, 8, log_type=RequestLogType.INGEST, route="/ingest/recent"),
        a_log(NOW, 9, log_type=RequestLogType.INGEST),
    ]
    async with stored_logs(engine, of_one_filter + failed + others) as logs:
        found = await popular_filters(logs, TODAY, 1, 10)

    assert found.total_requests == 5
    assert found.filters == [
        PopularFilter(None, None, None, 50, hits=4, has_next_token_count=2, avg_result_count=125 / 3),
        PopularFilter(None, None, None, -1, hits=1, has_next_token_count=0, avg_result_count=0.0),
    ]


async def test_equally_popular_filters_have_a_fixed_order() -> None:
    sizes, found = (7, 3, 9, 1, 5), []
    for numbers in (range(5), range(9, 4, -1)):
        ties = [a_log(MIDNIGHT, number, page_size=size) for number, size in zip(numbers, sizes, strict=True)]
        async with stored_logs("sqlite", ties) as logs:
            found.append(await popular_filters(logs, TODAY, 1, 3))
    assert found[0] == found[1]


async def test_a_window_or_limit_out_of_range_is_refused() -> None:
    async with stored_logs("sqlite", []) as logs:
        for day in (TODAY, date.max, date(1, 1, 7)):
            found = await popular_filters(logs, day, 7, 1)
            assert (found.total_requests, found.filters) == (0, [])
        for day, window_days, limit in (
            *((TODAY, 0, 10), (TODAY, 8, 10), (TODAY, -1, 10)),
            *((TODAY, 1, 0), (TODAY, 1, 101), (date(1, 1, 6), 7, 10)),
        ):
            with pytest.raises(BadUserInput):
                await popular_filters(logs, day, window_days, limit)


STARTED = at("2023-08-03T23:59:59.999")
REQUEST_ID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # pragma: allowlist secret

NAMES = {
    "log_type": "logType",
    "latency_ms": "latencyMs",
    "upstream_size": "upstreamSize",
    "upstream_hash": "upstreamHash",
    "page_size": "pageSize",
    "result_count": "resultCount",
    "has_next_token": "hasNextToken",
    "buckets_scanned": "bucketsScanned",
}
"""Attributes that the document names otherwise."""

COUNTS: dict[str, Any] = {"fetched": 4, "upserted": 2, "skipped": 1, "rejected": 1, "retries": 3}
FAILED: dict[str, Any] = {"route": "/ingest/recent", "status": 502, "error": "INVALID_UPSTREAM_RESPONSE"}
INGEST: dict[str, Any] = {
    "log_type": RequestLogType.INGEST,
    "latency_ms": 1200,
    "upstream_size": 5_000_000_000,
    "upstream_hash": HASH,
    **COUNTS,
    **FAILED,
}
QUERY: dict[str, Any] = {
    "log_type": RequestLogType.QUERY,
    "route": "/earthquakes",
    "status": 200,
    "latency_ms": 0,
    "starttime": -1,
    "endtime": STARTED,
    "minmagnitude": 4.5,
    "page_size": 50,
    "result_count": 0,
    "has_next_token": False,
    "buckets_scanned": 7,
}


NO_MORE: dict[str, Any] = {"log_type": RequestLogType.QUERY, "route": "/node", "status": 200, "latency_ms": 3}


@pytest.mark.parametrize("values", [INGEST, QUERY, NO_MORE], ids=["ingest", "query", "no more"])
def test_an_item_has_the_documented_attributes_and_is_read_as_the_log_that_was_written(values: dict[str, Any]) -> None:
    log = log_with(request_id=REQUEST_ID, timestamp=STARTED, **values)

    assert documented(LOG, log.item) == {
        "pk": "LOG#20230803",
        "sk": f"{STARTED}#{REQUEST_ID}",
        "entity": "LOG",
        "requestId": REQUEST_ID,
        "timestamp": STARTED,
        "ttl": at("2023-08-10T23:59:59") // 1000,
        **{NAMES.get(name, name): getattr(value, "value", value) for name, value in values.items()},
    }
    assert RequestLog(log.item) == log
    assert key_of(log.identity[1]) == LOG.key_of(log.item)


def test_a_number_that_no_item_can_hold_is_dropped() -> None:
    """It is what a client asked for, and must not keep the log from being written."""
    for number in (1e400, -1e400, 1e200, 1e-200):
        assert a_log(STARTED, minmagnitude=number) == a_log(STARTED)


def test_storable_facts_of_a_domain_are_kept_together() -> None:
    def facts_of(**facts: Any) -> RequestLog:
        of_request: dict[str, Any] = {"request_id": REQUEST_ID, "timestamp": STARTED, "route": "/node", "status": 200}
        return log_of(RecordedWork(writes=False, latency_ms=3, facts=facts, **of_request))

    for unstorable in (None, 1e200, float("nan"), 2**200, object(), {1, 2}):
        log = facts_of(page_size=50, station="GSC", strange=unstorable)
        assert (documented(LOG, log.item)["pageSize"], log.facts) == (50, {"station": "GSC"})
        assert facts_of(strange=unstorable) == facts_of()


def test_a_key_that_no_log_has_is_no_position() -> None:
    for key in ("", "#", "1#", "#a", "a#b", "-1#b", "1.0#b", "²#b", "١#b", "10000000000000#b", "1#" + 65 * "b"):
        assert key_of(key) is None, key
