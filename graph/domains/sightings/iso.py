"""Times as the documented keys have them: ISO 8601, UTC, whole seconds, `2026-06-25T14:30:00Z`.

Other programs may write fractions of a second, `+00:00` in place of `Z`, or neither.
"""

import re
from datetime import UTC, datetime

from graph.core.days import datetime_of_seconds
from graph.core.times import rfc3339, utc_time

LENGTH = 20  # characters of `2026-06-25T14:30:00Z`

_IS_OURS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch


def iso_of(seconds: int) -> str:
    """Epoch seconds as text, of which the alphabetical order is the order of time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def hour_of(iso: str) -> str:
    """The hour of such a text, `2026-06-25T14`."""
    return iso[:13]


def minute_of(seconds: int) -> str:
    """The minute of epoch seconds, `2026-06-25T14:30Z`."""
    return f"{datetime_of_seconds(seconds).isoformat()[:16]}Z"


def seconds_of(iso: str) -> int:
    """The epoch seconds of such a text, those of a minute's beginning too."""
    return int(utc_time(iso).timestamp())


def written(iso: str) -> str:
    """The time of such a text as the graph writes it."""
    return f"{iso[:-1]}.000Z" if _IS_OURS(iso) else rfc3339(utc_time(iso))
