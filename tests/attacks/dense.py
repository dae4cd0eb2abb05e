"""A catalogue with many events on few days, and a service over it whose loop counts its iterations."""

import asyncio
import io
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import orjson
from pydantic import SecretStr
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.app import create_app
from graph.core.days import DAY_MS
from graph.domains import DOMAINS
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.opening import open_services
from tests.bearers import SECRET, bearer
from tests.domains.earthquakes.builders import at
from tests.service import Service, serving
from tests.settings import Settings

EVENTS = 60_000  # unless a test has fewer
DAYS = 60
FIRST = at("2020-01-01")


def points(events: int = EVENTS) -> Iterator[list[float]]:
    """Longitude, latitude and depth of each event."""
    chance = random.Random(7)
    for _ in range(events):
        yield [chance.uniform(-180, 180), chance.uniform(-90, 90), 8.0]


def features(events: int = EVENTS) -> Iterator[bytes]:
    """The events, a GeoJSON feature a line."""
    chance = random.Random(8)
    for number, point in enumerate(points(events)):
        time_ms = FIRST + number * DAYS * DAY_MS // events
        properties = {"mag": round(chance.expovariate(2), 1), "place": "Dense", "time": time_ms, "type": "earthquake"}
        feature = {"type": "Feature", "id": f"d{number:05}", "properties": properties}
        yield orjson.dumps({**feature, "geometry": {"type": "Point", "coordinates": point}}) + b"\n"


def fill(path: Path, events: int = EVENTS) -> None:
    """Write the events into a new SQLite file."""

    async def ingest() -> None:
        async with open_services(Settings(store=f"sqlite:///{path}"), DOMAINS) as services:
            assert (await services.of(Ingest).file(io.BytesIO(b"".join(features(events))))).upserted == events

    asyncio.run(ingest())


@dataclass
class Turns:
    """ASGI middleware that counts the iterations of the service's event loop, once it is told to begin."""

    app: ASGIApp
    number: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _counting: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""
        self._loop = asyncio.get_running_loop()
        await self.app(scope, receive, send)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count while a test attacks."""
        assert self._loop is not None
        self._counting = True
        self._loop.call_soon_threadsafe(self._count)
        try:
            yield
        finally:
            self._counting = False

    def _count(self) -> None:
        self.number += 1
        if self._counting and self._loop:
            self._loop.call_soon(self._count)


@dataclass(frozen=True)
class DenseService(Service):
    """The service over the dense catalogue."""

    turns: Turns


@contextmanager
def dense_service(folder: Path, dense_file: Path, **others: object) -> Iterator[DenseService]:
    """A service over a copy of the file."""
    copied = shutil.copy(dense_file, folder / "dense.db")
    settings = Settings(store=f"sqlite:///{copied}", jwt_secret=SecretStr(SECRET)).model_copy(update=others)
    turns = Turns(create_app(settings))
    with serving(turns) as url, httpx.Client(base_url=url, headers=bearer(), timeout=120) as http:
        http.get("/healthz")
        yield DenseService(url, http, turns)
