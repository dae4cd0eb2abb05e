"""The access patterns that read data files: by name, by applicable date, and their revisions and metadata.

None of them is a scan. The list by date walks the documented index day by day, by the counters of the days.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import replace
from functools import partial

from graph.core.paging import Page
from graph.domains.data_files.claims import reading_claims, settle
from graph.domains.data_files.counts import ITEMS, CountedKind
from graph.domains.data_files.entities import BY_APPLICABLE_DATE, BY_DATE, DAY, FILE, FILE_REVISION, PART, REVISIONS
from graph.domains.data_files.minimum import completed, reading_minimum
from graph.domains.data_files.model import DataFile, FileRevision, identifier_of
from graph.domains.data_files.references import Version
from graph.domains.data_files.selection import FileSelection, LatestVersions
from graph.store.client_input import find, possible_key
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Partition, Query
from graph.store.records import Records, items_of, records_at
from graph.store.rows import values_of
from graph.store.time_walk import Promise, Promises, Walk
from graph.work.account import charge_rows, give_way

FIRST_DAYS, DAYS_AT_ONCE = 25, 400  # counters that are read at first, and at most; twice as many each time
DAYS_PER_PIECE = 50  # that are planned before giving way to other work; each has some ten counters


class DataFiles:
    """The registered data files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_name(self, names: Iterable[str], attributes: Needed = None) -> Mapping[str, DataFile]:
        """The registered ones of these files."""
        read = reading_minimum(attributes)
        files = await find(self._database, DataFile, names, read)
        completed([file.item for file in files.values()], read)
        return files

    async def page(self, selection: FileSelection, request: PageRequest) -> Page[DataFile]:
        """A page of the selected files, those of the newest applicable day first.

        A file that applies to several of the days is listed once, at the first of them.

        Raises:
            QueryTooComplex: The operation in progress may not read so many files.
        """
        latest = LatestVersions(selection)
        query = Query(entity=PART, index=BY_DATE, where=selection.condition, attributes=frozenset())
        walk = Walk(self._database, query, partial(self._days, selection, latest), latest.keep)
        record = BY_APPLICABLE_DATE.record_class(DataFile).reading(request.attributes)
        page = await walk.page(request.paging, forward=False, record_of=record)
        places = items_of(page.records)
        names = dict.fromkeys(values_of(places, FILE.key_names))
        read = reading_minimum(request.attributes)
        files = completed(await self._database.items_at(FILE, names, attributes=read), read)
        of_name = {file["file-name"]: file for file in files}
        listed = [{**place, **of_name[name]} for place in places if (name := place["file-name"]) in of_name]
        return replace(page, records=Records(record, listed))

    async def parts(self, names: Iterable[str]) -> Mapping[str, list[Item]]:
        """The further items of files' metadata, by the files' names, in order of their identifiers."""
        files = await self.by_name(names, frozenset({"parts"}))
        if not files:
            return {}
        page = await self._database.query(Query(entity=PART, partitions=[(name,) for name in sorted(files)]))
        own = {name: frozenset(file.item["parts"]) for name, file in files.items() if "parts" in file.item}
        parts: dict[str, list[Item]] = {}
        for part in page.items:  # others may be left of a registration that broke off, or came too late
            if part["identifier"] in own.get(part["file-name"], (part["identifier"],)):
                parts.setdefault(part["file-name"], []).append(part)
        return {name: sorted(items, key=identifier_of) for name, items in parts.items()}

    async def revisions(self, name: str, request: PageRequest) -> Page[FileRevision]:
        """A page of a file's revisions, the latest first."""
        request = replace(request, attributes=reading_claims(request.attributes))
        page = await REVISIONS.page(self._database, request, [(name,)], FileRevision)
        await settle(self._database, items_of(page.records))
        return page

    async def with_version(self, name: str, version: str) -> list[Version]:
        """The revisions of a file that are this version of a calibration, or of their algorithm."""
        if possible_key(FILE_REVISION, name, 1) is None:
            return []
        read = frozenset({"calibration-versions", "algorithm-version"})
        found = await self._database.query(Query(entity=FILE_REVISION, partitions=[(name,)], attributes=read))
        return [
            Version(name, item["revision"])
            for item in found.items
            if version in (*item.get("calibration-versions", ()), item.get("algorithm-version"))
        ]

    async def by_version(
        self, versions: Iterable[Version], attributes: Needed = None
    ) -> Mapping[Version, FileRevision]:
        """The registered ones of these versions."""
        keys = [key for each in set(versions) if (key := possible_key(FILE_REVISION, *each))]
        found = await records_at(self._database, FileRevision, keys, reading_claims(attributes))
        await settle(self._database, items_of(found))
        return {each.version: each for each in found}

    async def by_reference(self, references: Iterable[str], attributes: Needed = None) -> Mapping[str, FileRevision]:
        """The registered ones of the revisions with these references."""
        found = await self.by_version([version for each in references if (version := Version.of(each))], attributes)
        return {version.reference: revision for version, revision in found.items()}

    async def _days(
        self, selection: FileSelection, latest: LatestVersions, *, forward: bool, start: Partition | None
    ) -> AsyncGenerator[Promises, None]:
        """The days that may have selected files, by their counters, in order or in reverse, some at a time."""
        first, last = selection.first, selection.last
        low, high = first.isoformat() if first else None, last.isoformat() if last else None
        if start is not None:
            (day,) = start
            low, high = (max(low or day, day), high) if forward else (low, min(high or day, day))
        days = Query(entity=DAY, between=(low, high), forward=forward, limit=FIRST_DAYS)
        while True:
            page = await self._database.query(days)
            await charge_rows(read=len(page.items))
            for at in range(0, len(page.items), DAYS_PER_PIECE):
                some = page.items[at : at + DAYS_PER_PIECE]
                yield [promise for item in some if (promise := _promise(selection, latest, item))]
                await give_way()
            if page.last_key is None:
                return
            days = replace(days, start=page.last_key, limit=min(2 * len(page.items), DAYS_AT_ONCE))


def _promise(selection: FileSelection, latest: LatestVersions, item: Item) -> Promise | None:
    """What a day may hold; None for nothing."""
    counted = {CountedKind.of_name(name): number for name, number in item.items() if "#" in name and number > 0}
    day: str = item["day"]
    latest.note(day, counted)
    matches = sum(number for kind, number in counted.items() if selection.counts(kind) and latest.has(day, kind))
    return ((day,), matches, item[ITEMS]) if matches else None
