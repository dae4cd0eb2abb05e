"""Long plans and lineages let others run in between, and pay for what they read."""

from collections.abc import Iterator

import pytest

from graph.core.errors import QueryTooComplex
from graph.domains.data_files.entities import FILE_REVISION, RUN, USED
from graph.domains.data_files.provenance.edges import ITEMS_AT_ONCE
from graph.domains.data_files.provenance.lineage import LEAST_EDGES, Direction
from graph.store.contract import Put
from graph.work.account import Work, charged_to
from tests.domains.data_files.in_store import FAR, FileStore, data_files, run_id
from tests.domains.earthquakes.test_giving_way import CountedPace
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.work.accounts import an_account

RUNS, FILES_A_RUN = 1000, 4  # that are made from one calibration


def a_hub(runs: int, files_a_run: int) -> Iterator[Put]:
    """A calibration, and all the runs that used it, as recording leaves them."""
    at = "2024-01-01 00:00:00"
    file = {"registered-at": at, "fingerprint": "f", "calibration-versions": [], "applicable-dates": [], "revision": 1}
    yield Put(FILE_REVISION, {**file, "file-name": "hub", "is-used": True})
    for number in range(runs):
        made = [f"made{number:04}{of}" for of in range(files_a_run)]
        lists = {"used": ["hub@1"], "generated": [f"{name}@1" for name in made], "outputs": [], "reports": ["0" * 8]}
        run = {"run-id": run_id(number), "algorithm": "a", "state": "COMPLETE", "revision": 1, "recorded-at": at}
        yield Put(RUN, {**run, **lists})
        yield Put(USED, {"used": "hub@1", "run-id": run_id(number), "report": "0" * 8})
        for name in made:
            yield Put(FILE_REVISION, {**file, "file-name": name, "generated-by": run_id(number)})


async def test_a_plan_offers_to_give_way_between_bounded_pieces_and_is_refused_before_it_reads_too_much() -> None:
    async with data_files("sqlite") as ours:
        await ours.database.put_many([*a_hub(RUNS, FILES_A_RUN)])
        counting, pace = CountingDatabase(ours.database), CountedPace()
        with charged_to(an_account(Work(pace=pace))) as account:
            plan = await FileStore(counting).plan("hub@1")

        assert plan.files == RUNS * FILES_A_RUN
        assert counting.most <= ITEMS_AT_ONCE
        read = RUNS + RUNS + RUNS * FILES_A_RUN  # edges, runs, revisions
        assert pace.offers >= read // ITEMS_AT_ONCE
        assert account.spent >= read // 10

        for points in (10, 90, 250):
            counting = CountingDatabase(ours.database)
            with charged_to(an_account(most=points)), pytest.raises(QueryTooComplex):
                await FileStore(counting).plan("hub@1")
            assert counting.items <= 10 * points + ITEMS_AT_ONCE


async def test_a_lineage_costs_what_it_reads_and_takes_a_bounded_number_of_reads() -> None:
    async with data_files("sqlite") as ours:
        await ours.database.put_many([*a_hub(850, 1)])
        with charged_to(an_account()) as account:
            await ours.lineage("made00000@1", Direction.UPSTREAM)
        assert account.spent == 0, "a few items"

        for most, edges in ((1, LEAST_EDGES + 1), (200, 2 * 201 + 1), (400, 2 * 401 + 1)):
            counting = CountingDatabase(ours.database)
            with charged_to(an_account()) as account:
                lineage = await FileStore(counting).lineage("hub@1", Direction.DOWNSTREAM, FAR, most)
            assert len(lineage.nodes) == most + 1
            assert lineage.frontier == ["hub@1", *(f"made{number:04}0@1" for number in range(most))]
            assert counting.items == edges
            assert {call.entity for call in counting.calls} == {USED}
            assert len(counting.calls) + len(counting.gets) <= 3 * (edges // ITEMS_AT_ONCE + 1)
            assert edges // 10 <= account.spent <= 3 * edges // 10
