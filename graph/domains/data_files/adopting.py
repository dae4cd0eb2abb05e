"""Adopts what other programs have written: stores beside it what our own writers do.

The further items of a file get what relates them to each other and orders them, and are counted. The file's own item
gets its revision. An item that comes later may change what others of its file tell, so all of them are looked at.
"""

from collections.abc import Awaitable, Callable, Sequence

from graph.core.services import Services
from graph.domain import Resources
from graph.domains.data_files.counts import CounterChanges, counted, counted_before, counter_of
from graph.domains.data_files.entities import ADOPTION, COUNTED, FILE, PART
from graph.domains.data_files.foreign_parts import FOREIGN, as_ours, parts_of
from graph.domains.data_files.minimum import FOREIGN_FILE, IS_KNOWN, adopted, last_revision, retold
from graph.domains.data_files.sortable import RELATIONS
from graph.feed.adoption import Adoption
from graph.store.conditions import Condition, Present, all_of, unchanged
from graph.store.contract import Database, Update
from graph.store.entity import Entity, Item
from graph.store.rounds import until_applied
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


@until_applied("other writers kept changing the items of a file")
async def _adopt_parts_of(database: Database, name: str) -> bool | None:
    """Adopt the further items of a file. None if others change something meanwhile."""
    beside = await database.get(COUNTED.key_for(name)) or {}  # first, so that a registration since then is noticed
    file = await database.get(FILE.key_for(name)) or {}
    registered = file if IS_KNOWN in file else await last_revision(database, name) or {}
    parts = (await parts_of(database, [name]))[name]
    stored = {part["identifier"]: part for part in parts}
    whole = {part["identifier"]: part for part in as_ours(file, parts)}
    numbers = counted(whole.items())
    numbers.subtract(counted_before(registered, beside))
    changed = [
        (counter, part)
        for identifier, part in whole.items()
        if (counter := counter_of(identifier, part)) and part != stored[identifier]
    ]
    others = {counter for counter, number in numbers.items() if number} - {counter for counter, _ in changed}
    # Those of changed items come last: then a crash leaves a foreign item, by which the file is adopted again.
    steps = [*((counter, None) for counter in sorted(others)), *changed]
    at_once = (database.transaction_limit - 1) // 2  # each is one action, and changes the counter of its day
    for at in range(0, len(steps), at_once):
        some = steps[at : at + at_once]
        actions = [_update(stored[part["identifier"]], part) for _, part in some if part is not None]
        if now := {counter: number for counter, _ in some if (number := numbers.pop(counter, 0))}:
            as_read = unchanged(beside, "number")
            actions.append(Update(COUNTED.key_for(name), add={**now, "number": 1}, condition=as_read))
            actions += CounterChanges(now).updates()
            beside = {"number": beside.get("number", 0) + 1}
        if await database.transact(actions):
            return None
    await retold(database, file, parts)
    return True


def _update(before: Item, after: Item) -> Update:
    is_there = Present("applicable-date" if "applicable-date" in after else "calibration-version")
    values = {name: after[name] for name in OURS if name in after}
    return Update(PART.key_of(after), set=values, condition=all_of(is_there, unchanged(before, *OURS)))


def _adoption(
    entity: Entity, foreign: Condition, adopt: Callable[[Database, Sequence[Item]], Awaitable[None]]
) -> Adoption:
    def adopt_items(services: Services, items: Sequence[Item]) -> Awaitable[None]:
        return adopt(services.of(Resources).database, items)

    return Adoption(entity, state=ADOPTION, foreign=foreign, adopt=adopt_items)


ADOPTIONS = (_adoption(FILE, FOREIGN_FILE, adopt_files), _adoption(PART, FOREIGN, adopt_parts))
