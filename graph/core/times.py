"""Times as clients write them: date-times of RFC 3339, and plain dates, which mean whole days.

    2023-08-03T02:52:13.180Z    2023-08-03T04:52:13+02:00    2023-08-03

ISO 8601 allows much more, such as `2023-W31-4`, `20230803` or a time without an offset. Readers differ in
what they take such texts for, and a wrong guess finds wrong events without an error. So nothing else is
accepted. Where RFC 3339 leaves a choice:

- `t` and `z` may be in lower case, and a space may stand for `T`, as databases write it.
- A fraction may have any number of digits. A time between two milliseconds stays between them.
- `-00:00` is UTC. Years are 0001 to 9999, in UTC too.
- A leap second is the last second of June or of December, UTC. As in POSIX, whose clocks do not have it,
  `23:59:60` is the next day's `00:00:00`.

Source: https://www.rfc-editor.org/rfc/rfc3339#section-5.6
"""

import re
from datetime import UTC, date, datetime, timedelta

from graph.core.days import DAY_MS, EPOCH, EPOCH_TIME

TIME_FORMS = "a time of RFC 3339 with an offset, such as 2023-08-03T02:52:13.180Z, or a date, such as 2023-08-03"
DATE_FORM = "a date, such as 2023-08-03"

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_DATE_TIME = re.compile(
    _DATE.pattern + r"[Tt ](\d\d):([0-5]\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))", re.ASCII
)
_NEARLY = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))? ?(?:[Zz]|UTC|GMT|([+-]\d\d)(?::?(\d\d))?)?(?:\[[^]]*\])?",
    re.ASCII,
)
_MILLISECOND = timedelta(milliseconds=1)
_MICROSECOND = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)
_LEAP_DAYS = ((6, 30), (12, 31))  # RFC 3339, section 5.7


class InvalidTime(ValueError):
    """The text is neither a date-time nor a date, or names one that the calendar does not have."""


class WholeDay(datetime):
    """The beginning of a day that was given as a plain date. At the end of a time range, it means the day's end.

    `millis_ceil` and `millis_floor` make the difference; anything else sees the beginning.
    """


def parse_date(text: str) -> date:
    """Read a date.

    Raises:
        InvalidTime: The text is no date.
    """
    if match := _DATE.fullmatch(text):
        try:
            return date(*map(int, match.groups()))
        except ValueError as error:
            raise InvalidTime(text) from error
    raise InvalidTime(text)


def parse_time(text: str) -> datetime:
    """Read a date-time or a date, as a time in UTC. A date is a `WholeDay`.

    Raises:
        InvalidTime: The text is neither.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return WholeDay(*parse_date(text).timetuple()[:3], tzinfo=UTC)
    fraction, sign, hours, minutes = match.groups()[6:]
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    try:
        microseconds = _microseconds(fraction or "")
        time = datetime(year, month, day, hour, minute, min(second, 59), microseconds, UTC)
        if sign:
            offset = timedelta(hours=int(hours), minutes=int(minutes))
            time = time - offset if sign == "+" else time + offset
        if second <= 59:
            return time
        if second == 60 and (time.hour, time.minute) == (23, 59) and (time.month, time.day) in _LEAP_DAYS:
            return time + _SECOND
    except (ValueError, OverflowError) as error:
        raise InvalidTime(text) from error
    raise InvalidTime(text)


def as_rfc3339(text: str) -> str:
    """A time as programs write it, in the form of RFC 3339: without an offset it is UTC. Any other text as it is.

    Loggers and schedulers write `2023-08-03 02:52:13,180`, `2023-08-03T02:52:13+0000` or `2023-08-03T02:52+02:00[X]`.
    Clients who ask for a time range must be exact, so only what records of other programs tell is read like this.
    """
    if (match := _NEARLY.fullmatch(text.strip())) is None:
        return text
    day, minute, second, fraction, hours, minutes = match.groups()
    offset = f"{hours}:{minutes or '00'}" if hours else "Z"
    return f"{day}T{minute}{second or ':00'}{f'.{fraction}' if fraction else ''}{offset}"


def _microseconds(fraction: str) -> int:
    """The microseconds of a fraction. Further digits count only to tell whether it is a whole millisecond."""
    microseconds = int(fraction[:6].ljust(6, "0"))
    return microseconds + 1 if microseconds % 1000 == 0 and fraction[6:].strip("0") else microseconds


def millis_of(time: datetime) -> int:
    """The millisecond of a time, since 1970. A plain date is the beginning of its day."""
    return (time - EPOCH_TIME) // _MILLISECOND


def millis_ceil(time: datetime) -> int:
    """The first millisecond of a time range that begins with this time, since 1970."""
    return -((EPOCH_TIME - time) // _MILLISECOND)


def millis_floor(time: datetime) -> int:
    """The last millisecond of a time range that ends with this time, since 1970. A plain date is in it to its end."""
    first = millis_of(time)
    return first + DAY_MS - 1 if isinstance(time, WholeDay) else first


def first_microsecond(time: datetime) -> int:
    """The first microsecond of a time range that begins with this time, since 1970."""
    return (time - EPOCH_TIME) // _MICROSECOND


def last_microsecond(time: datetime) -> int:
    """The last microsecond of a time range that ends with this time. A day or a millisecond is in it to its end.

    The graph writes times with milliseconds, so a client can pass such a time back.
    """
    last = first_microsecond(time)
    if isinstance(time, WholeDay):
        return last + 1000 * DAY_MS - 1
    return last + 999 if last % 1000 == 0 else last


def utc_time(text: str) -> datetime:
    """The time of a text of ISO 8601, which is UTC unless it says otherwise. Raises ValueError for another text."""
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def rfc3339(time: datetime) -> str:
    """A time in UTC as the graph writes it, with milliseconds."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_MINUTES = [f"{minute // 60:02}:{minute % 60:02}:" for minute in range(24 * 60)]
_SECONDS = [f"{second:02}." for second in range(60)]
_MILLIS = [f"{milli:03}Z" for milli in range(1000)]
_days: dict[int, str] = {}
_DAYS_REMEMBERED = 4096


def rfc3339_of_millis(time_ms: int) -> str:
    """Epoch milliseconds as the graph writes times. It takes a third of what a `datetime` and `rfc3339` take."""
    days, of_day = divmod(time_ms, DAY_MS)
    day = _days.get(days)
    if day is None:
        if len(_days) >= _DAYS_REMEMBERED:
            _days.clear()
        day = _days[days] = f"{date.fromordinal(EPOCH + days).isoformat()}T"
    minutes, rest = divmod(of_day, 60_000)
    seconds, millis = divmod(rest, 1000)
    return f"{day}{_MINUTES[minutes]}{_SECONDS[seconds]}{_MILLIS[millis]}"


def rfc3339_of_seconds(seconds: int) -> str:
    """Epoch seconds as the graph writes times."""
    return rfc3339_of_millis(1000 * seconds)


def time_text(time: datetime) -> str:
    """The text that `parse_time` reads as this time, which has an offset."""
    return time.date().isoformat() if isinstance(time, WholeDay) else time.isoformat()
