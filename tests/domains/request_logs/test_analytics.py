"""What is asked most: which logs are counted, how they are grouped, and in which order they come."""

from datetime import date

import pytest

from graph.core.days import DAY_MS
from graph.core.errors import BadUserInput
from graph.domains.request_logs.analytics import PopularFilter, popular_filters
from graph.domains.request_logs.model import LogType, RequestLog
from tests.domains.request_logs.builders import MIDNIGHT, NOW, TODAY, a_log, stored_logs


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
        a_log(NOW, 8, log_type=LogType.INGEST, route="/ingest/recent"),
        a_log(NOW, 9, log_type=LogType.INGEST),
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
