"""Times as text: every time of RFC 3339 and every date is read, exactly, and nothing else is."""

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from string import printable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, EPOCH_TIME, FIRST_MS, LAST_MS, datetime_of
from graph.core.times import (
    InvalidTime,
    WholeDay,
    as_rfc3339,
    millis_ceil,
    millis_floor,
    parse_date,
    parse_time,
    rfc3339,
    rfc3339_of_millis,
    rfc3339_of_seconds,
    time_text,
)

# RFC 3339, section 5.6, and by section 5.7 what the calendar allows. Written apart from the parser's own.
GRAMMAR = re.compile(
    "(?P<day>[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]))"
    "([Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?"
)
offsets = st.integers(-24 * 60 + 1, 24 * 60 - 1).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(timezones=st.just(UTC))
texts = st.builds(
    lambda time, offset, separator, digits, z: written(time, offset, separator, digits, z),
    *(times, offsets, st.sampled_from("Tt "), st.text("0123456789", max_size=12), st.sampled_from("Zz+-")),
)


def written(time: datetime, offset: tzinfo, separator: str, digits: str, z: str) -> str:
    """A time as RFC 3339 allows it, in UTC or, for another sign, in an offset."""
    try:
        local = time if z in "Zz" else time.astimezone(offset)
    except OverflowError:
        assume(False)
    zone = z if z in "Zz" else local.isoformat()[-6:]
    return f"{local.replace(tzinfo=None).isoformat(separator, 'seconds')}{'.' + digits if digits else ''}{zone}"


def is_read(text: str) -> bool:
    try:
        parse_time(text)
    except InvalidTime:
        return False
    return True


@given(times, offsets, st.sampled_from("Tt "), st.sampled_from("Zz+-"))
def test_every_time_of_rfc_3339_is_read_as_what_was_written(
    time: datetime, offset: timezone, separator: str, z: str
) -> None:
    text = written(time, offset, separator, f"{time.microsecond:06}", z)

    assert parse_time(text) == time
    assert not isinstance(parse_time(text), WholeDay)


@given(times | st.dates().map(lambda day: parse_time(day.isoformat())), offsets)
def test_a_time_as_text_is_read_as_the_same_time(time: datetime, offset: timezone) -> None:
    try:
        local = time if isinstance(time, WholeDay) else time.astimezone(offset)
    except OverflowError:
        assume(False)

    parsed = parse_time(time_text(local))

    assert (parsed, millis_floor(parsed)) == (time, millis_floor(time))
    assert isinstance(parsed, WholeDay) == isinstance(time, WholeDay)


