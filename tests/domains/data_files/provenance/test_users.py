"""The pages of the runs that used a version have each of them once, whatever edges others have left."""

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph.core.paging import Page, Paging
from graph.domains.data_files.entities import RUN, USED, USES
from graph.domains.data_files.provenance.edges import Edges, UsingRun
from graph.store.contract import Database, Put
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from tests.domains.data_files.in_store import FileStore, data_files, run_id, version_of, walked
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.effort import rounds

HUB = version_of("hub@1")

Told = tuple[int, bool]
"""The run of an edge, and whether that run has the report that brought it."""


def edge(run: int, report: str = "0" * 8, of: str = HUB.reference) -> Item:
    """An edge from a version to a run that used it."""
    return {"used": of, "run-id": run_id(run), "report": report}


def stored(told: Sequence[Told]) -> list[Put]:
    """Edges and their runs, as recording leaves them: at most one report of a run has brought the edge."""
    at = "2024-01-01 00:00:00"
    run: Item = {"used": [], "generated": [], "outputs": [], "algorithm": "a", "state": "COMPLETE", "recorded-at": at}
    run |= {"reports": ["0" * 8], "revision": 1}
    edges = [edge(number, "0" * 8 if counts else "f" * 8) for number, counts in told]
    edges += [edge(number, "9" * 8) for number, counts in told if counts and number % 3 == 0]
    edges.append(edge(0, of="hub@10"))
    runs = [{**run, "run-id": run_id(number)} for number, counts in told if counts]
    return [*(Put(RUN, each) for each in runs), *(Put(USED, each) for each in edges)]


async def page_of(database: Database, paging: Paging) -> Page[UsingRun]:
    """A page of the runs that used the hub."""
    return await Edges(database).runs_that_used(HUB, PageRequest(paging, frozenset({"algorithm"})))


async def listed(ours: FileStore, size: int, *, backward: bool = False) -> list[str]:
    """The ids of the runs of all pages."""

    async def page(paging: Paging) -> Page[UsingRun]:
        return await page_of(ours.database, paging)

    runs = await walked(page, lambda run: USES.place_of(run.cursor, "after"), size, backward=backward)
    assert {run.algorithm for run in runs} <= {"a"}
    return [run.run_id for run in runs]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=25, unique_by=lambda each: each[0]),
    st.integers(1, 5),
    st.booleans(),
)
@settings(A_FEW, max_examples=rounds(100))
@example([(run, run > 11) for run in range(15)], 2, False)
async def test_pages_together_are_the_runs_that_told_of_their_use(
    engine: str, told: list[Told], size: int, backward: bool
) -> None:
    async with data_files(engine) as ours:
        await ours.database.put_many(stored(told))
        found = await listed(ours, size, backward=backward)
    assert found == sorted(run_id(run) for run, counts in told if counts)


async def test_a_page_reads_as_many_edges_as_it_has_runs() -> None:
    async with data_files("sqlite") as ours:
        await ours.database.put_many(stored([(3 * run + 1, True) for run in range(300)]))
        counting = CountingDatabase(ours.database)
        await page_of(counting, Paging(10))
        assert counting.items == 11
