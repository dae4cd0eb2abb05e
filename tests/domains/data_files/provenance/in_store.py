"""Data files and runs to test with: `async with provenance(engine) as ours`, `await ours.run(1, used=…, makes=…)`."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from graph.core.clock import Clock
from graph.domains.data_files.entities import ENTITIES
from graph.domains.data_files.model import Run
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.lineage import Direction, Lineage, Lineages
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.provenance.reprocessing import Reprocessing, ReprocessingPlan
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.registering import Registration
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.location import StoreLocation
from tests.domains.entities import documented
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

FAR = 20  # runs
MANY = 1000  # nodes


def run_id(number: int) -> str:
    """A UUID that names a run in tests."""
    return f"00000000-0000-4000-8000-{number:012}"


def checksum(number: int) -> str:
    """A checksum of its own for each number."""
    return f"{number:032x}"


def version_of(reference: str) -> Version:
    """The version that a reference names."""
    version = Version.of(reference)
    assert version is not None
    return version


def used_file(text: str | UsedFile) -> UsedFile:
    """What a run used: `a` for the latest revision of a file, `a@1` for its first."""
    if isinstance(text, UsedFile):
        return text
    version = Version.of(text)
    return UsedFile(*version) if version else UsedFile(text)


def a_report(
    number: int | None = None,
    used: Iterable[str | UsedFile] = (),
    makes: Iterable[str | NewFile] = (),
    **told: Any,
) -> RunReport:
    """A report of a run. A file that it makes has the same content each time, unless the file says otherwise."""
    return RunReport(
        **{"algorithm": "l1b", "run_id": None if number is None else run_id(number), **told},
        used=[used_file(each) for each in used],
        generated=[each if isinstance(each, NewFile) else NewFile(name=each) for each in makes],
    )


@dataclass
class ProvenanceStore:
    """The data files and runs of a database, as one process writes and reads them."""

    database: Database
    clock: Clock = field(default_factory=HeldClock)

    def __post_init__(self) -> None:
        self.runs = Runs(self.database, self.clock)
        self.files = DataFiles(self.database)
        self.lineages = Lineages(self.database)
        self.reprocessing = Reprocessing(self.database)
        self.registration = Registration(self.database, self.clock)

    async def register(self, *files: str | NewFile) -> None:
        """Register files. A new revision needs a checksum."""
        new = [NewFile(name=file) if isinstance(file, str) else file for file in files]
        report = await self.registration.register(new)
        assert not report.rejections

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
        return await self.lineages.of(version_of(reference), direction, depth, most)

    async def plan(self, *references: str) -> ReprocessingPlan:
        """What to make again after versions have changed."""
        return await self.reprocessing.plan([version_of(each) for each in references])

    async def everything(self) -> list[Item]:
        """All items, as the documents describe them, in an order of their own."""
        items = [documented(entity, item) for entity in ENTITIES async for item in self.database.scan(entity)]
        return sorted(items, key=lambda item: (item["PK"], item["SK"]))


def references(versions: Iterable[Version]) -> list[str]:
    """Versions as text."""
    return [version.reference for version in versions]


def distances(lineage: Lineage) -> dict[str, int]:
    """The nodes of a lineage, with their distances."""
    return {node.revision.version.reference: node.distance for node in lineage.nodes}


def stages(plan: ReprocessingPlan) -> list[list[str]]:
    """The files of each stage, in order of their references."""
    return [
        sorted(planned.version.reference for group in stage.groups for planned in group.files) for stage in plan.stages
    ]


def names(count: int, of: str = "file") -> Sequence[str]:
    """The names of some files."""
    return [f"{of}{number:04}" for number in range(count)]


@asynccontextmanager
async def provenance(engine: str) -> AsyncIterator[ProvenanceStore]:
    """The data files of tables of their own, which are empty."""
    clock = HeldClock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        yield ProvenanceStore(database, clock)


@asynccontextmanager
async def provenance_at(url: str) -> AsyncIterator[ProvenanceStore]:
    """The data files of an existing store, through a connection of their own."""
    clock = HeldClock()
    async with StoreLocation.of(url).open(ENTITIES, clock=clock, timeout_s=TIMEOUT_S) as database:
        yield ProvenanceStore(database, clock)
