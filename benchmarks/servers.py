"""A running server, its use of processor time and memory, and a connection to it.

Only the server that is being measured is awake. SIGSTOP stops the others. Otherwise, their late work would disturb the
next measurement: Node, for example, collects its garbage seconds later.
"""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from benchmarks.cache import CHECKOUT
from benchmarks.contenders import Contender
from benchmarks.cpus import on_cpu

TIMEOUT_S = 60  # for a server to start, to become idle, or to end
POLL_S = 0.1
IDLE_S = 0.02  # a server that uses less CPU time between two polls counts as idle
JSON = {"Content-Type": "application/json"}


class Refused(Exception):
    """A request was not answered with data. The message has the answer."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens."""

    contender: Contender
    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self) -> str:
        """The address of its graph."""
        return f"http://127.0.0.1:{self.port}/graphql"

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Wake the server for the time of the `with`, and wait until it is idle before and after."""
        self.process.send_signal(signal.SIGCONT)
        self._settle()
        try:
            yield
            self._settle()
        finally:
            self.process.send_signal(signal.SIGSTOP)

    def memory_mb(self) -> float:
        """Its resident set, MB of a million bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return int(fields["VmRSS"].split()[0]) * 1024 / 1e6

    def _settle(self) -> None:
        """Wait until the server is idle, so that no work is left over for the next measurement."""
        for _ in range(round(TIMEOUT_S / POLL_S)):
            before = self.cpu_seconds()
            time.sleep(POLL_S)
            if self.cpu_seconds() - before <= IDLE_S:
                return

    def cpu_seconds(self) -> float:
        """Processor time that it has used, user and system, to a clock tick."""
        return _cpu_seconds(self.process.pid)

    def workers_cpu_seconds(self) -> list[float]:
        """Processor time that each process has used which it has started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [_cpu_seconds(int(child)) for child in children]


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Connection:
    """One connection to a server, kept open."""

    def __init__(self, server: Server, headers: Mapping[str, str] | None = None) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
        self._headers = JSON | dict(headers or {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def post(self, body: bytes, headers: Mapping[str, str] | None = None, path: str = "/graphql") -> bytes:
        """Send a request, with further headers. Returns the bytes of its answer.

        Raises:
            Refused: Its status is not 200.
        """
        self._http.request("POST", path, body, self._headers | dict(headers or {}))
        response = self._http.getresponse()
        answer = response.read()
        if response.status != http.client.OK:
            raise Refused(f"HTTP {response.status}: {answer[:300]!r}")
        return answer

    def metric(self, name: str) -> float | None:
        """The value of one of our metrics that has no labels."""
        self._http.request("GET", "/metrics")
        for line in self._http.getresponse().read().decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.rpartition(" ")[2])
        return None

    def ask(self, body: bytes, headers: Mapping[str, str] | None = None) -> Any:
        """Send a request, with further headers. Returns the data of its answer.

        Raises:
            Refused: The answer has errors.
        """
        answer = orjson.loads(self.post(body, headers))
        if answer.get("errors"):
            raise Refused(str(answer["errors"])[:300])
        return answer["data"]


@contextmanager
def running(contender: Contender, cpu: int | None, folder: Path) -> Iterator[Server]:
    """Run a server for the time of the `with`. Its output goes to a log in the folder."""
    port = _free_port()
    with (folder / f"{contender.key}.log").open("wb") as log, on_cpu(cpu):
        process = subprocess.Popen(
            contender.command(port), cwd=CHECKOUT, env=contender.environment, stdout=log, stderr=log
        )
    server = Server(contender, process, port)
    try:
        _wait_until_it_listens(server, Path(log.name))
        yield server
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_until_it_listens(server: Server, log: Path) -> None:
    for _ in range(round(TIMEOUT_S / POLL_S)):
        if server.process.poll() is not None:
            break
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", server.port)) == 0:
                return
        time.sleep(POLL_S)
    raise RuntimeError(f"{server.contender.name} does not listen:\n{log.read_text()}")