@given(times, st.text("0123456789", min_size=1, max_size=40))
def test_a_fraction_of_any_length_is_rounded_into_the_time_range(time: datetime, digits: str) -> None:
    second = time.replace(microsecond=0)
    parsed = parse_time(written(time, UTC, "T", digits, "Z"))

    whole, scale = int(digits), 10 ** len(digits)
    second_ms = (second - EPOCH_TIME) // timedelta(milliseconds=1)
    assert millis_floor(parsed) == second_ms + whole * 1000 // scale
    assert millis_ceil(parsed) == second_ms - (-whole * 1000 // scale)


@given(st.dates())
def test_every_date_is_read_as_its_whole_day(day: date) -> None:
    time = parse_time(day.isoformat())

    first = (day.toordinal() - date(1970, 1, 1).toordinal()) * DAY_MS
    assert (millis_ceil(time), millis_floor(time)) == (first, first + DAY_MS - 1)
    assert time == datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert parse_date(day.isoformat()) == day


@given(
    st.one_of(
        st.text(max_size=30),
        st.text("0123456789-:.+TtZz W", max_size=30),
        st.from_regex(GRAMMAR, fullmatch=True),
        st.from_regex(r"[0-9]{1,5}-?(W?[0-9]{2}-?[0-9]{1,2}|[0-9]{3})([T ][0-9]{2}(:?[0-9]{2})*)?(Z|[+-][0-9:]+)?"),
        st.builds(
            lambda text, at, put, cut: text[: at % len(text)] + put + text[at % len(text) + cut :],
            *(st.one_of(texts, st.dates().map(str)), st.integers(0, 40)),
            *(st.text(st.sampled_from(printable), max_size=2), st.integers(0, 2)),
        ),
    )
)
@example("٢٠٢٣-٠٨-٠٣")  # digits of another script
@example("2023-08-03\n")
@example("2023-08-03T00:00:00Z\n")
@example("0000-01-01")
@example("2023-08-03T23:59:60Z")
def test_no_other_text_is_read(text: str) -> None:
    match = GRAMMAR.fullmatch(text)
    if match is None:
        assert not is_read(text)
    elif ":60" not in text:
        assert is_read(text) == calendar_has(text)
    with pytest.raises(InvalidTime):
        parse_date(f"{text} ")
    if not (match and match["day"] == text):
        with pytest.raises(InvalidTime):
            parse_date(text)


def calendar_has(text: str) -> bool:
    """Whether the day exists, and lies in the years 0001 to 9999 in UTC. Python's own reader decides."""
    try:
        standard = re.sub("[.][0-9]+", "", text).upper()
        datetime.fromisoformat(standard).astimezone(UTC)
    except (ValueError, OverflowError):
        return False
    return True


EXAMPLES = {
    "1990-12-31T23:59:60Z": "1991-01-01T00:00:00+00:00",  # the examples of RFC 3339, section 5.8
    "1990-12-31T15:59:60-08:00": "1991-01-01T00:00:00+00:00",
    "1937-01-01T12:00:27.87+00:20": "1937-01-01T11:40:27.870000+00:00",
    "1985-04-12T23:20:50.52Z": "1985-04-12T23:20:50.520000+00:00",
    "1996-12-19T16:39:57-08:00": "1996-12-20T00:39:57+00:00",
    "2015-06-30T23:59:60.25Z": "2015-07-01T00:00:00.250000+00:00",
    "2023-08-03T12:00:00-00:00": "2023-08-03T12:00:00+00:00",
}
NO_LEAP_SECONDS = (
    *("1990-12-31T23:59:61Z", "1990-12-30T23:59:60Z", "1990-12-31T23:58:60Z", "1990-12-31T22:59:60Z"),
    *("1990-12-31T23:59:60+01:00", "1990-11-30T23:59:60Z", "9999-12-31T23:59:60Z"),
)


def test_a_leap_second_is_the_next_second_as_in_posix_and_there_is_none_at_another_time() -> None:
    assert {text: parse_time(text).isoformat() for text in EXAMPLES} == EXAMPLES
    assert [text for text in NO_LEAP_SECONDS if is_read(text)] == []


def test_the_calendars_first_and_last_milliseconds_can_be_written() -> None:
    assert millis_ceil(parse_time("0001-01-01")) == FIRST_MS
    assert millis_floor(parse_time("9999-12-31")) == LAST_MS
    assert millis_floor(parse_time("9999-12-31T23:59:59.999Z")) == LAST_MS


@given(st.integers(FIRST_MS, LAST_MS))
def test_milliseconds_and_seconds_are_written_as_the_time_that_they_are(time_ms: int) -> None:
    seconds = time_ms // 1000
    assert rfc3339_of_millis(time_ms) == rfc3339(datetime_of(time_ms))
    assert rfc3339_of_seconds(seconds) == rfc3339(datetime_of(1000 * seconds))


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("2026-11-26T10:00:05", "2026-11-26T10:00:05Z"),
        ("2026-11-26 10:00:05.123456", "2026-11-26T10:00:05.123456Z"),
        ("2026-11-26T10:00:05,123Z", "2026-11-26T10:00:05.123Z"),
        ("2026-11-26T10:00:05.123+0530", "2026-11-26T10:00:05.123+05:30"),
        ("2026-11-26T10:00:05-08", "2026-11-26T10:00:05-08:00"),
        ("2026-11-26 10:00:05 +0000", "2026-11-26T10:00:05+00:00"),
        ("2026-11-26 10:00:05 UTC", "2026-11-26T10:00:05Z"),
        ("2026-11-26T10:00+01:00[Europe/Paris]", "2026-11-26T10:00:00+01:00"),
        (" 2026-11-26T10:00:05Z\n", "2026-11-26T10:00:05Z"),
        *((text, text) for text in ("2026-11-26", "10:00:05", "20261126T100005Z", "2026-11-26T10:00:05 CET", "")),
    ],
)
def test_a_time_as_programs_write_it_is_brought_into_the_form_that_is_read(text: str, means: str) -> None:
    assert as_rfc3339(text) == means
