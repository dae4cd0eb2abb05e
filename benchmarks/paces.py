"""How many answers a second a server gives to requests of one kind, which are all different, and what each costs it.

A server may keep what it has read or written, so a request that was asked before can cost less than one that was not.
So each kind of requests can be measured in both ways: never asked before, and a few of them asked again and again.
Kinds take turns, so that a slow minute of the machine meets all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import ceil, inf
from statistics import median
from time import perf_counter

from benchmarks.load import LEAST, Generator, Measurement, Requests
from benchmarks.servers import Connection, Server

SAMPLES = 10  # requests that are asked beforehand, and then again and again
AT_ONCE = 6  # answers in the time of one without load, at most: several connections wait beside each other


class Kind:
    """Requests of one kind to a server. No two are equal, as long as there are others."""

    def __init__(self, server: Server, bodies: Iterable[bytes], headers: Mapping[str, str] | None = None) -> None:
        self.server, self._headers = server, dict(headers or {})
        self._others = iter(bodies)
        self._taken: list[bytes] = []
        self._samples = list(islice(self._others, SAMPLES))
        with Connection(server, self._headers) as connection:
            self._unloaded_s = self._median_s(connection)

    def different(self, seconds: float) -> Requests:
        """Requests that were not asked before, as many as can be answered in some seconds."""
        bodies = list(islice(self._others, max(LEAST, ceil(seconds / self._unloaded_s * AT_ONCE))))
        self._taken += bodies
        return Requests(bodies if len(bodies) >= LEAST else self._taken, self._unloaded_s, self._headers)

    def again(self) -> Requests:
        """A few requests, to be asked again and again."""
        return Requests(self._samples, self._unloaded_s, self._headers)

    def _median_s(self, connection: Connection) -> float:
        """The time of an answer without load. The first time, the server prepares the document."""
        took = []
        for body in [self._samples[0], *self._samples]:
            began = perf_counter()
            connection.ask(body)  # raises on an answer with errors
            took.append(perf_counter() - began)
        return median(took[1:])


@dataclass(slots=True)
class Pace:
    """The measurements of one kind of requests."""

    rounds: list[Measurement] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)  # of the server, for each answer

    @property
    def rate(self) -> float:
        """Answers a second."""
        return median(each.rate for each in self.rounds)

    @property
    def refused(self) -> float:
        """The part of the requests that was answered with errors, such as that too many are in progress."""
        return sum(each.wrong for each in self.rounds) / sum(each.answers for each in self.rounds)

    @property
    def p50(self) -> float:
        """Milliseconds."""
        return median(each.p50 for each in self.rounds)

    @property
    def p99(self) -> float:
        """Milliseconds."""
        return median(each.p99 for each in self.rounds)

    @property
    def cost(self) -> float:
        """The server's processor time for an answer, milliseconds: the least of the rounds, since noise only adds."""
        return min(self.cpu_ms)

    def measure(self, server: Server, requests: Requests, load: Generator, seconds: float) -> None:
        """Measure a round."""
        with server.awake():
            before = server.cpu_seconds()
            found = load.load(server.url, requests, seconds)
            used = server.cpu_seconds() - before
        self.rounds.append(found)
        self.cpu_ms.append(1000 * used / found.answers if found.answers else inf)


def different(kinds: Mapping[str, Kind], load: Generator, seconds: float, rounds: int) -> dict[str, Pace]:
    """The pace of each kind, for requests that were not asked before."""
    return {name: pace for name, (pace, _) in _measured(kinds, load, seconds, rounds, again=False).items()}


def different_and_again(
    kinds: Mapping[str, Kind], load: Generator, seconds: float, rounds: int
) -> dict[str, tuple[Pace, Pace]]:
    """The pace of each kind, for requests that were not asked before, and for a few asked again and again."""
    return _measured(kinds, load, seconds, rounds, again=True)


def _measured(
    kinds: Mapping[str, Kind], load: Generator, seconds: float, rounds: int, *, again: bool
) -> dict[str, tuple[Pace, Pace]]:
    paces = {name: (Pace(), Pace()) for name in kinds}
    for _ in range(rounds):
        for name, kind in kinds.items():
            pace, pace_again = paces[name]
            pace.measure(kind.server, kind.different(seconds), load, seconds)
            if again:
                pace_again.measure(kind.server, kind.again(), load, seconds)
    return paces


def cells(pace: Pace) -> Sequence[str]:
    """Answers a second, times and processor time, for a table."""
    refused = f" ({pace.refused:.0%} refused)" if pace.refused else ""
    return [f"{pace.rate:,.0f}{refused}", f"{pace.p50:.1f} / {pace.p99:.1f}", f"{pace.cost:.2f}"]
