"""Files with the documented minimum of attributes, as other programs write them: what the absence of ours means.

Such a file is its own first revision, has all items of its partition, and was registered when it was archived. A file
is also there if only an item tells of it by which it is found: a calibration, which has no other item in the document,
or a sortable one, whose program has perhaps not written the file's own item yet. Additional items alone make no file.

A file is read as that. Before it is registered anew, or a run is bound to it, what it lacks is stored.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graph.domains.data_files.entities import FILE, FILE_REVISION, ONLY_NAMED
from graph.domains.data_files.foreign_parts import is_calibration, is_sortable, parts_of
from graph.domains.data_files.model import registered_at
from graph.domains.data_files.references import Version
from graph.domains.data_files.sortable import kind_of
from graph.store.conditions import Absent, all_of, unchanged
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item
from graph.store.query import Needed, Query

IS_KNOWN = "fingerprint"  # stored of each file that this service has registered or adopted
FOREIGN_FILE = Absent(IS_KNOWN)

_TOLD = ("archive-time", "ingest-time", "algorithm-version")  # of a file by other programs


def reading_minimum(attributes: Needed) -> Needed:
    """The attributes of files to read, so that `completed` can tell the others; None for all."""
    return attributes if attributes is None else attributes.union({IS_KNOWN}, _TOLD)


async def completed(database: Database, names: Iterable[str], files: Sequence[Item]) -> Sequence[Item]:
    """The files with these names: those that were read, see `reading_minimum`, and those of other programs whole."""
    if not database.other_writers:
        return files
    missing = set(names).difference(file["file-name"] for file in files)
    foreign = {file["file-name"]: file for file in files if IS_KNOWN not in file}
    parts = await parts_of(database, {*foreign, *missing})
    files = [_with_minimum(file, parts[name]) if (name := file["file-name"]) in foreign else file for file in files]
    found = [name for name in missing if any(is_sortable(part) or is_calibration(part) for part in parts[name])]
    return [*files, *(_with_minimum({"file-name": name}, parts[name]) for name in found)]


def _with_minimum(file: Item, parts: Sequence[Item]) -> Item:
    """A file of another program with what it lacks, and with what its further items tell of it."""
    archived = [part["archive-time"] for part in parts if is_calibration(part) and "archive-time" in part]
    told = {"revision": 1, **({"archive-time": archived[0]} if archived else {}), **_told_by(parts)}
    whole = told | file
    return {"registered-at": registered_at(*(whole.get(name) for name in _TOLD[:2])), **whole}


def _told_by(parts: Sequence[Item]) -> Item:
    """What further items tell of their file."""
    sortable, calibrations = list(filter(is_sortable, parts)), list(filter(is_calibration, parts))
    levels = [kind_of(part["identifier"])["data-level"] for part in (*sortable, *calibrations)]
    return {
        **({"level": levels[0]} if levels else {}),
        "applicable-dates": sorted({part["applicable-date"] for part in sortable}),
        "calibration-versions": [part["calibration-version"] for part in calibrations],
    }


async def files_at(database: Database, names: Collection[str], attributes: Needed = None) -> dict[str, Item]:
    """The files with these names, by them."""
    read = reading_minimum(attributes) if database.other_writers else attributes
    stored = await database.items_at(FILE, [(name,) for name in names], attributes=read)
    return {file["file-name"]: file for file in await completed(database, names, stored)}


async def foreign_revisions(database: Database, missing: Iterable[Version]) -> list[Item]:
    """The only revisions of files of other programs, which nobody has stored yet.

    Args:
        missing: the revisions that are looked for, and are not stored.
    """
    names = {version.name for version in missing if version.revision == 1}
    if not names or not database.other_writers:
        return []
    files = await files_at(database, names)
    return [_revision_of(file) for file in files.values() if IS_KNOWN not in file]


def _revision_of(file: Mapping[str, Any]) -> Item:
    return {name: value for name, value in file.items() if name in FILE_REVISION.named}


async def last_revision(database: Database, name: str) -> Item | None:
    """The last stored revision of a file, whose own item another program may have replaced or removed."""
    last = Query(entity=FILE_REVISION, partitions=[(name,)], forward=False, limit=1)
    return next(iter((await database.query(last)).items), None)


async def adopted(database: Database, file: Item) -> Item:
    """Store what a file of another program lacks, unless another process does. Returns the file with it.

    Its program may have replaced the file's item, of which there are revisions. If it tells something else of the file,
    this is the next one.

    Args:
        file: its own item; its name alone if there is none.
    """
    name = file["file-name"]
    parts = (await parts_of(database, [name]))[name]
    before = await last_revision(database, name)
    whole = {**_with_minimum(file, parts), IS_KNOWN: ONLY_NAMED, "parts": [part["identifier"] for part in parts]}
    actions: list[Action] = []
    if before and all(whole.get(each) == before.get(each) for each in _TOLD):
        whole |= {each: value for each, value in before.items() if each in FILE.named}
    else:
        lasting = {"revision": before["revision"] + 1, "counted": before.get("counted", {})} if before else {}
        whole |= {"revision": 1, **lasting}
        actions.append(Put(FILE_REVISION, _revision_of(whole), if_absent=True))
        if before:
            ended = {"invalidated-at": whole["registered-at"]}
            actions.append(Update(FILE_REVISION.key_of(before), set=ended))
    ours = {each: value for each, value in whole.items() if each != "file-name"}
    unread = all_of(FOREIGN_FILE, unchanged(file, *_TOLD))
    await database.transact([Update(FILE.key_for(name), set=ours, condition=unread), *actions])
    return whole


async def retold(database: Database, file: Item, parts: Sequence[Item]) -> None:
    """Store what the further items of an adopted file tell of it, which may have come after it."""
    if file.get(IS_KNOWN) != ONLY_NAMED:
        return
    told = {"parts": [part["identifier"] for part in parts], **_told_by(parts)}
    changed = {name: value for name, value in told.items() if file.get(name) != value}
    if changed:
        latest = Update(FILE.key_of(file), set=changed, condition=unchanged(file, "revision", IS_KNOWN))
        of_revision = {name: value for name, value in changed.items() if name in FILE_REVISION.named}
        revision = [Update(FILE_REVISION.key_of(file), set=of_revision)] if of_revision else []
        await database.transact([latest, *revision])
