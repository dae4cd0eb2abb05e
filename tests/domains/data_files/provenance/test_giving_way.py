"""Long plans and lineages let others run in between, and pay for what they read."""

from collections.abc import AsyncIterator, Iterable

import pytest

from graph.core.errors import QueryTooComplex
from graph.domains.data_files.entities import FILE_REVISION, RUN, USED
from graph.domains.data_files.provenance.edges import ITEMS_AT_ONCE
from graph.domains.data_files.provenance.lineage import Direction
from graph.store.contract import Put
from graph.work.account import Work, charged_to
from tests.domains.data_files.in_store import FileStore, data_files, run_id
from tests.domains.earthquakes.test_giving_way import CountedPace
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.work.accounts import an_account

RUNS, FILES_A_RUN = 2500, 4  # that are made from one calibration, so 10,000 files


def a_hub() -> Iterable[Put]:
    """A calibration, and all the runs that used it, as recording leaves them."""
    at = "2024-01-01 00:00:00"
    file = {"registered-at": at, "fingerprint": "f", "calibration-versions": [], "applicable-dates": [], "revision": 1}
    yield Put(FILE_REVISION, {**file, "file-name": "hub", "is-used": True})
    for number in range(RUNS):
        made = [f"made{number:04}{of}" for of in range(FILES_A_RUN)]
        lists = {"used": ["hub@1"], "generated": [f"{name}@1" for name in made], "outputs": [], "reports": ["0" * 8]}
        run = {"run-id": run_id(number), "algorithm": "a", "state": "COMPLETE", "revision": 1, "recorded-at": at}
        yield Put(RUN, {**run, **lists})
        yield Put(USED, {"used": "hub@1", "run-id": run_id(number), "report": "0" * 8})
        for name in made:
            yield Put(FILE_REVISION, {**file, "file-name": name, "generated-by": run_id(number)})


@pytest.fixture
async def ours() -> AsyncIterator[FileStore]:
    async with data_files("sqlite") as ours:
        await ours.database.put_many(list(a_hub()))
        yield ours


async def test_a_plan_of_many_files_offers_to_give_way_between_bounded_pieces(ours: FileStore) -> None:
    counting, pace = CountingDatabase(ours.database), CountedPace()
    with charged_to(an_account(Work(pace=pace))) as account:
        plan = await FileStore(counting).plan("hub@1")

    assert plan.files == RUNS * FILES_A_RUN
    assert counting.most <= ITEMS_AT_ONCE
    read = RUNS + RUNS + RUNS * FILES_A_RUN  # edges, runs, revisions
    assert pace.offers >= read // ITEMS_AT_ONCE
    assert account.spent >= read // 10


@pytest.mark.parametrize("points", [10, 200, 600])
async def test_a_plan_that_reads_more_than_it_may_is_refused_before_it_is_read(
    ours: FileStore, points: int
) -> None:
    counting = CountingDatabase(ours.database)
    with charged_to(an_account(most=points)), pytest.raises(QueryTooComplex):
        await FileStore(counting).plan("hub@1")
    assert counting.items <= 10 * points + ITEMS_AT_ONCE


async def test_a_lineage_costs_what_it_reads(ours: FileStore) -> None:
    with charged_to(an_account()) as account:
        await ours.lineage("made00000@1", Direction.UPSTREAM)
    assert account.spent == 0, "a few items"
    with charged_to(an_account()) as account:
        await ours.lineage("hub@1", Direction.DOWNSTREAM, 1, 400)
    assert 800 // 10 <= account.spent <= 3000 // 10
