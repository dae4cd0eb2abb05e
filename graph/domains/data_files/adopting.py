"""Adopts what other programs have written: stores beside it what our own writers do.

The further items of a file get what relates them to each other and orders them, and are counted. The file's own item
gets its revision. An item that comes later may change what others of its file tell, so all of them are looked at.
"""

from collections.abc import Awaitable, Callable, Sequence

from graph.core.services import Services
from graph.domain import Resources
from graph.domains.data_files.counts import CounterChanges
from graph.domains.data_files.entities import ADOPTION, FILE, PART
from graph.domains.data_files.foreign_parts import FOREIGN, as_ours, parts_of
from graph.domains.data_files.minimum import FOREIGN_FILE, adopted, retold
from graph.domains.data_files.sortable import RELATIONS
from graph.feed.adoption import Adoption
from graph.store.conditions import Condition, Present, all_of, unchanged
from graph.store.contract import Database, Update
from graph.store.entity import Entity, Item
from graph.work.account import give_way

OURS = (*RELATIONS, "data-level", "data-type", "data-product", "data-version", "calibration-order")


async def adopt_files(database: Database, files: Sequence[Item]) -> None:
    """Adopt the own items of files. Their further items may have been adopted before they were there."""
    for file in files:
        await adopted(database, file)
        await give_way()
    await adopt_parts(database, files)


async def adopt_parts(database: Database, parts: Sequence[Item]) -> None:
    """Adopt all further items of the files of some items."""
    for name in sorted({part["file-name"] for part in parts}):
        await _adopt_parts_of(database, name)
        await give_way()


async def _adopt_parts_of(database: Database, name: str) -> None:
    file = await database.get(FILE.key_for(name)) or {}
    parts = (await parts_of(database, [name]))[name]
    stored = {part["identifier"]: part for part in parts}
    changed = [part for part in as_ours(file, parts) if part != stored[part["identifier"]]]
    at_once = database.transaction_limit // 2  # each is one action, and changes the counter of its day
    for at in range(0, len(changed), at_once):
        await _adopt(database, [(stored[part["identifier"]], part) for part in changed[at : at + at_once]])
    await retold(database, file, parts)


async def _adopt(database: Database, changes: Sequence[tuple[Item, Item]]) -> None:
    """Change items, unless others change them meanwhile: then they are adopted the next time."""
    counts, updates = CounterChanges(), list[Update]()
    for before, after in changes:
        is_there = Present("applicable-date" if "applicable-date" in after else "calibration-version")
        values = {name: after[name] for name in OURS if name in after}
        updates.append(Update(PART.key_of(after), set=values, condition=all_of(is_there, unchanged(before, *OURS))))
        counts.add(after["identifier"], before, -1)
        counts.add(after["identifier"], after)
    await database.transact([*updates, *counts.updates()])


def _adoption(
    entity: Entity, foreign: Condition, adopt: Callable[[Database, Sequence[Item]], Awaitable[None]]
) -> Adoption:
    def adopt_items(services: Services, items: Sequence[Item]) -> Awaitable[None]:
        return adopt(services.of(Resources).database, items)

    return Adoption(entity, state=ADOPTION, foreign=foreign, adopt=adopt_items)


ADOPTIONS = (_adoption(FILE, FOREIGN_FILE, adopt_files), _adoption(PART, FOREIGN, adopt_parts))
