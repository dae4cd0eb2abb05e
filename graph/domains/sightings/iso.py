"""Times as the documented keys have them: ISO 8601, UTC, whole seconds, `2026-06-25T14:30:00Z`."""

from datetime import UTC, datetime


def iso_of(seconds: int) -> str:
    """Epoch seconds as text, of which the alphabetical order is the order of time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(iso: str) -> int:
    """The epoch seconds of such a text."""
    return int(time_of(iso).timestamp())


def time_of(iso: str) -> datetime:
    """The time of such a text."""
    return datetime.fromisoformat(iso)
