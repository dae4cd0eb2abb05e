"""`quakegraph` as a process of its own, as people and supervisors run it, or in this one where that will do.

No way leads to the real USGS: a test that wants events names its own server.
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

NOWHERE = "http://127.0.0.1:9"  # where nobody listens
PATIENCE_S = 60  # after which a process counts as hung


def environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with these settings of the service and no other."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GRAPH_")}
    return {**inherited, "GRAPH_USGS_URL": NOWHERE, "GRAPH_JWT_SECRET": SECRET, **(settings or {})}


def quakegraph(*arguments: str, settings: Mapping[str, str] | None = None, stdin: bytes = b"") -> Result:
    """What the command does in this process and in the working folder."""
    left_out: dict[str, str | None] = {name: None for name in os.environ if name.startswith("GRAPH_")}
    env = {**left_out, "GRAPH_USGS_URL": NOWHERE, "GRAPH_JWT_SECRET": SECRET, **(settings or {})}
    runner = CliRunner(catch_exceptions=False)
    return runner.invoke(main, arguments, prog_name="quakegraph", env=env, input=stdin)


def started(
    *arguments: str, folder: Path, settings: Mapping[str, str] | None = None, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    """A process that has just begun, in that folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "graph", *arguments],
        cwd=folder,
        env=environment(settings),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass
class Server:
    """A `quakegraph serve` that has said where it listens."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)  # lines of standard error
    _lines: queue.SimpleQueue[str | None] = field(default_factory=queue.SimpleQueue)

    @property
    def url(self) -> str:
        """Where the graph is."""
        return self.address.partition("#")[0]

    @property
    def address(self) -> str:
        """Where a browser is sent, with the token in its fragment if there is one."""
        return next(match[1] for line in self.said if (match := re.fullmatch(r"GraphiQL: (http://\S+)", line)))

    def hear(self, text: str, *, times: int = 1) -> None:
        """Wait until so many lines with that text were said."""
        while sum(text in line for line in self.said) < times:
            line = self._lines.get(timeout=PATIENCE_S)
            if line is None:
                raise AssertionError(f"it ended without saying {text!r}:\n" + "\n".join(self.said))
            self.said.append(line)

    def hear_out(self) -> None:
        """Wait for the last of what it says."""
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            self.said.append(line)

    def read(self) -> None:
        """Take in what it says, for as long as it runs."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def ask(self, query: str, *, timeout: float = PATIENCE_S) -> httpx.Response:
        """Send one query over a connection of its own."""
        return httpx.post(self.url, json={"query": query}, headers=bearer(), timeout=timeout, trust_env=False)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send the signal, and wait for the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def serving(*options: str, folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """`quakegraph serve` on a free port, from its first line to its end, which comes at the latest with the `with`."""
    with started("serve", "--port", "0", *options, folder=folder, settings=settings) as process:
        server = Server(process)
        reader = Thread(target=server.read)
        reader.start()
        try:
            server.hear("GraphiQL: ")
            yield server
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(PATIENCE_S)
                except subprocess.TimeoutExpired:
                    process.kill()
            reader.join()
