"""Lists the runs that used a version, in order of their ids: also where there are more than a lineage follows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graph.core.paging import Page
from graph.domains.data_files.entities import RUN
from graph.domains.data_files.model import EDGE, USES, Use, UsingRun
from graph.domains.data_files.references import Version
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.store.time_walk import Keep


class Users:
    """The runs that used versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, version: Version, request: PageRequest) -> Page[UsingRun]:
        """A page of the runs that used a version, each once: a run is told of a version that it used by one report.

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
            """Whether the run has the report that brought the edge."""
            run = found.get(edge["run-id"])
            return run is not None and edge["report"] in run["reports"]

        keep = Keep(counts, frozenset(), learn)
        edges = PageRequest(request.paging, frozenset())
        page: Page[Any] = await USES.page(self._database, edges, [(version.reference,)], Use, keep)
        record = UsingRun.reading(request.attributes)
        return replace(page, records=[record({**found[use.run_id], EDGE: use.item}) for use in page.records])
