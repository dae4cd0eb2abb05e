"""The whole service to test against: real HTTP on a free port of this machine, on a store of its own.

It runs in a thread with an event loop of its own, from start-up to shutdown, so a test asks it as
any client does and finds in the store what a stopped service left there.
"""

import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp

from graph.app import create_app, load_sample, open_parts
from graph.clock import Clock, now_ms
from graph.settings import Settings
from tests.earthquakes.usgs_server import UsgsServer, running_usgs


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

    def codes(self, query: str, variables: Mapping[str, Any] | None = None) -> list[str]:
        """The codes of the answer's errors."""
        return [error["extensions"]["code"] for error in self.answer(query, variables)["errors"]]


@contextmanager
def running(settings: Settings, *, clock: Clock = now_ms) -> Iterator[Service]:
    """The service with these settings, from its start to the end of its shutdown."""
    with serving(create_app(settings, clock=clock)) as url, httpx.Client(base_url=url, timeout=30) as http:
        yield Service(url, http)


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """An application on a free port, as the URL of its root."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, lifespan="on", ws="none", server_header=False, access_log=False, log_config=None)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()  # no need to wait: a connection made before it accepts stands in the listener's queue
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
