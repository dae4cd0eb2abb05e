"""Takes up what other programs have written into a domain's tables, as if this service had written it.

A foreign item is found by its key and by the indexes at once. Adoption adds what our own writer stores beside such
an item: its sequence number for subscriptions, counters, summaries.

    STATE = adoption_state(TABLE)  # among the domain's entities

    async def adopt(services: Services, items: Sequence[Item]) -> None: ...

    adoptions = (Adoption(NOTE, state=STATE, foreign=Absent("change"), adopt=adopt),)

An item may be handed over several times, and may become foreign again: a put of another program replaces ours.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from graph.core.clock import Clock
from graph.core.services import Services
from graph.runtime.holding import hold_forever
from graph.runtime.lease import LEASE_ATTRIBUTES, Lease, LeaseItem
from graph.store.attributes import Text
from graph.store.conditions import Condition, predicate
from graph.store.contract import Database
from graph.store.design import TableDesign
from graph.store.entity import Entity, Item
from graph.work.account import give_way
from graph.work.tasks import Sleep

ITEMS_AT_ONCE = 100
LEASE_MS = 60_000
SCAN_EVERY_S = 3600.0


@dataclass(frozen=True)
class Adoption:
    """How the service takes up an entity's items that another program has written."""

    entity: Entity
    state: Entity  # made by `adoption_state`; of the same domain
    foreign: Condition  # only an item that the service has neither written nor adopted fulfils it
    adopt: Callable[[Services, Sequence[Item]], Awaitable[None]]
    """Adopts foreign items, at most `ITEMS_AT_ONCE` of them.

    For each, one transaction writes what our own write has beside the item, and what makes `foreign` false. An item
    that is no longer foreign, or no longer there, is left as it is.
    """


def adoption_state(table: TableDesign, partition: str = "ADOPTION", name: str = "ADOPTION") -> Entity:
    """Declare the state of a domain's adoptions, one item for each table that other programs write.

    Args:
        table: where the state is kept; its keys are texts.
        partition: the partition key of the state.
    """
    of = Text("adopts", shortest=1, longest=200, in_key_alone=True)  # the name of the adopted table
    return Entity(name, table, key=(partition, "{adopts}"), attributes=(of, *LEASE_ATTRIBUTES))


async def adopt_all(services: Services, database: Database, adoptions: Sequence[Adoption]) -> None:
    """Adopt the foreign items that are there now, by a scan of their tables."""
    for adoption in adoptions:
        is_foreign, found = predicate(adoption.foreign), list[Item]()
        async for item in database.scan(adoption.entity):
            if is_foreign(item):
                found.append(item)
            if len(found) == ITEMS_AT_ONCE:
                await adoption.adopt(services, found)
                found = []
                await give_way()
        if found:
            await adoption.adopt(services, found)


async def adopt_forever(
    services: Services,
    database: Database,
    clock: Clock,
    adoptions: Sequence[Adoption],
    *,
    sleep: Sleep = asyncio.sleep,
) -> None:
    """Adopt foreign items of one table, whenever no other process does."""

    async def work() -> None:
        while True:
            await adopt_all(services, database, adoptions)
            await sleep(SCAN_EVERY_S)

    first = adoptions[0]
    lease = LeaseItem(first.state.key_for(first.entity.table.name))
    await hold_forever(Lease(database, lease, clock, lasts_ms=LEASE_MS), work, sleep=sleep)


def tasks_of(
    adoptions: Sequence[Adoption], services: Services, database: Database, clock: Clock
) -> dict[str, Callable[[], Awaitable[None]]]:
    """The background work of some adoptions by its names, one for each of their tables. None if nobody else writes."""
    if not database.has_other_writers:
        return {}
    groups: dict[tuple[str, Entity], list[Adoption]] = {}
    for adoption in adoptions:
        groups.setdefault((adoption.entity.table.name, adoption.state), []).append(adoption)
    return {
        f"adopting items of {table}": partial(adopt_forever, services, database, clock, group)
        for (table, _), group in groups.items()
    }
