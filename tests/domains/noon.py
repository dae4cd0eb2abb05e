"""A clock that stands at a noon later than the machine's: by that one, DynamoDB's emulator deletes what has expired."""

from tests.domains.earthquakes.builders import at
from tests.store.samples import HeldClock

NOON = at("2100-03-02T12:00:00")


def held_clock() -> HeldClock:
    """A clock that stands at noon."""
    clock = HeldClock()
    clock.now = NOON
    return clock
