"""Deliveries per second of one `quakegraph deliver`, beside a loop that only posts the same bodies."""

import subprocess
import sys
from pathlib import Path

from benchmarks.cache import CHECKOUT
from benchmarks.contenders import clean_environment
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.markdown import table
from benchmarks.triggers.programs import USER, delivering
from benchmarks.triggers.receiver import Receiver, receiving
from benchmarks.triggers.stores import done, queue_events

FIRST = 0.1  # of the deliveries, after which the memory at the beginning is read


def measured(number: int, folder: Path, cpus: Cpus) -> str:
    """Deliver so many events to one endpoint, and to ten."""
    rows = []
    for endpoints in (1, 10):
        path = folder / f"deliveries{endpoints}.db"
        with receiving(cpus.load) as receiver:
            for each in range(endpoints):
                done(queue_events(path, f"{USER}{each}", receiver.url(), number // endpoints))
            rows.append(_delivered(path, number // endpoints * endpoints, endpoints, receiver, folder, cpus))
    for library in ("aiohttp", "httpx"):
        with receiving(cpus.load) as receiver:
            rows.append(_posted(library, receiver, number, cpus))
    return table(["", "deliveries/s", "per CPU second", "MB at the start", "MB at the end"], rows)


def _delivered(path: Path, number: int, endpoints: int, receiver: Receiver, folder: Path, cpus: Cpus) -> list[str]:
    with delivering(path, cpus.server, folder) as deliverer:
        receiver.wait_for(1)
        before, cpu = receiver.count(), deliverer.cpu_seconds()
        receiver.wait_for(round(number * FIRST))
        at_start = deliverer.memory_mb()
        receiver.wait_for(number)
        used, at_end = deliverer.cpu_seconds() - cpu, deliverer.memory_mb()
    arrivals = sorted(receiver.arrivals().values())
    if len(arrivals) != number:
        raise RuntimeError(f"{len(arrivals)} of {number} webhooks came")
    seconds = (arrivals[-1] - arrivals[before - 1]) / 1e9
    sent = number - before
    name = f"`quakegraph deliver`, {endpoints} endpoint{'s' * (endpoints > 1)}"
    return [name, f"{sent / seconds:,.0f}", f"{sent / used:,.0f}", f"{at_start:.0f}", f"{at_end:.0f}"]


def _posted(library: str, receiver: Receiver, number: int, cpus: Cpus) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.triggers.plain_posts", library, receiver.url(), str(number)]
    with on_cpu(cpus.server):
        process = subprocess.Popen(command, cwd=CHECKOUT, env=clean_environment(), stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate()
    seconds, used = map(float, output.split())
    return [f"a loop that posts with {library}", f"{number / seconds:,.0f}", f"{number / used:,.0f}", "", ""]
