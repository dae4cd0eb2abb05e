"""The first query of a new process on a file that is in no memory, by the kind of the query."""

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus
from benchmarks.markdown import table
from benchmarks.servers import Connection, Server, running

SETTLED_S = 0.5  # after which a new process has done what it does at its start
AGAIN = 5  # further requests


def measured(store: Path, asked: Mapping[str, list[bytes]], cpus: Cpus) -> str:
    """Start a process for each kind of requests. Returns a table of the times of first and later ones."""
    rows = [[name, *(f"{each:.1f}" for each in _times(store, bodies, cpus))] for name, bodies in asked.items()]
    return table(["ms after start-up, cold file", "first", "its CPU time", "second", "later, median"], rows)


def _times(store: Path, bodies: list[bytes], cpus: Cpus) -> Iterator[float]:
    service = our_service(store)
    _forget(store)
    with TemporaryDirectory() as logs, running(service, cpus.server, Path(logs)) as server:
        time.sleep(SETTLED_S)
        _forget(store)
        took, used = [], [_cpu_ms(server)]
        with Connection(server) as connection:
            for body in bodies[: AGAIN + 2]:
                began = time.perf_counter()
                connection.ask(body)
                took.append((time.perf_counter() - began) * 1000)
                used.append(_cpu_ms(server))
    first, second, *later = took
    yield from (first, used[1] - used[0], second, median(later))


def _cpu_ms(server: Server) -> float:
    """The processor time that the threads of a server have used, precisely enough for one request."""
    threads = Path(f"/proc/{server.process.pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e6


def _forget(store: Path) -> None:
    """Drop a file from the system's cache. What a process has mapped stays."""
    for path in store.parent.glob(f"{store.name}*"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
