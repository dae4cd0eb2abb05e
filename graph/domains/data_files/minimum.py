"""Files with the documented minimum of attributes, as other programs write them: what the absence of ours means.

Such a file is its own first revision, has all items of its partition, and was registered when it was archived. It is
read as that. Before it is registered anew, or a run is bound to it, what it lacks is stored.
"""

from collections.abc import Sequence
from typing import Any

from graph.domains.data_files.entities import FILE, FILE_REVISION, ONLY_NAMED, PART
from graph.store.conditions import Absent
from graph.store.contract import Database, Put, Update
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.rows import Rows

_BEGINNING = "1970-01-01 00:00:00"  # of a file with no time at all
_TIMES = ("archive-time", "ingest-time")


def reading_minimum(attributes: frozenset[str] | None) -> frozenset[str] | None:
    """The attributes of files to read, so that `completed` can tell the others; None for all."""
    return attributes if attributes is None or "registered-at" not in attributes else attributes.union(_TIMES)


def completed(files: Sequence[Item], attributes: frozenset[str] | None) -> Sequence[Item]:
    """Files with what they lack, except for their items. No other program writes the rows of SQLite.

    Args:
        attributes: those that were read, see `reading_minimum`; None for all.
    """
    if not isinstance(files, Rows):
        for file in files:
            of_file = {"revision": 1, "applicable-dates": [], "registered-at": _registered_at(file)}
            for name in of_file.keys() - file.keys():
                if attributes is None or name in attributes:
                    file[name] = of_file[name]
    return files


def _registered_at(file: Item) -> Any:
    return next((file[name] for name in _TIMES if name in file), _BEGINNING)


async def adopted(database: Database, file: Item) -> Item:
    """Store what a file lacks, unless another process does. Returns the file with it."""
    name = file["file-name"]
    parts = (await database.query(Query(entity=PART, partitions=[(name,)]))).items
    ours = {
        "revision": 1,
        "parts": [part["identifier"] for part in parts],
        "fingerprint": ONLY_NAMED,
        "applicable-dates": sorted({part["applicable-date"] for part in parts if "applicable-date" in part}),
        "calibration-versions": [part["calibration-version"] for part in parts if "calibration-version" in part],
        "registered-at": _registered_at(file),
    }
    whole = {**file, **ours}
    revision = {name: value for name, value in whole.items() if name in FILE_REVISION.named}
    await database.transact(
        [
            Update(FILE.key_for(name), set=ours, condition=Absent("revision")),
            Put(FILE_REVISION, revision, if_absent=True),
        ]
    )
    return whole
