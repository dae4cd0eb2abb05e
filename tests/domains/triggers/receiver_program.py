"""`docs/webhook_receiver.py` as a process, and a server before it that records what it passes on."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx

from tests.bearers import bearer
from tests.children import Child
from tests.documents.markdown import ROOT
from tests.processes import TIMEOUT_S, environment

PROGRAM = ROOT / "docs" / "webhook_receiver.py"
TOKEN = bearer()["Authorization"].removeprefix("Bearer ")


@dataclass
class Program:
    """The running program."""

    process: Child[str]
    url: str

    def next_event(self) -> dict[str, Any]:
        """The next event that it prints."""
        assert self.process.stdout is not None
        event: dict[str, Any] = json.loads(self.process.stdout.readline())
        return event

    def end(self) -> str:
        """Stop it. Returns what it has printed since."""
        assert self.process.stdout is not None
        self.process.terminate()
        assert self.process.wait(TIMEOUT_S) == 0
        return self.process.stdout.read()


@contextmanager
def receiving(graph: str, endpoint_id: str, secret: str, folder: Path) -> Iterator[Program]:
    """Run the program for an endpoint, with its memory in a folder."""
    variables = {
        "WEBHOOK_SECRET": secret,
        "ENDPOINT_ID": endpoint_id,
        "QUAKEGRAPH_TOKEN": TOKEN,
        "QUAKEGRAPH_URL": graph,
        "PORT": "0",
        "NO_PROXY": "127.0.0.1",
    }
    with Child(
        [sys.executable, str(PROGRAM)],
        cwd=folder,
        env={**environment(), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        yield Program(process, process.stderr.readline().removeprefix("Receiving at ").strip())


class Gateway(ThreadingHTTPServer):
    """Takes webhooks: it passes them on to a program, or else answers with a status."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.program: Program | None = None
        self.status = 500
        self.bodies: list[dict[str, Any]] = []
        self.ids: list[str] = []  # of the webhooks

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Gateway

    def do_POST(self) -> None:
        body, status = self.rfile.read(int(self.headers["Content-Length"])), self.server.status
        self.server.bodies.append(json.loads(body))
        self.server.ids.append(self.headers["webhook-id"])
        if program := self.server.program:
            headers = {name: value for name, value in self.headers.items() if name.startswith("webhook-")}
            status = httpx.post(program.url, content=body, headers=headers, trust_env=False).status_code
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log no requests."""


@contextmanager
def gateway() -> Iterator[Gateway]:
    """Run a gateway."""
    with Gateway() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
