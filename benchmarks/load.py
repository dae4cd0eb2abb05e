"""Load generators. Each repeats one request on several connections, and never waits between answer and request.

autocannon is an npm package. Without npm, an installed wrk is used.
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
    """The result of a load."""

    rate: float  # answers a second
    p50: float  # milliseconds
    p99: float
    wrong: int  # answers of another status or size, and requests without an answer
    busy: float  # fraction of its CPU that the generator used


class Generator(Protocol):
    """A load generator."""

    name: str

    def load(self, url: str, request: Verified, seconds: float, requests: int | None) -> Measurement:
        """Repeat the request for a time, or a number of times."""


class Autocannon:
    """The npm package autocannon."""

    def __init__(self, node: Node) -> None:
        self._command = node.command("load.mjs")
        self.name = f"autocannon {node.version('autocannon')}"

    def load(self, url: str, request: Verified, seconds: float, requests: int | None) -> Measurement:
        options = {
            "url": url,
            "headers": JSON,
            "body": request.body.decode(),
            "answerBytes": request.answer_bytes,
            "connections": CONNECTIONS,
            "seconds": seconds,
            "requests": requests,
        }
        output, busy = _run(self._command, json.dumps(options))
        found = json.loads(output)
        return Measurement(found["requests"] / found["seconds"], found["p50"], found["p99"], found["wrong"], busy)


class Wrk:
    """The program wrk, which can run for a time only."""

    name = "wrk"

    def __init__(self, program: str) -> None:
        self._program = program

    def load(self, url: str, request: Verified, seconds: float, requests: int | None) -> Measurement:
        extent = round(max(seconds, (requests or 0) * request.unloaded_s, 1))
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
    """Run a program. Returns its output, and the fraction of a CPU that it used."""
    before, began = _cpu_seconds(), perf_counter()
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout, (_cpu_seconds() - before) / (perf_counter() - began)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def generator(node: Node | None) -> Generator:
    """The generator that this machine has."""
    if node:
        return Autocannon(node)
    if wrk := shutil.which("wrk"):
        return Wrk(wrk)
    raise RuntimeError("there is no load generator: install npm or wrk")
