"""Data files to test with: `async with data_files(engine) as ours`, `await ours.register(a_file("a.nc"))`."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from graph.domains.data_files.calibrations import Calibrations
from graph.domains.data_files.counts import ITEMS
from graph.domains.data_files.entities import CALIBRATED, DAY, ENTITIES, FILE, FILE_REVISION, PART
from graph.domains.data_files.model import RegistrationReport, identifier_of
from graph.domains.data_files.new_files import CalibrationMetadata, NewFile, SortableMetadata
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.writes import INDEXED
from graph.store.contract import Database
from graph.store.entity import Entity, Item
from graph.store.location import StoreLocation
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database, new_store
from tests.store.samples import HeldClock


def day(number: int) -> date:
    """A day of January 2024."""
    return date(2024, 1, number)


def a_file(name: str, *days: int, type: str | None = None, **others: Any) -> NewFile:
    """A file of these days of January 2024, of Level 0 unless something else is said."""
    sortable = [SortableMetadata(type=type, applicable_dates=[day(number) for number in days])] if days else []
    return NewFile(**{"name": name, "level": "L0", "sortable": sortable, **others})


def a_calibration(name: str, version: str, *calibrates: str, **others: Any) -> NewFile:
    """A version of the calibration of `L0`, or of these products."""
    of = [CalibrationMetadata(calibrates=each, version=version) for each in calibrates or ("L0",)]
    return NewFile(**{"name": name, "level": "CAL", "calibrations": of, **others})


def checksum(number: int) -> str:
    """A checksum of its own for each number."""
    return f"{number:032x}"


@dataclass(frozen=True)
class FileStore:
    """The data files of a database."""

    database: Database
    clock: HeldClock
    registration: Registration
    files: DataFiles
    calibrations: Calibrations
    runs: Runs

    async def register(self, *files: NewFile) -> RegistrationReport:
        """Register files in one call."""
        return await self.registration.register(files)

    async def items(self, entity: Entity) -> list[Item]:
        """All stored items of an entity."""
        return [item async for item in self.database.scan(entity)]

    async def identifiers(self, name: str) -> list[str]:
        """The identifiers of a file's further items, in order."""
        return [identifier_of(part) for part in (await self.files.parts([name])).get(name, [])]

    async def counters(self) -> dict[tuple[str, str], int]:
        """The counters that are not 0."""
        of_days = [(each.pop("day"), each) for each in await self.items(DAY)]
        of_products = [(each.pop("identifier"), each) for each in await self.items(CALIBRATED)]
        every = [((key, name), number) for key, each in (*of_days, *of_products) for name, number in each.items()]
        return {counter: number for counter, number in every if number}

    async def counted(self) -> dict[tuple[str, str], int]:
        """What the counters should be, from the items that they count."""
        counters: Counter[tuple[str, str]] = Counter()
        for part in await self.items(PART):
            if on := part.get("applicable-date"):
                kind = (part["data-level"], part.get("data-product", ""), part.get("data-version", ""))
                counters.update([(on, ITEMS), (on, "#".join(kind))])
            elif "calibration-order" in part:
                counters[part["identifier"], ITEMS] += 1
        return dict(counters)

    async def check_whole(self) -> None:
        """Check that each file is registered wholly: with its latest revision, its further items, and their counts."""
        files = {item["file-name"]: item for item in await self.items(FILE)}
        revisions: dict[str, list[Item]] = {}
        for item in await self.items(FILE_REVISION):
            revisions.setdefault(item["file-name"], []).append(item)
        parts = await self.files.parts(files)
        assert revisions.keys() == files.keys()
        for name, file in files.items():
            every = sorted(revisions[name], key=lambda item: int(item["revision"]))
            assert [item["revision"] for item in every] == list(range(1, file["revision"] + 1))
            assert ["invalidated-at" in item for item in every] == [True] * (len(every) - 1) + [False]
            assert {key: value for key, value in file.items() if key != "parts"} == {
                key: value for key, value in every[-1].items() if key not in ("is-used", "generated-by")
            }
            assert sorted(part["identifier"] for part in parts.get(name, [])) == sorted(file["parts"])
        indexed = [part for part in await self.items(PART) if INDEXED & part.keys()]
        assert {part["file-name"] for part in indexed} <= files.keys()
        assert await self.counters() == await self.counted()


def files_of(database: Database, clock: HeldClock) -> FileStore:
    """The data files of a database."""
    return FileStore(
        database=database,
        clock=clock,
        registration=Registration(database, clock),
        files=DataFiles(database),
        calibrations=Calibrations(database),
        runs=Runs(database, clock),
    )


@asynccontextmanager
async def data_files(engine: str, files: Sequence[NewFile] = ()) -> AsyncIterator[FileStore]:
    """Tables of their own, with these files."""
    clock = HeldClock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        ours = files_of(database, clock)
        assert (await ours.register(*files)).rejections == []
        yield ours


@asynccontextmanager
async def two_processes(engine: str, folder: Path) -> AsyncIterator[tuple[FileStore, FileStore]]:
    """The files of one empty store as two processes write and read them, at the same time."""
    url, clock = await new_store(engine, folder, ENTITIES), HeldClock()
    async with AsyncExitStack() as stack:
        opened = [StoreLocation.of(url).open(ENTITIES, clock=clock, timeout_s=TIMEOUT_S) for _ in range(2)]
        first, second = [files_of(await stack.enter_async_context(each), clock) for each in opened]
        yield first, second
