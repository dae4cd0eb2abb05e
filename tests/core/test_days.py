"""UTC days as text: every millisecond of the calendar has one, and their order is the order of time."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import (
    DAY_MS,
    FIRST_MS,
    LAST_MS,
    bucket_of,
    date_of,
    datetime_of,
    day_bucket,
    day_span,
    days_between,
)

times = st.integers(FIRST_MS, LAST_MS)
DAYS = {
    FIRST_MS: "00010101",
    -1: "19691231",
    -DAY_MS: "19691231",
    -DAY_MS - 1: "19691230",
    0: "19700101",
    DAY_MS - 1: "19700101",
    DAY_MS: "19700102",
    951_782_400_000: "20000229",
    951_868_799_999: "20000229",
    951_868_800_000: "20000301",
    1_609_459_199_999: "20201231",
    1_609_459_200_000: "20210101",
    LAST_MS: "99991231",
}


def test_a_millisecond_lies_in_its_utc_day() -> None:
    assert {time_ms: day_bucket(time_ms) for time_ms in DAYS} == DAYS
    for beyond in (FIRST_MS - 1, LAST_MS + 1):
        with pytest.raises(ValueError, match=r"ordinal|year"):
            day_bucket(beyond)


@given(time_ms=times)
def test_a_day_spans_just_the_milliseconds_that_lie_in_it(time_ms: int) -> None:
    bucket = day_bucket(time_ms)
    first, last = day_span(bucket)
    assert first <= time_ms <= last
    assert last - first == DAY_MS - 1
    assert day_bucket(first) == day_bucket(last) == bucket
    assert bucket_of(date_of(bucket)) == bucket
    assert bucket == f"{datetime_of(time_ms).date():%Y%m%d}".rjust(8, "0")  # so their order is that of time


@given(time_ms=times)
def test_a_time_is_exact_to_the_millisecond(time_ms: int) -> None:
    time = datetime_of(time_ms)
    assert time.tzinfo is UTC
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    assert (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000 == time_ms
    assert time.microsecond % 1000 == 0


def test_days_between_two_include_both_and_leap_days() -> None:
    assert [bucket_of(day) for day in days_between(date(2020, 2, 28), date(2020, 3, 1))] == [
        "20200228",
        "20200229",
        "20200301",
    ]
    assert list(days_between(date(2020, 2, 28), date(2020, 2, 28))) == [date(2020, 2, 28)]
    assert list(days_between(date(2020, 2, 28), date(2020, 2, 27))) == []
