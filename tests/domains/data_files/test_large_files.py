"""Files with more further items than one transaction takes."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date

import pytest

from graph.core.clock import now_ms
from graph.core.errors import DatabaseUnavailable
from graph.domains.data_files.entities import ENTITIES, PART
from graph.domains.data_files.model import Problem, identifier_of
from graph.domains.data_files.new_files import AdditionalMetadata, NewFile, SortableMetadata
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.store.contract import Database, Put
from tests.domains.data_files.provenance.in_turn import in_turn
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.store.engines import empty_database

NAME = "L0_CONS_file.PDS"
GAPS = 132  # as many as a record of a day with many losses has


class Narrow(WatchedDatabase):
    """A store whose transactions take as much as DynamoDB's, and which may fail behind what is written ahead."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.transaction_limit = 100
        self.fails = False

    async def put_many(self, puts: Sequence[Put]) -> None:
        await super().put_many(puts)
        if self.fails:
            raise DatabaseUnavailable("the connection was lost")


def record(days: Sequence[date] = (date(2024, 1, 1), date(2024, 1, 2)), checksum: str | None = None) -> NewFile:
    """A construction record with many gaps."""
    return NewFile(
        name=NAME,
        level="L0",
        checksum=checksum,
        sortable=[SortableMetadata(type="APID11", applicable_dates=days)],
        additional=[AdditionalMetadata(identifier="APID11#SSC-GAPS", attributes={"gap": gap}) for gap in range(GAPS)],
    )


def registered(file: NewFile) -> Callable[[Database], Awaitable[object]]:
    """The registration of a file, with a store of its own."""

    async def work(database: Database) -> object:
        return await Registration(database, now_ms).register([file])

    return work


def content(number: int, items: int) -> NewFile:
    """A file of one name, with a content of its own for each number."""
    gaps = [AdditionalMetadata(identifier="GAP", attributes={"gap": gap, "of": number}) for gap in range(items)]
    return NewFile(name=NAME, checksum=f"{number:032x}", additional=gaps)


async def gaps_of(database: Database) -> list[int]:
    parts = await DataFiles(database).parts([NAME])
    return sorted(part["gap"] for part in parts.get(NAME, ()) if "gap" in part)


async def test_a_large_file_is_registered_with_every_item_once_or_is_nowhere(engine: str) -> None:
    async with empty_database(engine, ENTITIES) as opened:
        database = Narrow(opened)
        registration = Registration(database, now_ms)
        database.fails = True
        with pytest.raises(DatabaseUnavailable):
            await registration.register([record()])
        assert not await DataFiles(database).by_name([NAME])

        database.fails = False
        report = await registration.register([record()])
        assert (report.registered, report.rejections) == (1, [])
        assert await gaps_of(database) == list(range(GAPS))
        assert (await registration.register([record()])).skipped == 1


async def test_what_no_transaction_takes_is_rejected() -> None:
    month = [date(2024, 1, day) for day in range(1, 32)]
    async with empty_database("sqlite", ENTITIES) as opened:
        database = Narrow(opened)
        days = [date(2024, month, day) for month in range(1, 13) for day in range(1, 29)]
        files = [record(days), record(month), record(month, checksum="a" * 32)]
        report = await Registration(database, now_ms).register(files)
        assert [(each.index, each.code) for each in report.rejections] == [
            (0, Problem.TOO_MANY_ITEMS),
            (2, Problem.TOO_MANY_ITEMS),  # the next revision would replace what is there
        ]
        assert report.registered == 1


ORDERS = [[0, 1], [1, 0], [0, 0, 1, 1], *([0] * calls + [1] * 20 for calls in range(1, 4))]


@pytest.mark.parametrize("before", [False, True], ids=["new", "named"])
@pytest.mark.parametrize("items", [(20, 20), (20, 30), (20, 2)], ids=["as many", "more", "fewer"])
async def test_of_different_contents_that_are_registered_at_once_a_file_has_one(
    engine: str, items: tuple[int, int], before: bool
) -> None:
    for order in ORDERS if engine == "sqlite" else ORDERS[:1]:
        async with empty_database(engine, ENTITIES) as database:
            if before:
                await Runs(database, now_ms).record(
                    RunReport(algorithm="a", used=[UsedFile(NAME, may_be_unknown=True)])
                )
            contents = [content(number, of) for number, of in enumerate(items)]
            assert await in_turn(database, [registered(file) for file in contents], order, 10) == [None, None]

            file = (await DataFiles(database).by_name([NAME]))[NAME]
            (first,) = [number for number, each in enumerate(contents) if each.checksum == file.checksum]
            parts = (await DataFiles(database).parts([NAME]))[NAME]
            assert [(identifier_of(part), part["gap"], part["of"]) for part in parts] == [
                (f"GAP#{gap + 1:04}" if gap else "GAP", gap, first) for gap in range(items[first])
            ]
            stored = {part["identifier"] async for part in database.scan(PART)}
            assert stored == {part["identifier"] for part in parts}, "what came too late is removed"

            assert (await Registration(database, now_ms).register([content(9, 3)])).registered == 1
            stored = {part["identifier"] async for part in database.scan(PART)}
            assert stored == {"GAP", "GAP#0002", "GAP#0003"}


async def test_the_same_content_that_is_registered_at_once_is_registered_once(engine: str) -> None:
    for order in ORDERS if engine == "sqlite" else ORDERS[:1]:
        async with empty_database(engine, ENTITIES) as database:
            assert await in_turn(database, [registered(content(1, 20))] * 2, order, 10) == [None, None]
            assert await gaps_of(database) == list(range(20))
            assert (await DataFiles(database).by_name([NAME]))[NAME].revision == 1
