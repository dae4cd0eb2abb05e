"""Runs `quakegraph` in a process of its own, as people and supervisors do, or in this process where that is enough.

The real USGS is never reached. A test that needs events sets the address of its own server.
"""

import os
import queue
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import httpx
from click.testing import CliRunner, Result

from graph.cli import main
from tests.bearers import SECRET, bearer
from tests.children import Child as Child
from tests.children import Fork

NOWHERE = "http://127.0.0.1:9"  # no server listens there
TIMEOUTS = {
    "GRAPH_STORE_TIMEOUT": "60",
    "GRAPH_EXECUTION_TIMEOUT": "600",
    "GRAPH_INGEST_TIMEOUT": "3600",
    "GRAPH_REQUEST_TIMEOUT": "600",
}
"""Timeouts that even a busy machine never reaches. A test about a timeout sets that one."""

SETTINGS = {
    "GRAPH_USGS_URL": NOWHERE,
    "GRAPH_JWT_SECRET": SECRET,
    **TIMEOUTS,
    "GRAPH_DRAIN": "0",  # no load balancer needs time to notice
}
if "GRAPH_COMPILED" in os.environ:  # `GRAPH_COMPILED=false pytest` tests everything on graphql-core alone
    SETTINGS["GRAPH_COMPILED"] = os.environ["GRAPH_COMPILED"]
TIMEOUT_S = 120  # after which anything counts as hung; on a busy machine, a second of work may take a minute


def environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with `SETTINGS` and these settings of the service, and no others.

    A child writes its bytecode, even if this process does not: compiling everything again takes a quarter of a
    second at each start.
    """
    kept = (name for name in os.environ if not name.startswith("GRAPH_") and name != "PYTHONDONTWRITEBYTECODE")
    inherited = {name: os.environ[name] for name in kept}
    return {**inherited, **SETTINGS, **(settings or {})}


def quakegraph(*arguments: str, settings: Mapping[str, str] | None = None, stdin: bytes = b"") -> Result:
    """Run the command in this process and in the working folder."""
    left_out: dict[str, str | None] = {name: None for name in os.environ if name.startswith("GRAPH_")}
    env = {**left_out, **SETTINGS, **(settings or {})}
    runner = CliRunner(catch_exceptions=False)
    return runner.invoke(main, arguments, prog_name="quakegraph", env=env, input=stdin)


def started(
    *arguments: str,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
    background: bool = False,
) -> Child[str]:
    """Start a process in a folder; with `background`, as a shell starts it in the background."""
    command = [sys.executable, "-m", "graph", *arguments]
    return Child(
        in_background(*command) if background else command,
        cwd=folder,
        env=environment(settings),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def in_background(*command: str) -> list[str]:
    """The command with SIGINT ignored, as a shell without job control runs it in the background."""
    return ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]


@dataclass
class Server:
    """A `quakegraph serve` that has printed its address."""

    process: Child[str] | Fork
    output: list[str] = field(default_factory=list)  # lines of standard error so far
    _lines: queue.SimpleQueue[str | None] = field(default_factory=queue.SimpleQueue)

    @property
    def url(self) -> str:
        """The address of the graph."""
        return self.address.partition("#")[0]

    @property
    def address(self) -> str:
        """The address for a browser, with the token in its fragment if there is one."""
        return next(match[1] for line in self.output if (match := re.fullmatch(r"GraphiQL: (http://\S+)", line)))

    def wait_for_output(self, text: str, *, times: int = 1) -> None:
        """Wait until this number of lines with the text were printed."""
        while sum(text in line for line in self.output) < times:
            line = self._lines.get(timeout=TIMEOUT_S)
            if line is None:
                raise AssertionError(f"it ended without printing {text!r}:\n" + "\n".join(self.output))
            self.output.append(line)

    def read_to_end(self) -> None:
        """Wait for the rest of its output."""
        while (line := self._lines.get(timeout=TIMEOUT_S)) is not None:
            self.output.append(line)

    def read(self) -> None:
        """Read its output until it ends."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def ask(self, query: str, *, timeout: float = TIMEOUT_S) -> httpx.Response:
        """Send one query over a new connection."""
        return httpx.post(self.url, json={"query": query}, headers=bearer(), timeout=timeout, trust_env=False)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send the signal, and wait for the exit status."""
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_S)


@contextmanager
def serving(
    *options: str, folder: Path, settings: Mapping[str, str] | None = None, background: bool = False
) -> Iterator[Server]:
    """Run `quakegraph serve` on a free port. It ends at the end of the `with`, if not before."""
    with (
        started("serve", "--port", "0", *options, folder=folder, settings=settings, background=background) as process,
        printing_its_address(process) as server,
    ):
        yield server


@contextmanager
def printing_its_address(process: Child[str] | Fork) -> Iterator[Server]:
    """The server that a process of `quakegraph serve` is. It ends at the end of the `with`, if not before."""
    server = Server(process)
    reader = Thread(target=server.read)
    reader.start()
    try:
        server.wait_for_output("GraphiQL: ")
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
        reader.join()
