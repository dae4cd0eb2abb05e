"""The access patterns that read data files: by name, by applicable date, and their revisions and metadata.

None of them is a scan. The list by date walks the documented index day by day, by the counters of the days.

A day that other programs alone have written has no counters before their items are adopted, and a counter still has
what another program has removed. So where they may write, the items themselves say which versions are the latest, and
few selected days are all read, whatever their counters are.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from graph.core.days import days_between
from graph.core.paging import Page
from graph.domains.data_files.claims import reading_claims, settle
from graph.domains.data_files.counts import ITEMS, CountedKind
from graph.domains.data_files.entities import BY_APPLICABLE_DATE, BY_DATE, DAY, FILE, FILE_REVISION, PART, REVISIONS
from graph.domains.data_files.foreign_parts import FOREIGN_SORTABLE, ForeignParts, parts_of
from graph.domains.data_files.minimum import files_at, foreign_revisions
from graph.domains.data_files.model import DataFile, FileRevision, identifier_of
from graph.domains.data_files.references import Version
from graph.domains.data_files.selection import VERSION_READ, FileSelection, LatestVersions, VersionRule
from graph.domains.data_files.sortable import kind_of
from graph.domains.data_files.writes import PLAIN
from graph.store.client_input import find, possible_key
from graph.store.conditions import AnyOf, names_in, predicate
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Partition, Query
from graph.store.records import Records, items_of, records_at
from graph.store.rows import values_of
from graph.store.time_walk import SOME, Keep, Promise, Promises, Walk
from graph.work.account import charge_rows, give_way

FIRST_DAYS, DAYS_AT_ONCE = 25, 400  # counters that are read at first, and at most; twice as many each time
DAYS_PER_PIECE = 50  # that are planned before giving way to other work; each has some ten counters
UNCOUNTED_DAYS = 31  # so many selected days are read without their counters
ITEMS_OF_A_DAY = 10  # of one without counters: the assumed number of selected items


class DataFiles:
    """The registered data files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_name(self, names: Iterable[str], attributes: Needed = None) -> Mapping[str, DataFile]:
        """The registered ones of these files."""
        if not self._database.other_writers:
            return await find(self._database, DataFile, names, attributes)
        possible = [name for name in set(names) if possible_key(FILE, name)]
        record = DataFile.reading(attributes)
        return {name: record(file) for name, file in (await files_at(self._database, possible, attributes)).items()}

    async def own_by_name(self, names: Iterable[str]) -> Mapping[str, DataFile]:
        """The registered ones of these files, which no other program can have written."""
        return await find(self._database, DataFile, names)

    async def page(self, selection: FileSelection, request: PageRequest) -> Page[DataFile]:
        """A page of the selected files, those of the newest applicable day first.

        A file that applies to several of the days is listed once, at the first of them.

        Raises:
            QueryTooComplex: The operation in progress may not read so many files.
        """
        walk = self._walk(selection)
        record = BY_APPLICABLE_DATE.record_class(DataFile).reading(request.attributes)
        page = await walk.page(request.paging, forward=False, record_of=record)
        places = items_of(page.records)
        names = dict.fromkeys(values_of(places, FILE.key_names))
        of_name = await files_at(self._database, [name for (name,) in names], request.attributes)
        listed = [{**place, **of_name[name]} for place in places if (name := place["file-name"]) in of_name]
        return replace(page, records=Records(record, listed))

    async def parts(self, names: Iterable[str]) -> Mapping[str, list[Item]]:
        """The further items of files' metadata, by the files' names, in order of their identifiers."""
        files = await find(self._database, DataFile, names, frozenset({"parts"}))
        own = {name: frozenset(file.item.get("parts", ())) for name, file in files.items()}
        found: dict[str, list[Item]] = {}
        for name, parts in (await parts_of(self._database, set(names))).items():
            # Some may be left of a registration that broke off, or came too late. Only these are marked.
            whole = [part for part in parts if PLAIN not in part or part["identifier"] in own.get(name, ())]
            typed = [kind_of(part["identifier"]) | part if "applicable-date" in part else part for part in whole]
            if typed:
                found[name] = sorted(typed, key=identifier_of)
        return found

    async def revisions(self, name: str, request: PageRequest) -> Page[FileRevision]:
        """A page of a file's revisions, the latest first."""
        request = replace(request, attributes=reading_claims(request.attributes))
        page = await REVISIONS.page(self._database, request, [(name,)], FileRevision)
        await settle(self._database, items_of(page.records))
        if not (page.records or request.paging.after or request.paging.before):
            record = REVISIONS.record_class(FileRevision).reading(request.attributes)
            page = replace(page, records=Records(record, await foreign_revisions(self._database, [Version(name, 1)])))
        return page

    async def with_version(self, name: str, version: str) -> list[Version]:
        """The revisions of a file that are this version of a calibration, or of their algorithm."""
        if possible_key(FILE_REVISION, name, 1) is None:
            return []
        read = frozenset({"calibration-versions", "algorithm-version"})
        found = await self._database.query(Query(entity=FILE_REVISION, partitions=[(name,)], attributes=read))
        return [
            Version(name, item["revision"])
            for item in found.items or await foreign_revisions(self._database, [Version(name, 1)])
            if version in (*item.get("calibration-versions", ()), item.get("algorithm-version"))
        ]

    async def by_version(
        self, versions: Iterable[Version], attributes: Needed = None
    ) -> Mapping[Version, FileRevision]:
        """The registered ones of these versions."""
        possible = {each: key for each in set(versions) if (key := possible_key(FILE_REVISION, *each))}
        found = await records_at(self._database, FileRevision, possible.values(), reading_claims(attributes))
        await settle(self._database, items_of(found))
        by_version = {each.version: each for each in found}
        record = FileRevision.reading(attributes)
        foreign = map(record, await foreign_revisions(self._database, possible.keys() - by_version.keys()))
        return by_version | {each.version: each for each in foreign}

    async def by_reference(self, references: Iterable[str], attributes: Needed = None) -> Mapping[str, FileRevision]:
        """The registered ones of the revisions with these references."""
        found = await self.by_version([version for each in references if (version := Version.of(each))], attributes)
        return {version.reference: revision for version, revision in found.items()}

    def _walk(self, selection: FileSelection) -> Walk:
        """A walk over the sortable items by which the selected files are listed."""
        latest = LatestVersions(selection)
        query = Query(entity=PART, index=BY_DATE, where=selection.condition, attributes=frozenset())
        if not self._database.other_writers:
            return Walk(self._database, query, partial(self._days, selection, latest), latest.keep)
        foreign = ForeignParts(self._database)
        is_selected = predicate(selection.condition)
        noted: set[str] = set()

        def is_kept(item: Item) -> bool:
            if (part := foreign.completed(item)) is None:
                return False
            return is_selected(part) and latest.has(part["applicable-date"], CountedKind.of_item(part))

        async def learn(parts: Sequence[Item]) -> None:
            await foreign.learn(parts)
            days = {part["applicable-date"] for part in parts} - noted if latest.compares else set()
            if days:
                noted.update(days)
                await self._note_versions(days, latest, foreign)

        keep = Keep(is_kept, VERSION_READ | names_in(selection.condition), learn)
        query = replace(query, where=AnyOf((FOREIGN_SORTABLE, selection.condition)))
        first, last = selection.first, selection.last
        if first and last and (last - first).days < UNCOUNTED_DAYS:
            days = [day.isoformat() for day in days_between(first, last)]
            return Walk(self._database, query, partial(_uncounted_days, days), keep)
        # A counter still has what another program has removed, so it does not say which version is the latest.
        of_any_version = LatestVersions(replace(selection, version=VersionRule.ALL)) if latest.compares else latest
        return Walk(self._database, query, partial(self._days, selection, of_any_version), keep)

    async def _note_versions(self, days: Iterable[str], latest: LatestVersions, foreign: ForeignParts) -> None:
        """Note the versions of all items of some days."""
        partitions = [(day,) for day in sorted(days)]
        query = Query(entity=PART, index=BY_DATE, partitions=partitions, attributes=VERSION_READ, limit=SOME)
        async for parts in self._database.pages(query, charged=SOME):
            await foreign.learn(parts)
            for part in filter(None, map(foreign.completed, parts)):
                latest.note(part["applicable-date"], [CountedKind.of_item(part)])

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


async def _uncounted_days(
    days: Sequence[str], *, forward: bool, start: Partition | None
) -> AsyncGenerator[Promises, None]:
    """All of these days."""
    every = [day for day in days if start is None or (start[0] <= day if forward else day <= start[0])]
    yield [((day,), ITEMS_OF_A_DAY, SOME) for day in (every if forward else reversed(every))]


def _promise(selection: FileSelection, latest: LatestVersions, item: Item) -> Promise | None:
    """What a day may hold; None for nothing."""
    counted = {CountedKind.of_name(name): number for name, number in item.items() if "#" in name and number > 0}
    day: str = item["day"]
    latest.note(day, counted)
    matches = sum(number for kind, number in counted.items() if selection.counts(kind) and latest.has(day, kind))
    return ((day,), matches, item[ITEMS]) if matches else None
