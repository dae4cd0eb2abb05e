"""A catalogue that is larger than what a connection's buffers hold."""

import asyncio
import io
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import orjson
import pytest

from graph.core.days import DAY_MS
from graph.domains import DOMAINS
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.opening import open_services
from tests.domains.earthquakes.builders import at
from tests.domains.earthquakes.ingest.ingests import a_feature
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings
from tests.settings import Settings
from tests.sharing import folder_of_run, made_once
from tests.store.samples import NOON, HeldClock

FIRST_DAY = at("2020-01-01")
LONG = 15_000  # events, on 60 days: 9 MB of NDJSON


def fill(path: Path, events: int) -> None:
    """Write so many events on 60 days into a new SQLite file."""
    times = (FIRST_DAY + number * 60 * DAY_MS // events for number in range(events))
    features = (a_feature(f"d{number:05}", time=time, mag=number % 50 / 10) for number, time in enumerate(times))
    lines = io.BytesIO(b"".join(orjson.dumps(feature) + b"\n" for feature in features))

    async def ingest() -> None:
        async with open_services(Settings(store=f"sqlite:///{path}"), DOMAINS, clock=HeldClock()) as services:
            assert (await services.of(Ingest).file(lines)).upserted == events

    asyncio.run(ingest())


@pytest.fixture(scope="session")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with 15,000 events, to be copied."""
    return made_once(folder_of_run(tmp_path_factory) / "long.db", partial(fill, events=LONG))


@pytest.fixture
def long_catalogue(tmp_path: Path, long_file: Path, usgs: UsgsServer) -> Iterator[Service]:
    """A service with 15,000 events, for one test, which may change it. Its clock moves on whenever it is read."""
    (tmp_path / "long.db").write_bytes(long_file.read_bytes())
    with running(settings(tmp_path / "long.db", usgs), clock=partial(next, count(NOON + 1000))) as service:
        yield service
