"""Further items that other programs have written: what they are to readers, until they are adopted.

Such an item has the documented attributes alone. What ours have beside them follows from the identifier, from the file
and from its other items.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from graph.domains.data_files.entities import FILE, PART
from graph.domains.data_files.model import CALIBRATION
from graph.domains.data_files.sortable import RELATIONS, kind_by_file, kind_of, related
from graph.domains.data_files.versions import place_in_order
from graph.store.conditions import Absent, AllOf, AnyOf, Present
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from graph.work.account import charge_rows

FOREIGN_SORTABLE = Absent("data-level")  # among those with an applicable date
FOREIGN_CALIBRATION = AllOf((Absent("calibration-order"), Present("calibration-version")))
FOREIGN = AnyOf((AllOf((FOREIGN_SORTABLE, Present("applicable-date"))), FOREIGN_CALIBRATION))

_OF_A_FILE = frozenset({"product", "algorithm-version"})

PartKey = tuple[str, str]
"""The name of a file, and the identifier of an item."""


def is_sortable(part: Item) -> bool:
    """Whether a file is found by the item's day."""
    return "applicable-date" in part


def is_calibration(part: Item) -> bool:
    """Whether the item says that its file is a version of a calibration."""
    return "calibration-version" in part and part["identifier"].startswith(CALIBRATION)


def as_ours(file: Mapping[str, Any], parts: Sequence[Item]) -> list[Item]:
    """The sortable items and the calibrations among all further items of a file, as our own writers store them."""
    sortable = [
        kind_of(part["identifier"]) | part | kind_by_file(file)
        for part in sorted(filter(is_sortable, parts), key=itemgetter("applicable-date", "identifier"))
    ]
    counts = [(part.get("data-type"), part.get("missing-packet-count")) for part in sortable]
    with_relations = [
        {name: value for name, value in part.items() if name not in RELATIONS} | relations
        for part, relations in zip(sortable, related(sortable, counts), strict=True)
    ]
    calibrations = [part for part in parts if is_calibration(part) and not is_sortable(part)]
    return [
        part | calibration_order(part) if is_calibration(part) else part for part in (*with_relations, *calibrations)
    ]


def calibration_order(part: Item) -> Item:
    """The place of a calibration among those of its product."""
    return {"calibration-order": place_in_order(part["calibration-version"], part["file-name"])}


async def parts_of(database: Database, names: Iterable[str]) -> dict[str, list[Item]]:
    """All stored further items of files, by the files' names."""
    parts: dict[str, list[Item]] = {name: [] for name in sorted(names)}
    if parts:
        page = await database.query(Query(entity=PART, partitions=[(name,) for name in parts]))
        for part in page.items:
            parts[part["file-name"]].append(part)
    return parts


class ForeignParts:
    """Sortable items of other programs that a list has come to."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: set[str] = set()
        self._parts: dict[PartKey, Item] = {}

    def completed(self, part: Item) -> Item | None:
        """An item as our own writers store it; None if it is broken, or no longer there."""
        return part if "data-level" in part else self._parts.get((part["file-name"], part["identifier"]))

    async def learn(self, parts: Sequence[Item]) -> None:
        """Read what completes those among some items that other programs have written."""
        names = {part["file-name"] for part in parts if "data-level" not in part} - self._names
        if not names:
            return
        self._names |= names
        await charge_rows(read=len(names))
        keys = [(name,) for name in names]
        files = {file["file-name"]: file for file in await self._database.items_at(FILE, keys, attributes=_OF_A_FILE)}
        of_files = await parts_of(self._database, names)
        await charge_rows(read=sum(map(len, of_files.values())))
        for name, every in of_files.items():
            for part in as_ours(files.get(name, {}), every):
                self._parts[name, part["identifier"]] = part
