"""An event that another program wrote is counted and numbered once, whatever finds it and whatever happens meanwhile.

**The summaries count exactly the events that have a number**, after every call of every operation. What another
program replaces, changes or removes is counted as it is some checks later. No count is ever below zero.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, day_bucket
from graph.domains.earthquakes.entities import DAY_FACETS, DAY_SUMMARY, EVENT, EVENT_SEQUENCE, YEAR_FACETS, YEAR_SUMMARY
from graph.domains.earthquakes.revisions.changes import version_of
from graph.domains.earthquakes.summaries import rebuild_summaries
from graph.domains.earthquakes.summaries.state import CONFIRMATIONS
from graph.feed.sequence import ChangeSequence
from graph.store.contract import Database, Delete, Put
from graph.store.entity import Item, Key
from graph.store.query import Query
from tests.domains.earthquakes.builders import an_event, as_given
from tests.domains.earthquakes.ingest.ingests import NOW, counted_in, recount, recounted, unlogged_ingest
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.summaries.checks import Checks
from tests.domains.entities import ENTITIES
from tests.domains.watches.cuts import Meanwhile, Noted
from tests.held_time import HeldTime
from tests.store.engines import empty_database

DOCUMENTED = ("eventId", "eventTsMs", "mag", "place", "lat", "lon", "depth", "dayBucket", "source", "ingestedAt")


DAYS = [day_bucket(NOW + day * DAY_MS) for day in (-1, 0)]


class World:
    """An event in a catalogue, another program that writes the table, and a clock."""

    def __init__(self, database: Database, time: HeldTime, event_id: str = "us1") -> None:
        self.database = database
        self.time = time
        self.event_id = event_id
        self._intake = unlogged_ingest(database, self.time).intake

    async def insert(self, mag: float = 4.5, day: int = 0) -> None:
        """Put the event as another program does."""
        item = an_event(self.event_id, NOW + day * DAY_MS, mag, ingested_at=self.time()).item
        await self.database.put(Put(EVENT, {name: item[name] for name in DOCUMENTED}))

    async def remove(self) -> None:
        """Remove the event as another program does."""
        await self.database.delete(Delete(EVENT.key_for(self.event_id)))

    async def say(self, mag: float = 4.6, day: int = 0, **others: Any) -> None:
        """Ingest a record that is published later than all before."""
        self.time.now += 1
        event = as_given(an_event(self.event_id, NOW + day * DAY_MS, mag))
        await unlogged_ingest(self.database, self.time).events([{**event, "updated": self.time(), **others}])

    async def adopt(self) -> None:
        await self._intake.adopt([self.event_id])

    async def adopt_all(self) -> None:
        await self._intake.adopt_all()

    async def check(self) -> None:
        await Checks(self.database, self.time, most_events=1).once()

    async def rebuild(self) -> None:
        await self.adopt_all()
        await rebuild_summaries(self.database)

    async def numbered(self) -> list[Item]:
        return [item async for item in self.database.scan(EVENT) if "arrival" in item]

    async def changes(self) -> list[str]:
        """The versions in the sequence of changes."""
        changes = await ChangeSequence(self.database, EVENT_SEQUENCE).since(0, 1000)
        return [key for change in changes for key in change.keys]


Operation = Callable[[World], Awaitable[object]]
OPERATIONS: dict[str, Operation] = {
    "adopt": World.adopt,
    "check": World.check,
    "rebuild": World.rebuild,
    "revise": World.say,
    "revise within a bin": lambda world: world.say(mag=4.55),
    "move": lambda world: world.say(day=-1),
    "delete": lambda world: world.say(status="deleted"),
    "update in place": lambda world: world.say(mag=4.5, type=None, felt=9),
}
OTHERS: dict[str, Operation] = {
    "replace": lambda world: world.insert(mag=5.5),
    "replace by the same": World.insert,
    "replace on another day": lambda world: world.insert(day=-1),
    "remove": World.remove,
}
"""What another program does to an event that it inserted."""


async def assert_counted(world: World) -> None:
    """The summaries count exactly the events that have a number, and no count is below zero."""
    assert await counted_in(world.database) == recount(await world.numbered())
    await assert_none_below_zero(world.database)


async def assert_none_below_zero(database: Database) -> None:
    items = [item for of in (DAY_SUMMARY, YEAR_SUMMARY, DAY_FACETS, YEAR_FACETS) async for item in database.scan(of)]
    assert not [item for item in items if any(isinstance(number, int) and number < 0 for number in item.values())]


def touches_events(method: str, asked: Any) -> bool:
    """Whether a call reads or writes what an event is or how it is counted."""
    if isinstance(asked, Query):
        return asked.entity is EVENT and asked.partitions[0][0] in DAYS
    if isinstance(asked, Key):
        return asked.entity is DAY_SUMMARY
    return method in ("transact", "get_many")


@pytest.mark.parametrize("first", OPERATIONS)
async def test_an_event_is_counted_and_numbered_once_whatever_happens_meanwhile(first: str) -> None:
    """Each other operation is done before each call of the store that the first one makes."""
    async with empty_database("sqlite", ENTITIES) as database:
        time, tried = HeldTime(), 0
        await World(database, time, "another").say()
        for second in OPERATIONS.values():
            calls, at = 1, 0
            while at < calls:
                world = World(database, time, f"us{tried}")
                await world.insert()
                noted = Noted(database)
                numbers = count()
                meant = lambda *asked: touches_events(*asked) and next(numbers) == at  # noqa: E731, B023
                beside = Meanwhile(noted, partial(second, world), meant)

                await OPERATIONS[first](World(beside, time, world.event_id))

                await assert_counted(world)
                await world.adopt_all()
                await assert_counted(world)
                calls = sum(touches_events(*call) for call in noted.noted)
                at, tried = at + 1, tried + 1
        assert await counted_in(database) == await recounted(database)
        assert len(await world.numbered()) == 1 + tried
        changes = await world.changes()
        assert len(changes) == len(set(changes))
        assert {version_of(key)[0] for key in changes} == {"another", *(f"us{number}" for number in range(tried))}


@given(
    st.lists(
        st.tuples(st.sampled_from(["us1", "us2", "us3"]), st.sampled_from([*OPERATIONS, *OTHERS])),
        min_size=2,
        max_size=8,
    )
)
@A_FEW
async def test_what_another_program_replaces_and_removes_ends_in_right_summaries(steps: list[tuple[str, str]]) -> None:
    async with empty_database("sqlite", ENTITIES) as database:
        time = HeldTime()
        for event_id, step in [("us1", "replace by the same"), *steps]:
            await {**OPERATIONS, **OTHERS}[step](World(database, time, event_id))
            await assert_none_below_zero(database)

        world = World(database, time)
        await world.adopt_all()
        await Checks(database, time, most_events=1).several(2 * CONFIRMATIONS)

        await assert_counted(world)
        assert await counted_in(database) == await recounted(database)
        assert (await rebuild_summaries(database)).corrected == 0
