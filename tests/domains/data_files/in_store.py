"""Data files and runs to test with: `async with data_files(engine) as ours`, `await ours.run(1, used=…, makes=…)`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from graph.core.paging import Page, Paging
from graph.domains.data_files.calibrations import Calibrations
from graph.domains.data_files.entities import ENTITIES
from graph.domains.data_files.model import RegistrationReport, Run, identifier_of
from graph.domains.data_files.new_files import AdditionalMetadata, CalibrationMetadata, NewFile, SortableMetadata
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.lineage import Direction, Lineage, lineage_of
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.provenance.reprocessing import ReprocessingPlan, plan_of
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.registering import Registration
from graph.store.contract import Database
from graph.store.entity import Entity, Item
from graph.store.location import StoreLocation
from tests.domains.entities import documented
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

FAR = 20  # runs
MANY = 1000  # nodes

T = TypeVar("T")


# What is registered and reported


def day(number: int) -> date:
    """A day of January 2024."""
    return date(2024, 1, number)


def a_file(name: str, *days: int, type: str | None = None, **others: Any) -> NewFile:
    """A file of these days of January 2024, of Level 0 unless something else is said."""
    sortable = [SortableMetadata(type=type, applicable_dates=[day(number) for number in days])] if days else []
    return NewFile(**{"name": name, "level": "L0", "sortable": sortable, **others})


def a_calibration(name: str, version: str, *calibrates: str, **others: Any) -> NewFile:
    """A version of the calibration of `L0`, or of these products."""
    of = [CalibrationMetadata(each, version) for each in calibrates or ("L0",)]
    return NewFile(**{"name": name, "level": "CAL", "calibrations": of, **others})


def items(number: int, identifier: str = "PDS", **attributes: Any) -> list[AdditionalMetadata]:
    """So many additional items with the same identifier, each with its number."""
    return [AdditionalMetadata(identifier=identifier, attributes={"n": n, **attributes}) for n in range(number)]


def checksum(number: int) -> str:
    """A checksum of its own for each number."""
    return f"{number:032x}"


def names(count: int, of: str = "file") -> Sequence[str]:
    """The names of some files."""
    return [f"{of}{number:04}" for number in range(count)]


def run_id(number: int) -> str:
    """A UUID that names a run in tests."""
    return f"00000000-0000-4000-8000-{number:012}"


def used_file(text: str | UsedFile) -> UsedFile:
    """What a run used: `a` for the latest revision of a file, `a@1` for its first."""
    if isinstance(text, UsedFile):
        return text
    version = Version.of(text)
    return UsedFile(*version) if version else UsedFile(text)


def a_report(
    number: int | None = None, used: Iterable[str | UsedFile] = (), makes: Iterable[str | NewFile] = (), **told: Any
) -> RunReport:
    """A report of a run. A file that it makes has the same content each time, unless the file says otherwise."""
    return RunReport(
        **{"algorithm": "l1b", "run_id": None if number is None else run_id(number), **told},
        used=[used_file(each) for each in used],
        generated=[each if isinstance(each, NewFile) else NewFile(name=each) for each in makes],
    )


# What is stored


@dataclass
class FileStore:
    """The data files and runs of a database, as one process writes and reads them."""

    database: Database
    clock: HeldClock = field(default_factory=HeldClock)

    def __post_init__(self) -> None:
        self.registration = Registration(self.database, self.clock)
        self.files = DataFiles(self.database)
        self.calibrations = Calibrations(self.database)
        self.runs = Runs(self.database, self.clock)
        self.reader = Edges(self.database)

    async def register(self, *files: str | NewFile) -> RegistrationReport:
        """Register files in one call, none of which is rejected. A new revision needs a checksum."""
        new = [NewFile(name=file) if isinstance(file, str) else file for file in files]
        report = await self.registration.register(new)
        assert report.rejections == []
        return report

    async def run(self, number: int | None = None, **told: Any) -> Run:
        """Record a report of a run, see `a_report`."""
        return await self.runs.record(a_report(number, **told))

    async def found(self, number: int) -> Run | None:
        """A recorded run."""
        return (await self.runs.by_id([run_id(number)])).get(run_id(number))

    async def lineage(
        self, reference: str, direction: Direction = Direction.BOTH, depth: int = FAR, most: int = MANY
    ) -> Lineage:
        """The lineage of a version."""
        return await lineage_of(self.reader, version_of(reference), direction, depth, most)

    async def plan(self, *references: str) -> ReprocessingPlan:
        """What to make again after versions have changed."""
        return await plan_of(self.reader, [version_of(each) for each in references])

    async def identifiers(self, name: str) -> list[str]:
        """The identifiers of a file's further items, in order."""
        return [identifier_of(part) for part in (await self.files.parts([name])).get(name, [])]

    async def items(self, entity: Entity) -> list[Item]:
        """All stored items of an entity."""
        return [item async for item in self.database.scan(entity)]

    async def everything(self) -> list[Item]:
        """All items, as the documents describe them, in an order of their own."""
        stored = [documented(entity, item) for entity in ENTITIES for item in await self.items(entity)]
        return sorted(stored, key=lambda item: (item["PK"], item["SK"]))


@asynccontextmanager
async def data_files(engine: str, files: Sequence[NewFile] = ()) -> AsyncIterator[FileStore]:
    """Tables of their own, with these files."""
    clock = HeldClock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        ours = FileStore(database, clock)
        await ours.register(*files)
        yield ours


@asynccontextmanager
async def data_files_at(url: str) -> AsyncIterator[FileStore]:
    """The data files of an existing store, through a connection of their own, as another process has them."""
    clock = HeldClock()
    async with StoreLocation.of(url).open(ENTITIES, clock=clock, timeout_s=TIMEOUT_S) as database:
        yield FileStore(database, clock)


# What is read


def version_of(reference: str) -> Version:
    """The version that a reference names."""
    version = Version.of(reference)
    assert version is not None
    return version


def references(versions: Iterable[Version]) -> list[str]:
    """Versions as text."""
    return [version.reference for version in versions]


def distances(lineage: Lineage) -> dict[str, int]:
    """The nodes of a lineage, with their distances."""
    return {node.file.version.reference: node.distance for node in lineage.nodes}


def stages(plan: ReprocessingPlan) -> list[list[str]]:
    """The files of each stage, in order of their references."""
    return [
        sorted(planned.file.reference for group in stage.groups for planned in group.files) for stage in plan.stages
    ]


async def walked(
    page_of: Callable[[Paging], Awaitable[Page[T]]],
    place_of: Callable[[T], Any],
    size: int,
    *,
    backward: bool = False,
    between: Callable[[], Awaitable[object]] | None = None,
) -> list[T]:
    """All records of all pages, each of which must be full. What a page says of others is held by `tests/contracts`.

    Args:
        between: what happens between two pages.
    """
    found: list[T] = []
    at = None
    while True:
        page = await page_of(Paging(size, True, before=at) if backward else Paging(size, after=at))
        some = list(page.records)
        found = [*some, *found] if backward else [*found, *some]
        if not page.has_more:
            assert len(some) <= size
            return found
        assert len(some) == size
        at = place_of(some[0 if backward else -1])
        if between:
            await between()
