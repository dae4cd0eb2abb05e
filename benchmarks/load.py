"""Load generators. Each sends requests in turn over several connections, and never waits between answer and request.

wrk takes the least of its processor. Without it, the npm package autocannon is used.
"""

import json
import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter
from typing import Any, Protocol

from benchmarks.node import Node
from benchmarks.servers import JSON

CONNECTIONS = 16
LEAST = 2 * CONNECTIONS  # answers of a measurement, which takes longer if need be
WRK_SCRIPT = Path(__file__).with_name("wrk.lua")


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests to a graph, which are sent in turn. After the last one comes the first one again."""

    bodies: Sequence[bytes]  # without line breaks
    unloaded_s: float  # time of an answer without any other load
    headers: Mapping[str, str] = field(default_factory=dict)

    def are_slow(self, seconds: float) -> bool:
        """Whether too few of them are answered in this time."""
        return self.unloaded_s * LEAST > seconds


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result of a load."""

    answers: int
    rate: float  # answers a second
    p50: float  # milliseconds
    p99: float
    wrong: int  # answers of another status or with errors, and requests without an answer
    busy: float  # fraction of its CPU that the generator used


class Generator(Protocol):
    """A load generator."""

    name: str

    def load(self, url: str, requests: Requests, seconds: float, connections: int = CONNECTIONS) -> Measurement:
        """Send the requests for some seconds, or the least number of them."""


class Autocannon:
    """The npm package autocannon."""

    def __init__(self, node: Node) -> None:
        self._command = node.command("load.mjs")
        self.name = f"autocannon {node.version('autocannon')}"

    def load(self, url: str, requests: Requests, seconds: float, connections: int = CONNECTIONS) -> Measurement:
        options = {
            "url": url,
            "headers": JSON | dict(requests.headers),
            "bodies": [body.decode() for body in requests.bodies],
            "connections": connections,
            "seconds": seconds,
            "requests": LEAST if requests.are_slow(seconds) else None,
        }
        output, busy = _run(self._command, json.dumps(options))
        return _measurement(json.loads(output), busy)


class Wrk:
    """The program wrk, which can run for a time only, of whole seconds."""

    name = "wrk"

    def __init__(self, program: str) -> None:
        self._program = program

    def load(self, url: str, requests: Requests, seconds: float, connections: int = CONNECTIONS) -> Measurement:
        extent = round(max(seconds, LEAST * requests.unloaded_s, 1))
        headers = [part for name, value in requests.headers.items() for part in ("-H", f"{name}: {value}")]
        settings = ["-t1", f"-c{connections}", f"-d{extent}s", "--timeout", "120s", "--latency", *headers]
        with NamedTemporaryFile() as bodies:
            bodies.write(b"\n".join(requests.bodies))
            bodies.flush()
            output, busy = _run([self._program, *settings, "-s", str(WRK_SCRIPT), url, "--", bodies.name])
        return _measurement(json.loads(output.splitlines()[-1]), busy)


def _measurement(found: Mapping[str, Any], busy: float) -> Measurement:
    answers, rate = found["requests"], found["requests"] / found["seconds"]
    return Measurement(answers, rate, found["p50"], found["p99"], found["wrong"], busy)


def _run(command: list[str], given: str = "") -> tuple[str, float]:
    """Run a program. Returns its output, and the fraction of a CPU that it used."""
    before, began = _cpu_seconds(), perf_counter()
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout, (_cpu_seconds() - before) / (perf_counter() - began)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def generator(node: Node | None = None) -> Generator:
    """The generator that this machine has."""
    if wrk := shutil.which("wrk"):
        return Wrk(wrk)
    if node:
        return Autocannon(node)
    raise RuntimeError("there is no load generator: install wrk")
