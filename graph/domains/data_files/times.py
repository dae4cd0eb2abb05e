"""Times as the documented table has them: `2024-01-01 00:00:00`, UTC, with a fraction only where there is one."""

from datetime import UTC, date, datetime

LONGEST_TIME = 26  # characters of `2024-01-01 00:00:00.000001`
DATE_LENGTH = 10  # characters of `2024-01-01`


def time_text(time: datetime) -> str:
    """A time with an offset, as the table has it."""
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def time_of(text: str) -> datetime:
    """The time that the table has."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def day_of(time: datetime) -> date:
    """The UTC day of a time with an offset."""
    return time.astimezone(UTC).date()
