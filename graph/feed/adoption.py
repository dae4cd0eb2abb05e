"""Takes up what other programs have written into a domain's tables, as if this service had written it.

A foreign item is found by its key and by the indexes at once. Adoption adds what our own writer stores beside such
an item: its sequence number for subscriptions, counters, summaries.

    STATE = adoption_state(TABLE)  # among the domain's entities

    adoptions = (Adoption(NOTE, state=STATE, foreign=Absent("change"), adopt=adopt_by(Desk, Desk.adopt)),)

An item may be handed over several times, and may become foreign again: a put of another program replaces ours.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graph.core.services import Services
from graph.runtime.lease import LEASE_ATTRIBUTES
from graph.store.attributes import JsonDocument, Text, Whole
from graph.store.conditions import Condition
from graph.store.contract import Database
from graph.store.design import TableDesign
from graph.store.entity import Entity, Item

ITEMS_AT_ONCE = 25
ADOPTED_UNTIL = "adoptedUntil"  # of a state

S = TypeVar("S")
Adopt = Callable[[Services, Sequence[Item]], Awaitable[None]]


@dataclass(frozen=True)
class Adoption:
    """How the service takes up an entity's items that another program has written."""

    entity: Entity
    state: Entity  # made by `adoption_state`; of the same domain
    foreign: Condition  # only an item that the service has neither written nor adopted fulfils it
    adopt: Adopt
    """Adopts foreign items, at most `ITEMS_AT_ONCE` of them.

    For each, one transaction writes what our own write has beside the item, and what makes `foreign` false. An item
    that is no longer foreign, or no longer there, is left as it is.
    """


def adopt_by(service: type[S], adopt: Callable[[S, Sequence[Item]], Awaitable[None]]) -> Adopt:
    """What adopts items by a service that a domain has opened."""
    return lambda services, items: adopt(services.of(service), items)


def adoption_state(table: TableDesign, name: str = "ADOPTION") -> Entity:
    """Declare the state of a domain's adoptions, one item for each table that other programs write.

    Args:
        table: where the state is kept; its keys are texts.
    """
    attributes = (
        Text("adopts", shortest=1, longest=255, in_key_alone=True),  # the name of the adopted table
        JsonDocument("position", optional=True),  # up to which the table's stream was read
        JsonDocument("scan", optional=True),  # up to which the table was scanned
        Whole("scanDue", unit="epoch ms", optional=True),  # the next scan
        JsonDocument("entities", optional=True),  # names of those that the scans find
        Whole(ADOPTED_UNTIL, unit="epoch ms", optional=True),
        *LEASE_ATTRIBUTES,
    )
    return Entity(name, table, key=("ADOPTION", "{adopts}"), attributes=attributes)


async def adopted_until(database: Database, state: Entity, table: TableDesign) -> int:
    """A time, epoch milliseconds: all that was written into a table until then is adopted. 0 for none."""
    kept = await database.get(state.key_for(table.name), attributes=(ADOPTED_UNTIL,))
    return kept.get(ADOPTED_UNTIL, 0) if kept else 0
