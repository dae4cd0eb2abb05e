"""The pages of the runs that used a version have each of them once, whatever edges others have left."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.errors import InvalidCursor
from graph.core.paging import Paging
from graph.domains.data_files.entities import RUN, USED
from graph.domains.data_files.model import USES
from graph.domains.data_files.provenance.users import Users
from graph.store.contract import Put
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from tests.domains.data_files.in_store import FileStore, data_files, run_id, version_of
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.effort import rounds

HUB = version_of("hub@1")
REPORTS = ("0" * 8, "1" * 8, "2" * 8)

Told = tuple[int, int | None]
"""The run of an edge, and the report that brought it; None for one that the run does not have."""


def edge(run: int, report: str, of: str = HUB.reference) -> Item:
    """An edge from a version to a run that used it."""
    return {"used": of, "run-id": run_id(run), "report": report}


def stored(told: Sequence[Told]) -> list[Put]:
    """Edges and their runs, as recording leaves them: at most one report of a run has brought the edge."""
    at = "2024-01-01 00:00:00"
    empty = {"used": [], "generated": [], "outputs": [], "algorithm": "a", "state": "COMPLETE", "recorded-at": at}
    counting = {run: report for run, report in told if report is not None}
    puts = [
        Put(RUN, {**empty, "run-id": run_id(run), "reports": [REPORTS[report]], "revision": 1})
        for run, report in counting.items()
    ]
    edges = {(run, REPORTS[report]) for run, report in counting.items()}
    edges |= {(run, "f" * 8) for run, report in told if report is None}
    edges |= {(run, "9" * 8) for run in counting if run % 3 == 0}
    return [*puts, *(Put(USED, edge(run, report)) for run, report in edges), Put(USED, edge(0, REPORTS[0], "hub@10"))]


def window(listed: Sequence[str], paging: Paging[Any]) -> tuple[list[str], bool, bool]:
    """The page of a list as Relay defines it, and whether anything lies before and behind it."""
    after = paging.after["run-id"] if paging.after else ""
    before = paging.before["run-id"] if paging.before else "~"
    inside = [each for each in listed if after < each < before]
    page = inside[max(len(inside) - paging.size, 0) :] if paging.backward else inside[: paging.size]
    more = len(inside) > paging.size
    if paging.backward:
        end = page[-1] if page else before
        return page, more, bool(paging.before) and any(each > end or each == before for each in listed)
    start = page[0] if page else after
    return page, bool(paging.after) and any(each < start or each == after for each in listed), more


_places = st.none() | st.integers(0, 30).map(lambda run: edge(run, REPORTS[0]))
_pagings: st.SearchStrategy[Paging[Any]] = st.builds(Paging, st.integers(0, 5), st.booleans(), _places, _places)
_told = st.lists(st.tuples(st.integers(0, 30), st.none() | st.just(0)), max_size=25, unique_by=lambda each: each[0])


@given(_told, st.lists(_pagings, min_size=1, max_size=6))
@settings(A_FEW, max_examples=rounds(200))
@example([(run, None) for run in range(12)] + [(run, 0) for run in range(12, 15)], [Paging(2), Paging(2, True)])
async def test_a_page_is_the_one_of_the_list(engine: str, told: list[Told], pagings: list[Paging[Any]]) -> None:
    listed = sorted(run_id(run) for run, report in told if report is not None)
    async with data_files(engine) as ours:
        await ours.database.put_many(stored(told))
        for paging in pagings:
            page = await Users(ours.database).page(HUB, PageRequest(paging, frozenset({"algorithm"})))
            has = await await_maybe(page.has_previous), await await_maybe(page.has_next)
            assert ([each.run_id for each in page.records], *has) == window(listed, paging)
            assert [each.algorithm for each in page.records] == ["a"] * len(page.records)
            assert [USES.place_of(each.cursor, "after") for each in page.records] == [
                edge(int(each.run_id[-12:]), REPORTS[0]) for each in page.records
            ]


async def test_more_runs_than_a_lineage_follows_are_listed_page_by_page(engine: str) -> None:
    runs = range(1200)
    async with data_files(engine) as ours:
        await ours.database.put_many(stored([(run, 0) for run in runs]))
        found: list[str] = []
        paging: Paging[Any] = Paging(500)
        while True:
            page = await Users(ours.database).page(HUB, PageRequest(paging))
            found += [each.run_id for each in page.records]
            if not page.has_more:
                break
            paging = Paging(500, after=USES.place_of(page.records[-1].cursor, "after"))
        assert found == [run_id(run) for run in runs]


async def test_a_page_reads_as_many_edges_as_it_has_runs() -> None:
    async with data_files("sqlite") as ours:
        await ours.database.put_many(stored([(3 * run + 1, 0) for run in range(300)]))
        counting = CountingDatabase(ours.database)
        await Users(counting).page(HUB, PageRequest(Paging(10)))
        assert counting.items == 11


async def test_recorded_runs_are_listed_once_however_often_they_told_of_it(engine: str) -> None:
    async with data_files(engine) as ours:
        await ours.register("hub", "other")
        for number in (2, 1):
            await ours.run(number, used=["hub"], makes=[f"made{number}"])
            await ours.run(number, used=["hub", "other"])
        for name in ("hub@1", "other@1"):
            page = await Users(ours.database).page(version_of(name), PageRequest(Paging(10)))
            assert [each.run_id for each in page.records] == [run_id(1), run_id(2)]
            assert page.records[0].used == [version_of("hub@1"), version_of("other@1")]


async def test_the_cursor_of_another_version_is_refused() -> None:
    async with data_files("sqlite") as ours:
        place = edge(1, REPORTS[0], "other@1")
        with pytest.raises(InvalidCursor):
            await listed_after(ours, place)
        assert await listed_after(ours, edge(1, REPORTS[0])) == []


async def listed_after(ours: FileStore, place: Item) -> Sequence[object]:
    """The runs behind a place."""
    return (await Users(ours.database).page(HUB, PageRequest(Paging(10, after=place)))).records
