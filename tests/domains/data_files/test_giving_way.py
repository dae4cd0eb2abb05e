"""Large requests, plans and lineages let others run in between, and pay for what they read.

Several may write a file at once that has more further items than one transaction takes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import date, timedelta
from itertools import product
from typing import Any

import pytest

from graph.core.clock import now_ms
from graph.core.errors import BadUserInput, QueryTooComplex
from graph.core.paging import Paging
from graph.domains.data_files.checking import drafted
from graph.domains.data_files.entities import DAY, FILE_REVISION, PART, RUN, USED
from graph.domains.data_files.model import RegistrationProblem, identifier_of
from graph.domains.data_files.new_files import MOST_ITEMS, AdditionalMetadata, NewFile
from graph.domains.data_files.provenance.edges import ITEMS_AT_ONCE
from graph.domains.data_files.provenance.lineage import LEAST_EDGES, Direction
from graph.domains.data_files.provenance.recording import MOST_USED
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.reading import DAYS_PER_PIECE
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.selection import FileSelection, VersionRule
from graph.store.contract import Database, Put
from graph.store.ordering import PageRequest
from graph.work.account import Work
from tests.domains.data_files.in_store import FAR, FileStore, a_file, checksum, data_files, items, names, run_id
from tests.domains.data_files.provenance.in_turn import in_turn
from tests.domains.data_files.whole import assert_whole
from tests.domains.earthquakes.test_giving_way import CountedPace
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.work.accounts import an_account

FILES = 1000  # the most of one request
DAYS = 600


@pytest.fixture
async def ours() -> AsyncIterator[FileStore]:
    async with data_files("sqlite") as ours:
        yield ours


async def test_registering_and_using_many_files_offers_to_give_way_while_they_are_checked(ours: FileStore) -> None:
    pace = CountedPace()
    with an_account(Work(pace=pace)):
        report = await ours.register(*(a_file(name, 1) for name in names(FILES)))
    assert report.registered == FILES
    steps = 4  # check, make the items, measure them, and measure them again without those written ahead
    assert pace.offers >= steps * FILES

    pace = CountedPace()
    with an_account(Work(pace=pace)):
        run = await ours.run(1, used=names(FILES))
    assert len(run.used) == FILES
    assert pace.offers >= FILES


@pytest.mark.parametrize("version", [VersionRule.ALL, VersionRule.LATEST], ids=["all", "latest"])
async def test_a_list_that_matches_nothing_gives_way_between_days_and_pays_for_them(
    ours: FileStore, version: VersionRule
) -> None:
    days = [(date(2020, 1, 1) + timedelta(days=number)).isoformat() for number in range(DAYS)]
    await ours.database.put_many([Put(DAY, {"day": day, "items": 1, "L0#RAD#1.0": 1}) for day in days])
    selection, request = FileSelection(levels=("L2",), version=version), PageRequest(Paging(size=10), None)

    pace = CountedPace()
    with an_account(Work(pace=pace)) as account:
        page = await ours.files.page(selection, request)
    assert page.records == []
    assert pace.offers >= DAYS // DAYS_PER_PIECE
    assert account.spent == DAYS // 10

    with an_account(most=DAYS // 20), pytest.raises(QueryTooComplex):
        await ours.files.page(selection, request)


class Unread(list[AdditionalMetadata]):
    """Items that nobody may look at."""

    def __iter__(self) -> Iterator[AdditionalMetadata]:
        raise AssertionError("an item was read")


async def test_a_file_with_too_many_items_is_refused_before_any_is_looked_at(ours: FileStore) -> None:
    unread: Any = Unread([AdditionalMetadata("PDS", {})] * (MOST_ITEMS + 1))
    report = await ours.registration.register([NewFile(name="a.nc", additional=unread)])
    assert [each.code for each in report.rejections] == [RegistrationProblem.TOO_MANY_ITEMS]
    with pytest.raises(BadUserInput, match="at most 400 items, and this one 401"):
        await ours.run(1, makes=[NewFile(name="a.nc", additional=unread)])


async def test_a_run_of_too_many_files_is_refused_before_any_is_looked_at(ours: FileStore) -> None:
    files: Any = Unread([AdditionalMetadata("a.nc", {})] * (MOST_USED + 1))
    for told in ({"used": files}, {"generated": files}):
        with pytest.raises(BadUserInput, match="at most 1,000 files"):
            await ours.runs.record(RunReport(algorithm="l1b", **told))


class CountedText(str):
    """Counts how often an ordinal is put behind it."""

    ordinals = 0

    def __format__(self, spec: str) -> str:
        self.ordinals += 1
        return super().__format__(spec)


def test_items_with_one_identifier_try_no_ordinal_twice() -> None:
    identifier = CountedText("PDS")
    parts = drafted(NewFile(name="a.nc", additional=items(MOST_ITEMS, identifier)), is_known=False).parts
    assert list(parts) == ["PDS", *(f"PDS#{number:04}" for number in range(2, MOST_ITEMS + 1))]
    assert identifier.ordinals == MOST_ITEMS - 1


# Plans and lineages

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


async def test_a_plan_offers_to_give_way_between_bounded_pieces_and_is_refused_before_it_reads_too_much(
    ours: FileStore,
) -> None:
    await ours.database.put_many([*a_hub(RUNS, FILES_A_RUN)])
    counting, pace = CountingDatabase(ours.database), CountedPace()
    with an_account(Work(pace=pace)) as account:
        plan = await FileStore(counting).plan("hub@1")

    assert plan.files == RUNS * FILES_A_RUN
    assert counting.most <= ITEMS_AT_ONCE
    read = RUNS + RUNS + RUNS * FILES_A_RUN  # edges, runs, revisions
    assert pace.offers >= read // ITEMS_AT_ONCE
    assert account.spent >= read // 10

    for points in (10, 90, 250):
        counting = CountingDatabase(ours.database)
        with an_account(most=points), pytest.raises(QueryTooComplex):
            await FileStore(counting).plan("hub@1")
        assert counting.items <= 10 * points + ITEMS_AT_ONCE


async def test_a_lineage_costs_what_it_reads_and_takes_a_bounded_number_of_reads(ours: FileStore) -> None:
    await ours.database.put_many([*a_hub(850, 1)])
    with an_account() as account:
        await ours.lineage("made00000@1", Direction.UPSTREAM)
    assert account.spent == 0, "a few items"

    for most, edges in ((1, LEAST_EDGES + 1), (200, 2 * 201 + 1), (400, 2 * 401 + 1)):
        counting = CountingDatabase(ours.database)
        with an_account() as account:
            lineage = await FileStore(counting).lineage("hub@1", Direction.DOWNSTREAM, FAR, most)
        assert len(lineage.nodes) == most + 1
        assert lineage.frontier == ["hub@1", *(f"made{number:04}0@1" for number in range(most))]
        assert counting.items == edges
        assert {call.entity for call in counting.calls} == {USED}
        assert len(counting.calls) + len(counting.gets) <= 3 * (edges // ITEMS_AT_ONCE + 1)
        assert edges // 10 <= account.spent <= 3 * edges // 10


NAME = "L0_CONS_file.PDS"


def registered(file: NewFile) -> Callable[[Database], Awaitable[object]]:
    """The registration of a file, with a store of its own."""

    async def work(database: Database) -> object:
        return await Registration(database, now_ms).register([file])

    return work


def content(number: int, of: int) -> NewFile:
    """A file of one name, with a content of its own for each number."""
    return NewFile(name=NAME, checksum=checksum(number), additional=items(of, "GAP", of=number))


ORDERS = [[0, 1], [1, 0], [0, 0, 1, 1], *([0] * calls + [1] * 20 for calls in range(1, 4))]


@pytest.mark.parametrize(
    ("engine", "sizes", "before"),
    [*product(["sqlite"], [(20, 20), (20, 30), (20, 2)], [False, True]), ("dynamodb", (20, 30), True)],
    indirect=["engine"],
)
async def test_of_different_contents_that_are_registered_at_once_a_file_has_one(
    engine: str, sizes: tuple[int, int], before: bool
) -> None:
    contents = [content(number, of) for number, of in enumerate(sizes)]
    for order in ORDERS if engine == "sqlite" else ORDERS[:1]:
        async with data_files(engine) as ours:
            if before:
                await ours.run(1, used=[UsedFile(NAME, may_be_unknown=True)])
            assert await in_turn(ours.database, [registered(file) for file in contents], order, 10) == [None, None]

            file = (await ours.files.by_name([NAME]))[NAME]
            (first,) = [number for number, each in enumerate(contents) if each.checksum == file.checksum]
            parts = (await ours.files.parts([NAME]))[NAME]
            assert [(identifier_of(part), part["n"], part["of"]) for part in parts] == [
                (f"GAP#{n + 1:04}" if n else "GAP", n, first) for n in range(sizes[first])
            ]
            stored = {part["identifier"] for part in await ours.items(PART)}
            assert stored == {part["identifier"] for part in parts}, "what came too late is removed"

            await ours.register(content(9, 3))
            assert {part["identifier"] for part in await ours.items(PART)} == {"GAP", "GAP#0002", "GAP#0003"}
            await assert_whole(ours)


async def test_the_same_content_that_is_registered_at_once_is_registered_once(engine: str) -> None:
    for order in ORDERS if engine == "sqlite" else ORDERS[:1]:
        async with data_files(engine) as ours:
            assert await in_turn(ours.database, [registered(content(1, 20))] * 2, order, 10) == [None, None]
            assert [part["n"] for part in (await ours.files.parts([NAME]))[NAME]] == list(range(20))
            assert (await ours.files.by_name([NAME]))[NAME].revision == 1
            await assert_whole(ours)
