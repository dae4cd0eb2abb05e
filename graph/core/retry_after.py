"""The header `Retry-After`, by which a server asks for a wait.

Source: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
"""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"-?[0-9]+")


def seconds_to_wait(retry_after: str, *, now: int) -> float | None:
    """The wait that the header asks for, in seconds or until a date; 0 for a past one, None if it cannot be read.

    It has no bound: a number of many digits is infinite.

    Args:
        retry_after: the value of the header; empty without one.
        now: epoch milliseconds.
    """
    if _SECONDS.fullmatch(retry_after):
        return max(0.0, float(retry_after))
    try:
        date = parsedate_to_datetime(retry_after)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now / 1000)
