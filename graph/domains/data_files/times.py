"""Times as the documented table has them: `2024-01-01 00:00:00`, UTC, with a fraction only where there is one.

Other programs may write them in another form of ISO 8601, such as `2024-01-01T00:00:00Z` or with an offset.
"""

from datetime import UTC, date, datetime

from graph.core.days import datetime_of, days_between
from graph.core.times import rfc3339, utc_time

SHORTEST_TIME = 19  # characters of `2024-01-01 00:00:00`
LONGEST_TIME = 26  # characters of `2024-01-01 00:00:00.000001`
LONGEST_WITH_OFFSET = 32
DATE_LENGTH = 10  # characters of `2024-01-01`


def time_text(time: datetime) -> str:
    """A time with an offset, as the table has it."""
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def date_of(text: str) -> date:
    """The day that the table has.

    Raises:
        ValueError: It is written in another form, such as `2024-W01-1`, which is not in the order of the others.
    """
    day = date.fromisoformat(text)
    if day.isoformat() != text:
        raise ValueError(f"`{text}` must be a day, YYYY-MM-DD")
    return day


def text_of_ms(time_ms: int) -> str:
    """Epoch milliseconds, as the table has them."""
    return time_text(datetime_of(time_ms))


def written(text: str) -> str:
    """The time that the table has, as the graph writes it."""
    if len(text) == SHORTEST_TIME:
        return f"{text[:10]}T{text[11:]}.000Z"
    if len(text) == LONGEST_TIME and text[20:].isdecimal():
        return f"{text[:10]}T{text[11:23]}Z"
    return rfc3339(utc_time(text))


def days_of(first: datetime, last: datetime) -> list[date]:
    """Every UTC day from the first to the last time, both included."""
    return list(days_between(first.astimezone(UTC).date(), last.astimezone(UTC).date()))
