"""Pages of the request logs over days, and days read whole. Every test runs on every engine."""

from datetime import date

import pytest
from strawberry.utils.await_maybe import await_maybe

from graph.core.days import DAY_MS
from graph.core.errors import BadUserInput
from graph.core.paging import Paging
from graph.domains.request_logs.access_patterns import RequestLogSelection
from graph.domains.request_logs.entities import LOG
from graph.domains.request_logs.model import LogType
from graph.store.conditions import Compare
from tests.domains.earthquakes.builders import at
from tests.domains.request_logs.builders import MIDNIGHT, NOW, a_log, stored_logs, uuid

ALL = RequestLogSelection()
LEAP_DAY = at("2024-02-29")
OLDEST = NOW - 7 * DAY_MS + 1000  # a log that is kept for a second more

HISTORY = [
    a_log(LEAP_DAY, 1, status=500, error="INTERNAL_SERVER_ERROR"),
    a_log(MIDNIGHT - 1, 2, log_type=LogType.INGEST, route="/ingest/recent", status=503),
    a_log(MIDNIGHT, 3, route="/node"),
    a_log(NOW, 4, log_type=LogType.INGEST, route="/ingest/events"),
    a_log(NOW, 5, status=400),
]


SELECTED = [
    (ALL, [5, 4, 3, 2, 1]),
    (RequestLogSelection(start_ms=MIDNIGHT), [5, 4, 3]),
    (RequestLogSelection(end_ms=MIDNIGHT - 1), [2, 1]),
    (RequestLogSelection(route="/earthquake"), []),
    (RequestLogSelection(route=""), []),
    (RequestLogSelection(log_type=LogType.INGEST), [4, 2]),
    (RequestLogSelection(min_status=400), [5, 2, 1]),
    (RequestLogSelection(MIDNIGHT - 1, NOW, min_status=400), [5, 2]),
    (RequestLogSelection(MIDNIGHT - 1, NOW, LogType.INGEST, "/ingest/recent", 503), [2]),
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
    RequestLogSelection(route="/" * 256)
    with pytest.raises(BadUserInput):
        RequestLogSelection(route="/" * 257)


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
        assert [log async for some in logs.of_days(day, day, None) for log in some] == inside[:2]
        assert [log async for some in logs.of_days(day, date(2024, 3, 1), None) for log in some] == inside
        assert [log async for some in logs.of_days(day, day, Compare("status", ">", 200)) for log in some] == []
        assert [log async for some in logs.of_days(date(2024, 3, 1), day, None) for log in some] == []
        if engine == "sqlite":
            many = [a_log(MIDNIGHT + number, number) for number in range(2001)]
            await logs.insert_many(many)
            found = [log async for some in logs.of_days(date(2024, 3, 2), date(2024, 3, 2), None) for log in some]
            assert found == sorted([*outside[1:], *many], key=lambda log: (log.timestamp, log.request_id))
