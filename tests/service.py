"""The whole service for tests: real HTTP on a free port of this machine, with its own store.

It runs in a thread with its own event loop, from start-up to shutdown. So a test sends requests as any
client does, and finds the service's data in the store after the shutdown.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from pydantic import SecretStr
from starlette.types import ASGIApp

from graph.app import create_app
from graph.core.clock import Clock, now_ms
from graph.domain import Domain, scopes_of
from graph.domains import DOMAINS
from graph.settings import Settings as CoreSettings
from tests.bearers import SECRET, bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, running_usgs
from tests.domains.entities import ENTITIES
from tests.processes import TIMEOUT_S, TIMEOUTS
from tests.server_thread import in_thread
from tests.settings import Settings
from tests.sharing import folder_of_run, made_once
from tests.store.engines import make_tables
from tests.store.samples import HeldClock


def pytest_configure() -> None:
    os.environ.update(TIMEOUTS)


@dataclass(frozen=True)
class Service:
    """A running service, and a client of it."""

    url: str
    http: httpx.Client

    def answer(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The body of the answer to a query or mutation."""
        answer = self.http.post("/graphql", json={"query": query, "variables": variables})
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def ask(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The data of the answer, which must have no errors."""
        body = self.answer(query, variables)
        assert body.keys() == {"data"}, body
        data: dict[str, Any] = body["data"]
        return data

    def nodes(
        self, query: str, variables: Mapping[str, Any] | None = None, *, size: int = 1, backward: bool = False
    ) -> list[dict[str, Any]]:
        """All nodes of a query's one connection, in its order, from pages that are full but for the last one."""
        most, place, end = ("last", "before", "startCursor") if backward else ("first", "after", "endCursor")
        more, behind = ("hasPreviousPage", "hasNextPage") if backward else ("hasNextPage", "hasPreviousPage")
        nodes, info = list[dict[str, Any]](), {more: True, end: None}
        while info[more]:
            is_later = info[end] is not None
            (page,) = self.ask(query, {**(variables or {}), most: size, place: info[end]}).values()
            nodes, info = page["nodes"] + nodes if backward else nodes + page["nodes"], page["pageInfo"]
            assert len(page["nodes"]) == size or not info[more]
            assert info.get(behind, is_later) is is_later
        return nodes

    def codes(self, query: str, variables: Mapping[str, Any] | None = None) -> list[str]:
        """The codes of the answer's errors."""
        return [error["extensions"]["code"] for error in self.answer(query, variables)["errors"]]


@contextmanager
def running(settings: CoreSettings, *, clock: Clock = now_ms, domains: Sequence[Domain] = DOMAINS) -> Iterator[Service]:
    """Run the service with these settings, from its start to the end of its shutdown.

    Unless they name keys, tokens are signed with the tests' secret. The client's token has every scope.
    """
    if settings.jwt_secret is None and settings.jwks_url is None:
        settings = settings.model_copy(update={"jwt_secret": SecretStr(SECRET)})
    app = create_app(settings, domains=domains, clock=clock)
    with (
        serving(app) as url,
        httpx.Client(base_url=url, headers=bearer(*scopes_of(domains)), timeout=TIMEOUT_S) as http,
    ):
        yield Service(url, http)


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Run an application on a free port. Yields the URL of its root."""
    config = uvicorn.Config(
        app, lifespan="on", ws="websockets-sansio", server_header=False, access_log=False, log_config=None
    )
    with in_thread(uvicorn.Server(config)) as url:
        yield url


def settings(store: Path, usgs: UsgsServer, **others: Any) -> Settings:
    """Settings for a SQLite file, with the tests' USGS in place of the real one."""
    return Settings(store=f"sqlite:///{store}", usgs_url=usgs.url, **others)


@pytest.fixture(scope="session")
def _usgs() -> Iterator[UsgsServer]:
    with running_usgs() as usgs:
        yield usgs


@pytest.fixture
def usgs(_usgs: UsgsServer) -> Iterator[UsgsServer]:
    """The tests' USGS server, without earlier requests. What a test has set ends with it: others ingest the week."""
    _usgs.forget()
    yield _usgs
    _usgs.forget()


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def service(tmp_path: Path, usgs: UsgsServer, clock: HeldClock) -> Iterator[Service]:
    """A service whose catalogue is empty."""
    with running(settings(tmp_path / "empty.db", usgs), clock=clock) as service:
        yield service


@pytest.fixture(scope="session")
def week_file(tmp_path_factory: pytest.TempPathFactory, _usgs: UsgsServer) -> Path:
    """A SQLite file with the real week, for copies. No process writes to it."""

    def ingest(path: Path) -> None:
        with running(settings(path, _usgs), clock=HeldClock()) as service:
            service.ask("mutation { ingestRecent(input: {feed: ALL_WEEK}) { upserted } }")

    return made_once(folder_of_run(tmp_path_factory) / "week.db", ingest)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory, week_file: Path, _usgs: UsgsServer) -> Iterator[Service]:
    """A service with the real week, for tests that only read."""
    copied = tmp_path_factory.mktemp("shared") / "week.db"
    shutil.copy(week_file, copied)
    with running(settings(copied, _usgs), clock=HeldClock()) as service:
        yield service


@pytest.fixture(scope="module")
def week_on_dynamodb(
    tmp_path_factory: pytest.TempPathFactory, dynamodb_endpoint: str, _usgs: UsgsServer
) -> Iterator[Service]:
    """A service with the real week on DynamoDB's emulator, for tests that only read.

    It asks for changes once a second. So it ends with its module: tests of memory would see its garbage.
    """

    def ingest(note: Path) -> None:
        prefix = make_tables(ENTITIES)
        with running(Settings(store=f"dynamodb://{prefix}", usgs_url=_usgs.url), clock=HeldClock()) as service:
            service.ask("mutation { ingestRecent(input: {feed: ALL_WEEK}) { upserted } }")
        note.write_text(prefix)

    at = urlsplit(dynamodb_endpoint).port  # an emulator that only one process uses has its own week
    prefix = made_once(folder_of_run(tmp_path_factory) / f"week-at-{at}", ingest).read_text()
    with running(Settings(store=f"dynamodb://{prefix}", usgs_url=_usgs.url), clock=HeldClock()) as service:
        yield service


@pytest.fixture
def own_week(tmp_path: Path, week_file: Path, usgs: UsgsServer, clock: HeldClock) -> Iterator[Service]:
    """A service with the real week, for one test, which may change it."""
    copied = tmp_path / "week.db"
    shutil.copy(week_file, copied)
    with running(settings(copied, usgs), clock=clock) as service:
        yield service
