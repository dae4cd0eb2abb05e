"""What is registered of some files, and which registration of another content follows from it."""

from collections.abc import Iterable, Mapping
from itertools import islice

from graph.domains.data_files.checking import FileDraft
from graph.domains.data_files.claims import settle
from graph.domains.data_files.datasets import number_of
from graph.domains.data_files.entities import COUNTED, FILE, FILE_REVISION, ONLY_NAMED, PART
from graph.domains.data_files.foreign_parts import parts_of
from graph.domains.data_files.minimum import IS_KNOWN, adopted, completed
from graph.domains.data_files.references import Version
from graph.domains.data_files.writes import PLAIN, FileWrite, is_registered, version_write_of, write_of
from graph.store.conditions import AnyOf, Compare
from graph.store.contract import Database, Delete
from graph.store.entity import Item
from graph.store.query import Query
from graph.work.account import give_way

READ_AT_ONCE = 250  # files, before giving way to other work

DatasetVersion = tuple[str, str]
"""The name of a file, and a version of its dataset in OpenLineage."""


class RegisteredFiles:
    """What is registered of some files."""

    def __init__(self, database: Database, files: dict[str, Item], versions: Mapping[DatasetVersion, Item]) -> None:
        self.files = files  # by their names
        self.versions = versions  # revisions, by their versions in OpenLineage
        self._database = database

    @classmethod
    async def of(
        cls,
        database: Database,
        names: Iterable[str],
        versions: Iterable[DatasetVersion] = (),
        used: Iterable[str] = (),
    ) -> "RegisteredFiles":
        """Read the files with these names, and their revisions with these versions, as `datasets` tells them.

        Those of other programs are adopted.

        Args:
            used: the names of files that are there also if only their further items tell of them.
        """
        files: dict[str, Item] = {}
        used = frozenset(used)
        left = iter(names)
        while some := {name: FILE.key_for(name) for name in islice(left, READ_AT_ONCE)}:
            items = list((await database.get_many(some.values())).values())
            without_item = (used & some.keys()).difference(item["file-name"] for item in items)
            told = [{"file-name": file["file-name"]} for file in await completed(database, without_item, ())]
            for item in (*items, *told):
                files[item["file-name"]] = item if IS_KNOWN in item else await adopted(database, item)
            await give_way()
        found = {}
        for name, version in set(versions):
            if name in files and (revision := await _latest_with(database, files[name], version)):
                found[name, version] = revision
        await settle(database, found.values())
        return cls(database, files, found)

    async def registration(self, draft: FileDraft, *, at: str) -> FileWrite | None:
        """The registration of a file; None if it is registered as it is."""
        stored = self.files.get(draft.name)
        if draft.dataset_version is None:
            return None if is_registered(draft, stored) else await self.write_of(draft, at=at)
        if (draft.name, draft.dataset_version) in self.versions:
            return None
        if stored and "dataset-version" not in stored and draft.only_tells_version:
            return version_write_of(draft, stored)
        return await self.write_of(draft, at=at)

    async def write_of(self, draft: FileDraft, *, at: str, is_made: bool = False) -> FileWrite:
        """The registration of a revision, which replaces the further items of the one before."""
        file = self.files.get(draft.name)
        has_parts = file and (file["parts"] or (draft.parts and file[IS_KNOWN] != ONLY_NAMED))
        may_be_counted = has_parts and self._database.other_writers
        beside = await self._database.get(COUNTED.key_for(draft.name)) or {} if may_be_counted else None
        parts = await self._parts(file) if file and has_parts else {}
        return write_of(draft, file, parts, at=at, beside=beside, is_made=is_made)

    async def _parts(self, file: Item) -> dict[str, Item]:
        """The further items of a file. Those that came too late are removed: no registration can make them seen.

        Before the first registration of a file that is only named, one that goes on may have written them ahead.
        """
        every = (await parts_of(self._database, [file["file-name"]]))[file["file-name"]]
        parts = {item["identifier"]: item for item in every}
        own = frozenset(file["parts"])
        late = [identifier for identifier, part in parts.items() if PLAIN in part and identifier not in own]
        limit = self._database.transaction_limit
        for first in range(0, len(late) if file[IS_KNOWN] != ONLY_NAMED else 0, limit):
            keys = [PART.key_for(file["file-name"], identifier) for identifier in late[first : first + limit]]
            await self._database.transact(list(map(Delete, keys)))
        for identifier in late:
            del parts[identifier]
        return parts


async def _latest_with(database: Database, file: Item, version: str) -> Item | None:
    """The latest revision of a file that is this version of its dataset."""
    name = file["file-name"]
    if file.get("dataset-version") == version:
        return await database.get(FILE_REVISION.key_for(name, file["revision"]))
    named = AnyOf((Compare("dataset-version", "=", version), Compare("generated-by", "=", version)))
    page = await database.query(Query(entity=FILE_REVISION, partitions=[(name,)], where=named, forward=False))
    await settle(database, page.items)
    for item in page.items:
        if version in (item.get("dataset-version"), item.get("generated-by")):
            return item
    numbered = Version.of(f"{name}@{number_of(version)}")
    by_number = await database.get(FILE_REVISION.key_for(*numbered)) if numbered else None
    return by_number if by_number and "dataset-version" not in by_number else None
