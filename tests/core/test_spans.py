"""A span of time holds each of its days once: in a whole year, as a whole day, or as a day that is cut."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS, bucket_of, date_of, day_bucket, day_span
from graph.core.spans import TimeSpan

EMPTY = TimeSpan.of(1, 0)
times = st.integers(-800, 1200).flatmap(
    lambda day: st.sampled_from((0, 1, DAY_MS // 2, DAY_MS - 1)).map(lambda ms: day * DAY_MS + ms)
)


def at(text: str) -> int:
    """The beginning of a day, `YYYYMMDD`, in epoch milliseconds."""
    return day_span(text)[0]


def test_the_days_that_lie_only_partly_within_are_cut() -> None:
    for first_ms, last_ms, span in (
        (at("20230803"), at("20230805") - 1, TimeSpan("20230803", "20230804")),
        (at("20230803") + 1, at("20230805"), TimeSpan("20230803", "20230805", ("20230803", "20230805"))),
        (at("20230803") + 5, at("20230803") + 5, TimeSpan("20230803", "20230803", ("20230803",))),
        (-1, 0, TimeSpan("19691231", "19700101", ("19691231", "19700101"))),
        (FIRST_MS, LAST_MS, TimeSpan("00010101", "99991231")),
    ):
        assert TimeSpan.of(first_ms, last_ms) == span
        assert not span.is_empty


def test_an_empty_span_holds_nothing() -> None:
    for forward in (True, False):
        for span in (EMPTY, EMPTY.starting_on("20230803", forward=forward)):
            assert span.is_empty
            assert list(span.years({"0001": 1, "2023": 2, "9999": 3}, forward=forward)) == []
            assert list(span.days(forward=forward)) == []


@given(times, times, st.booleans())
def test_years_and_days_hold_each_day_of_the_span_once(one: int, other: int, forward: bool) -> None:
    first_ms, last_ms = sorted((one, other))
    span = TimeSpan.of(first_ms, last_ms)
    every = [
        bucket_of(date_of(day_bucket(first_ms)) + timedelta(days=days))
        for days in range((date_of(day_bucket(last_ms)) - date_of(day_bucket(first_ms))).days + 1)
    ]
    years = {f"{year:04}": year for year in range(int(every[0][:4]) - 1, int(every[-1][:4]) + 2)}

    whole, cut = list[str](), list[str]()
    for part in span.years(years, forward=forward):
        assert part.value == years[part.year]
        days = [bucket_of(date(part.value, 1, 1) + timedelta(days=n)) for n in range(366)]
        within = [
            day for day in days if day[:4] == part.year and part.first <= day <= part.last and day not in part.cut
        ]
        assert part.days == len(within) + len(part.cut)
        if part.is_whole:
            assert len(within) in (365, 366)
        whole += within if forward else within[::-1]
        cut += part.cut

    assert sorted(whole + cut) == every
    assert whole == sorted(whole, reverse=not forward)
    assert all(day_span(day)[0] >= first_ms and day_span(day)[1] <= last_ms for day in whole)
    assert all(day_span(day)[0] < first_ms or day_span(day)[1] > last_ms for day in cut)
    assert list(span.days(forward=forward)) == (every if forward else every[::-1])


@given(times, times, times, st.booleans())
def test_the_rest_of_a_span_begins_on_a_day(one: int, other: int, start_ms: int, forward: bool) -> None:
    span, start = TimeSpan.of(*sorted((one, other))), day_bucket(start_ms)
    every = list(span.days(forward=forward))

    rest = list(span.starting_on(start, forward=forward).days(forward=forward))

    assert rest == [day for day in every if (day >= start if forward else day <= start)]
    assert span.starting_on(None, forward=forward) is span


def test_years_without_a_summary_are_skipped() -> None:
    span = TimeSpan.of(at("20200601"), at("20240101") - 1)

    parts = list(span.years({"2019": "a", "2020": "b", "2023": "c", "2024": "d"}, forward=False))

    assert [(part.year, part.value, part.first, part.last, part.is_whole) for part in parts] == [
        ("2023", "c", "20230101", "20231231", True),
        ("2020", "b", "20200601", "20201231", False),
    ]
