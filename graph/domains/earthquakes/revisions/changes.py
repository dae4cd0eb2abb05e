"""The keys of versions in the sequence of changes.

The first version of an event has the event's id, as every change had before there were versions.
"""

from collections.abc import Mapping
from typing import Any

_BETWEEN = "\x1f"  # the unit separator, which no id has


def change_key(version: Mapping[str, Any]) -> str:
    """The key of a version."""
    number = version.get("revision", 1)
    return str(version["eventId"]) if number == 1 else f"{version['eventId']}{_BETWEEN}{number}"


def version_of(key: str) -> tuple[str, int]:
    """The event's id and the number of the version."""
    event_id, _, number = key.partition(_BETWEEN)
    return event_id, int(number or 1)
