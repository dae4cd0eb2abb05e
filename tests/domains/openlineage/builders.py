"""Events as a scheduler sends them, and what a store makes of them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import orjson

from graph.domains.data_files.entities import ENTITIES, FILE_REVISION, RUN
from graph.domains.data_files.model import FileRevision, Run
from graph.domains.data_files.references import Version
from graph.domains.openlineage.intake import LineageIntake
from tests.domains.data_files.in_store import FileStore
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


class Receiver(FileStore):
    """The data files of a database, and an intake of events."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.intake = LineageIntake(self.files, self.registration, self.runs)

    async def take(self, *events: Any) -> list[str]:
        """Take in events in a request of their own each. Returns the warnings."""
        taken = [await self.intake.take(orjson.dumps(event), _free, is_gzip=False) for event in events]
        return [message for each in taken for _, message in each.warnings]

    async def revisions(self) -> dict[Version, FileRevision]:
        """All revisions of all files."""
        return {each.version: each for each in map(FileRevision, await self.items(FILE_REVISION))}

    async def all_runs(self) -> list[Run]:
        """The recorded runs."""
        return [Run(item) for item in await self.items(RUN)]

    async def edges(self) -> set[str]:
        """What runs used and generated: `1 used raw.nc@1`, with the number of the run."""
        return {
            f"{int(run.run_id[-4:], 16)} {relation} {version.reference.removeprefix('s3://archive#')}"
            for run in await self.all_runs()
            for relation, versions in (("used", run.used), ("generated", run.generated))
            for version in versions
        }


async def _free(datasets: int) -> None:
    """Charge nothing."""


@asynccontextmanager
async def receiving(engine: str) -> AsyncIterator[Receiver]:
    """An intake with an empty store."""
    clock = HeldClock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        yield Receiver(database, clock)
