"""Follows the edges of versions: from those that were generated to what was used, and back.

An edge to a run counts once the run's item has the report that brought it, so a run is there with all of its edges or
not at all.
"""

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from graph.core.paging import Page
from graph.domains.data_files.claims import reading_claims, settle
from graph.domains.data_files.entities import FILE_REVISION, RUN, USED, USES
from graph.domains.data_files.minimum import foreign_revisions
from graph.domains.data_files.model import Run, Use
from graph.domains.data_files.references import Version
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Partition, Query
from graph.store.records import Derived
from graph.store.time_walk import Keep
from graph.work.account import charge_rows, give_way

PARTITIONS_AT_ONCE = 500  # of each query, since it goes through all of them again and again
ITEMS_AT_ONCE = 500  # before giving way to other work

_OF_A_KNOWN_RUN = frozenset({"generated", "reports"})


@dataclass(frozen=True, slots=True, eq=False)  # there is one object for each run, which all of its edges share
class KnownRun:
    """A run, as far as its edges downstream need it."""

    run_id: str
    generated: Sequence[str]  # references
    reports: Sequence[str]  # that brought its edges


KnownRuns = dict[str, KnownRun]
"""By the ids of runs."""


EDGE = "edge"


class UsingRun(Run):
    """A run in the list of those that used a version. Its item has the edge, too."""

    cursor = Derived(USES.cursor_of, EDGE)


class RunsUsing(NamedTuple):
    """The runs that used versions."""

    runs: dict[str, list[KnownRun]]  # by the reference of what they used
    last: str | None  # the first version that has further edges, which were not read; None if all were read


class Edges:
    """The edges between the versions of files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def makers(self, references: Collection[str]) -> dict[str, str]:
        """The runs that generated versions: reference → id of the run."""
        revisions = await self.revisions(references, frozenset({"generated-by"}))
        return {name: item["generated-by"] for name, item in revisions.items() if "generated-by" in item}

    async def used_by_runs(self, run_ids: Collection[str]) -> dict[str, Sequence[str]]:
        """What runs used: id → references."""
        runs = await self._runs(run_ids, frozenset({"used"}))
        return {run_id: item["used"] for run_id, item in runs.items()}

    async def users(self, references: Sequence[str], known: KnownRuns, most: int | None = None) -> RunsUsing:
        """The runs that used versions.

        Args:
            references: in ascending order.
            known: those that are found are added.
            most: edges to read; None for all.
        """
        users: dict[str, list[KnownRun]] = {}
        read = 0
        async with aclosing(self._used(references, None if most is None else most + 1)) as pages:
            async for found in pages:
                new = await self._runs({edge["run-id"] for edge in found} - known.keys(), _OF_A_KNOWN_RUN)
                known |= {run_id: KnownRun(run_id, run["generated"], run["reports"]) for run_id, run in new.items()}
                for edge in found:
                    if read == most:
                        return RunsUsing(users, edge["used"])
                    read += 1
                    run = known.get(edge["run-id"])
                    if run is not None and edge["report"] in run.reports:
                        users.setdefault(edge["used"], []).append(run)
        return RunsUsing(users, None)

    async def _used(self, references: Sequence[str], most: int | None) -> AsyncGenerator[Sequence[Item], None]:
        """The edges from versions to the runs that used them, some at a time."""
        left = most
        for first in range(0, len(references), PARTITIONS_AT_ONCE):
            partitions: Sequence[Partition] = [(each,) for each in references[first : first + PARTITIONS_AT_ONCE]]
            start: Mapping[str, Any] | None = None
            while partitions and (left is None or left):
                at_once = ITEMS_AT_ONCE if left is None else min(left, ITEMS_AT_ONCE)
                page = await self._database.query(Query(entity=USED, partitions=partitions, start=start, limit=at_once))
                await charge_rows(read=len(page.items))
                yield page.items
                await give_way()
                start = page.last_key
                partitions = partitions[page.partitions - 1 :] if start else ()
                left = None if left is None else left - len(page.items)

    async def runs_that_used(self, version: Version, request: PageRequest) -> Page[UsingRun]:
        """A page of the runs that used a version, in order of their ids: also where a lineage follows fewer.

        Each run is listed once, since one report says that a run used a version.

        Raises:
            InvalidCursor: A cursor is another version's.
        """
        found: dict[str, Item] = {}
        needed = None if request.attributes is None else request.attributes | {"run-id", "reports"}

        async def learn(edges: Sequence[Item]) -> None:
            keys = [RUN.key_for(run_id) for run_id in {edge["run-id"] for edge in edges} - found.keys()]
            for key, run in (await self._database.get_many(keys, attributes=needed)).items():
                found[key.values[0]] = run

        def counts(edge: Item) -> bool:
            run = found.get(edge["run-id"])
            return run is not None and edge["report"] in run["reports"]

        keep = Keep(counts, frozenset(), learn)
        edges = PageRequest(request.paging, frozenset())
        page: Page[Any] = await USES.page(self._database, edges, [(version.reference,)], Use, keep)
        record = UsingRun.reading(request.attributes)
        return replace(page, records=[record({**found[use.run_id], EDGE: use.item}) for use in page.records])

    async def revisions(self, references: Collection[str], attributes: Needed = None) -> dict[str, Item]:
        """The registered revisions, by their references, with the runs that generated them."""
        found = await self.stored_revisions(references, reading_claims(attributes))
        await settle(self._database, found.values())
        return found

    async def stored_revisions(self, references: Collection[str], attributes: Needed = None) -> dict[str, Item]:
        """The same as they are stored: with runs whose claims do not count, too."""
        found: dict[str, Item] = {}
        for some in _pieces(list(references)):
            keys = {FILE_REVISION.key_for(*version): each for each in some if (version := Version.of(each))}
            await charge_rows(read=len(keys))
            items = await self._database.get_many(keys, attributes=attributes)
            found |= {keys[key]: item for key, item in items.items()}
            missing = [version for each in some if each not in found and (version := Version.of(each))]
            for item in await foreign_revisions(self._database, missing):
                found[Version.of_item(item).reference] = item
            await give_way()
        return found

    async def _runs(self, run_ids: Collection[str], attributes: frozenset[str]) -> Mapping[str, Item]:
        found: dict[str, Item] = {}
        for some in _pieces(list(run_ids)):
            await charge_rows(read=len(some))
            items = await self._database.get_many([RUN.key_for(each) for each in some], attributes=attributes)
            found |= {str(key.values[0]): item for key, item in items.items()}
            await give_way()
        return found


def _pieces(names: list[str]) -> Iterator[list[str]]:
    for first in range(0, len(names), ITEMS_AT_ONCE):
        yield names[first : first + ITEMS_AT_ONCE]
