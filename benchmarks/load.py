"""Load generators: one request over and over, on a number of connections, each as soon as the last was answered.

autocannon comes as a package of npm. Where npm is missing, an installed wrk takes its place.
"""

import json
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter
from typing import Any, Protocol

from benchmarks.answers import Verified
from benchmarks.node import Node
from benchmarks.servers import JSON

CONNECTIONS = 16
WRK_SCRIPT = Path(__file__).with_name("wrk.lua")
HEADERS_BYTES = 1024  # of an answer, at most


@dataclass(frozen=True, slots=True)
class Measurement:
    """What came of a load."""

    rate: float  # answers a second
    p50: float  # milliseconds
    p99: float
    wrong: int  # answers of another status or size, and none at all
    busy: float  # part of its CPU that the generator took


class Generator(Protocol):
    """What can load a server."""

    name: str

    def load(self, url: str, request: Verified, seconds: float, requests: int | None) -> Measurement:
        """Ask for so many seconds, or so many times."""


class Autocannon:
    """The package of npm."""

    def __init__(self, node: Node) -> None:
        self._command = node.command("load.mjs")
        self.name = f"autocannon {node.version('autocannon')}"

    def load(self, url: str, request: Verified, seconds: float, requests: int | None) -> Measurement:
        asked = {
            "url": url,
            "headers": JSON,
            "body": request.body.decode(),
            "answerBytes": request.answer_bytes,
            "connections": CONNECTIONS,
            "seconds": seconds,
            "requests": requests,
        }
        output, busy = _run(self._command, json.dumps(asked))
        found = json.loads(output)
        return Measurement(found["requests"] / found["seconds"], found["p50"], found["p99"], found["wrong"], busy)


class Wrk:
    """The program of that name, which counts seconds only."""

    name = "wrk"

    def __init__(self, program: str) -> None:
        self._program = program

    def load(self, url: str, request: Verified, seconds: float, requests: int | None) -> Measurement:
        extent = round(max(seconds, (requests or 0) * request.alone_s, 1))
        settings = ["-t1", f"-c{CONNECTIONS}", f"-d{extent}s", "--timeout", "120s", "--latency"]
        with NamedTemporaryFile() as body:
            body.write(request.body)
            body.flush()
            output, busy = _run([self._program, *settings, "-s", str(WRK_SCRIPT), url, "--", body.name])
        found: dict[str, Any] = json.loads(output.splitlines()[-1])
        answer_bytes = found["bytes"] / max(1, found["requests"])
        other_size = not request.answer_bytes <= answer_bytes <= request.answer_bytes + HEADERS_BYTES
        rate = found["requests"] / found["seconds"]
        return Measurement(rate, found["p50"], found["p99"], found["wrong"] + other_size, busy)


def _run(command: list[str], given: str = "") -> tuple[str, float]:
    """What the program prints, and which part of a CPU it took."""
    before, began = _cpu_seconds(), perf_counter()
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout, (_cpu_seconds() - before) / (perf_counter() - began)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def generator(node: Node | None) -> Generator:
    """The one that this machine has."""
    if node:
        return Autocannon(node)
    if wrk := shutil.which("wrk"):
        return Wrk(wrk)
    raise RuntimeError("there is nothing to load with: install npm, or wrk")
