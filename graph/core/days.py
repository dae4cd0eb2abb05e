"""UTC days as table keys write them, `YYYYMMDD`: their alphabetical order is the order of time."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
EPOCH = date(1970, 1, 1).toordinal()
EPOCH_TIME = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS = (date.min.toordinal() - EPOCH) * DAY_MS
LAST_MS = (date.max.toordinal() - EPOCH + 1) * DAY_MS - 1


def day_bucket(time_ms: int) -> str:
    """The UTC day of a time in epoch milliseconds, between `FIRST_MS` and `LAST_MS`."""
    return _bucket(time_ms // DAY_MS)


def hour_of(time_ms: int) -> str:
    """The UTC hour of a time, `YYYYMMDDHH`."""
    return f"{day_bucket(time_ms)}{time_ms % DAY_MS // HOUR_MS:02}"


@lru_cache(maxsize=16_384)
def _bucket(days: int) -> str:
    return bucket_of(date.fromordinal(EPOCH + days))


def bucket_of(day: date) -> str:
    """A date as a day bucket."""
    return f"{day.year:04}{day.month:02}{day.day:02}"


def date_of(bucket: str) -> date:
    """A day bucket as a date."""
    return date(int(bucket[:4]), int(bucket[4:6]), int(bucket[6:]))


def day_span(bucket: str) -> tuple[int, int]:
    """The first and the last millisecond of a day."""
    first = (date_of(bucket).toordinal() - EPOCH) * DAY_MS
    return first, first + DAY_MS - 1


def days_between(first: date, last: date) -> Iterator[date]:
    """The days from `first` to `last`, both included."""
    for days in range((last - first).days + 1):
        yield first + timedelta(days=days)


def datetime_of(time_ms: int) -> datetime:
    """Epoch milliseconds as an aware time, exact to the millisecond before and after 1970."""
    return EPOCH_TIME + timedelta(milliseconds=time_ms)


def datetime_of_seconds(seconds: int) -> datetime:
    """Epoch seconds as an aware time."""
    return EPOCH_TIME + timedelta(seconds=seconds)


def possible_datetime(time_ms: int) -> datetime | None:
    """The same; None of a time that the calendar does not have, from year 1 to 9999."""
    return datetime_of(time_ms) if FIRST_MS <= time_ms <= LAST_MS else None
