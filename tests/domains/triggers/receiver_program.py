"""`docs/webhook_receiver.py` as a process, and a server before it that records what it passes on."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.bearers import bearer
from tests.children import Child
from tests.documents.markdown import ROOT
from tests.processes import TIMEOUT_S, environment
from tests.service import serving

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


@dataclass
class Gateway:
    """Takes webhooks: it passes them on to a program, or else answers with a status."""

    url: str = ""
    program: Program | None = None
    status: int = 500
    bodies: list[dict[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)  # of the webhooks

    async def take(self, request: Request) -> Response:
        body, status = await request.body(), self.status
        self.bodies.append(json.loads(body))
        self.ids.append(request.headers["webhook-id"])
        if self.program:
            headers = {name: value for name, value in request.headers.items() if name.startswith("webhook-")}
            async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as client:
                status = (await client.post(self.program.url, content=body, headers=headers)).status_code
        return Response(status_code=status)


@contextmanager
def gateway() -> Iterator[Gateway]:
    """Run a gateway."""
    gateway = Gateway()
    with serving(Starlette(routes=[Route("/", gateway.take, methods=["POST"])])) as url:
        gateway.url = f"{url}/"
        yield gateway
