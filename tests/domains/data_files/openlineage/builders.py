"""Events as a scheduler sends them, and what a store makes of them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from graph.core.clock import Clock
from graph.domains.data_files.entities import ENTITIES, FILE_REVISION
from graph.domains.data_files.model import FileRevision, Run
from graph.domains.data_files.openlineage.intake import LineageIntake, Taken
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.registering import Registration
from graph.store.contract import Database
from graph.store.query import Query
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

PRODUCER = "https://example.org/scheduler/1.0"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def run_id(number: int) -> str:
    """The id of a run."""
    return str(UUID(int=(0x0190C6A0 << 96) + (7 << 76) + (2 << 62) + number))


def dataset(name: str, version: str | None = None, namespace: str = "s3://archive", **facets: Any) -> dict[str, Any]:
    """A dataset."""
    if version is not None:
        facets["version"] = {"_producer": PRODUCER, "_schemaURL": SCHEMA, "datasetVersion": version}
    return {"namespace": namespace, "name": name, "facets": facets}


def run_event(
    number: int, type_: str, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), **others: Any
) -> dict[str, Any]:
    """An event of a run."""
    return {
        "eventType": type_,
        "eventTime": f"2024-01-01T0{('START', 'RUNNING').index(type_) if type_ in ('START', 'RUNNING') else 3}:00:00Z",
        "run": {"runId": run_id(number)},
        "job": {"namespace": "airflow", "name": "calibrate"},
        "inputs": [each if isinstance(each, dict) else dataset(each) for each in inputs],
        "outputs": [each if isinstance(each, dict) else dataset(each) for each in outputs],
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
        **others,
    }


@dataclass(frozen=True)
class Receiver:
    """An intake of events, and its store."""

    database: Database
    intake: LineageIntake
    runs: Runs

    async def take(self, *events: Any) -> Taken:
        """Take in events in a request of their own each."""
        taken = Taken(0)
        for event in events:
            taken = await self.intake.take(orjson.dumps(event), _free, is_gzip=False)
        return taken

    async def revisions(self) -> dict[Version, FileRevision]:
        """All revisions of the files that the runs of the store name."""
        return {each.version: each for each in await self._all_revisions()}

    async def _all_revisions(self) -> list[FileRevision]:
        names = {version.name for run in await self.all_runs() for version in (*run.used, *run.generated)}
        page = await self.database.query(Query(entity=FILE_REVISION, partitions=[(name,) for name in sorted(names)]))
        return [FileRevision(item) for item in page.items]

    async def all_runs(self, most: int = 20) -> list[Run]:
        """The recorded ones of the first runs."""
        found = await self.runs.by_id([run_id(number) for number in range(most)])
        return list(found.values())

    async def edges(self) -> set[tuple[str, str, str]]:
        """What runs used and generated: (the run's last digits, relation, version of a file)."""
        return {
            (run.run_id[-2:], relation, version.reference.removeprefix("s3://archive#"))
            for run in await self.all_runs()
            for relation, versions in (("used", run.used), ("generated", run.generated))
            for version in versions
        }


async def _free(datasets: int) -> None:
    """Charge nothing."""


def receiver(database: Database, clock: Clock) -> Receiver:
    """An intake of its own, as another process has it."""
    files, registration, runs = DataFiles(database), Registration(database, clock), Runs(database, clock)
    return Receiver(database, LineageIntake(files, registration, runs), runs)


@asynccontextmanager
async def empty_receiver(engine: str) -> AsyncIterator[Receiver]:
    """An intake with an empty store."""
    clock = HeldClock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        yield receiver(database, clock)
