"""Data files as other programs write them: `DOCUMENTED`, every example of the document, and files of tests."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from graph.core.services import Services
from graph.domain import Resources
from graph.domains.data_files import DOMAIN
from graph.domains.data_files.checking import drafted
from graph.domains.data_files.entities import ENTITIES, LIBERA_METADATA
from graph.domains.data_files.new_files import NewFile
from graph.store.conditions import predicate
from graph.store.entity import Item
from tests.domains.data_files.followed import RawTable
from tests.domains.data_files.in_store import FileStore
from tests.store.engines import make_tables, open_dynamodb
from tests.store.samples import HeldClock

DOCUMENTED: list[dict[str, Any]] = [
    {
        "PK": "Example_file.nc",
        "SK": "#",
        "archive-time": "2024-01-01 00:00:00",
        "algorithm-version": "1.0.0",
    },
    {"PK": "Example_file.nc", "SK": "#L0#SPICE#AZ", "applicable-date": "2024-01-01"},
    {
        "PK": "L0_CONS_file.PDS",
        "SK": "#",
        "ingest-time": "2024-01-01 00:00:00",
        "archive-time": "2024-01-01 00:01:00",
        "algorithm-version": "1.0.0",
    },
    {
        "PK": "L0_CONS_file.PDS",
        "SK": "#L0#APID11",
        "applicable-date": "2024-01-01",
        "first-packet-time": "2024-01-01 00:00:00",
        "last-packet-time": "2024-01-01 00:00:00",
        "missing-packet-count": 0,
        "filled-gap-count": 0,
    },
    {"PK": "L0_CONS_file.PDS", "SK": "#PDS", "filename": "L0_PDS_file.PDS"},
    {"PK": "L0_CONS_file.PDS", "SK": "#APID11", "edos-version": "1.0.0", "SCID": 1, "APID": 11},
    {
        "PK": "L0_file.nc",
        "SK": "#",
        "ingest-time": "2024-01-01 00:00:00",
        "archive-time": "2024-01-01 00:01:00",
        "algorithm-version": "1.0.0",
    },
    {
        "PK": "Example_calibration_file.nc",
        "SK": "#CAL#L0",
        "archive-time": "2024-01-01 00:00:00",
        "calibration-version": "1.0.0",
    },
]

_ATTRIBUTES = (
    "applicable-date",
    "first-packet-time",
    "last-packet-time",
    "missing-packet-count",
    "filled-gap-count",
    "archive-time",
    "calibration-version",
)


def as_documented(file: NewFile) -> Iterator[dict[str, Any]]:
    """The items of a file as the document has them, with nothing of ours. A calibration has no item of its own."""
    if not file.calibrations:
        version = {"algorithm-version": file.algorithm_version} if file.algorithm_version else {}
        yield {"PK": file.name, "SK": "#", "archive-time": "2024-01-01 00:00:00", **version}
    for identifier, part in drafted(file).parts.items():
        known = {name: value for name, value in part.items() if name in _ATTRIBUTES}
        yield {"PK": file.name, "SK": f"#{identifier}", **known}


@asynccontextmanager
async def foreign_files(
    items: Sequence[Item] = (), *, adopted: bool = False
) -> AsyncIterator[tuple[FileStore, RawTable]]:
    """A table in which another program has written items, and the service's own view of it."""
    prefix, clock = make_tables(ENTITIES), HeldClock()
    raw = RawTable(LIBERA_METADATA, prefix)
    raw.put(*items)
    async with open_dynamodb(ENTITIES, prefix=prefix, clock=clock) as database:
        ours = FileStore(database, clock)
        if adopted:
            await adopt_all(ours)
        yield ours, raw


async def adopt_all(ours: FileStore) -> int:
    """Adopt all foreign items. Returns their number."""
    services, count = Services(), 0
    services.add(SimpleNamespace(database=ours.database), Resources)
    for adoption in reversed(DOMAIN.adoptions):
        is_foreign = predicate(adoption.foreign)
        found = [item async for item in ours.database.scan(adoption.entity) if is_foreign(item)]
        await adoption.adopt(services, found)
        count += len(found)
    return count
