"""Questions to two servers in turn over HTTP: ours and one that answers in the documented way, on the same data.

No question comes twice, and what both answer is compared.
"""

import http.client
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode

import orjson

from benchmarks.markdown import table
from benchmarks.servers import TIMEOUT_S, Connection, Server

LEAST_PLAIN = 3  # questions of a kind to the plain server
MOST_PLAIN_MS = 20_000  # after which it is not asked further ones
IDLE_MS = 1000  # after which a connection may have been closed
TICK_MS = 0.01  # the least processor time; the system counts it in ticks, of which a quick run may take none


@dataclass(frozen=True, slots=True)
class Question:
    """A question to both servers, and what of each answer must be equal."""

    query: str
    variables: Mapping[str, Any]
    of_ours: Callable[[Any], list[Any]]
    path: str | None = None  # of the plain server, which may have no way to answer
    parameters: Mapping[str, Any] | None = None
    of_plain: Callable[[Any], list[Any]] | None = None


def asked_in_turn(questions: Mapping[str, Iterable[Question]], ours: Server, plain: Server) -> str:
    """Ask both in turn. Returns a table with a row for each kind of questions."""
    head = ["ms", "found", "ours p50", "p95", "CPU", "documented way p50", "p95", "CPU", "ratio of p50", "of CPU"]
    return table(head, [_row(name, each, ours, plain) for name, each in questions.items()])


class PlainConnection:
    """A connection to the plain server."""

    def __init__(self, server: Server) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)

    def ask(self, path: str, parameters: Mapping[str, Any]) -> Any:
        """The answer to a GET."""
        self._http.request("GET", f"/{path}?{urlencode(parameters)}")
        return orjson.loads(self._http.getresponse().read())


def _row(name: str, asked: Iterable[Question], server: Server, plain_server: Server) -> list[str]:
    ours, plain = Connection(server), PlainConnection(plain_server)
    ours_cpu, plain_cpu = server.cpu_seconds(), plain_server.cpu_seconds()
    ours_ms: list[float] = []
    plain_ms: list[float] = []
    found = []
    for question in asked:
        body = orjson.dumps({"query": question.query, "variables": question.variables})
        began = time.perf_counter()
        answer = question.of_ours(ours.ask(body))
        ours_ms.append((time.perf_counter() - began) * 1000)
        found.append(len(answer))
        if question.path and question.parameters and question.of_plain and _may_ask(plain_ms):
            began = time.perf_counter()
            other = question.of_plain(plain.ask(question.path, question.parameters))
            plain_ms.append((time.perf_counter() - began) * 1000)
            if plain_ms[-1] > IDLE_MS:
                ours = Connection(server)
            if answer != other:
                raise RuntimeError(f"{name}, {question.variables}: {answer} and {other}")
    ours_cpu = 1000 * (server.cpu_seconds() - ours_cpu) / len(ours_ms)
    cells = [name, f"{sum(found) / len(found):.1f}", *_cells(ours_ms, ours_cpu)]
    if not plain_ms:
        return [*cells, *[""] * 5]
    plain_cpu = 1000 * (plain_server.cpu_seconds() - plain_cpu) / len(plain_ms)
    ratios = [median(plain_ms) / median(ours_ms), plain_cpu / max(ours_cpu, TICK_MS)]
    return [*cells, *_cells(plain_ms, plain_cpu), *(f"{ratio:,.1f} ×" for ratio in ratios)]


def _may_ask(plain_ms: Sequence[float]) -> bool:
    return len(plain_ms) < LEAST_PLAIN or sum(plain_ms) < MOST_PLAIN_MS


def _cells(times: Sequence[float], cpu: float) -> list[str]:
    cut = quantiles(times, n=20)
    return [f"{cut[9]:.2f}", f"{cut[18]:.2f}", f"{cpu:.2f}"]
