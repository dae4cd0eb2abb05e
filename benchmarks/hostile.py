"""Measures a normal client beside attackers: how long it waits for its answers, and the service's memory.

    python -m benchmarks.hostile [--store sqlite:///FILE] [--seconds 5] [--only WORDS]

attacks `quakegraph serve` on the usual catalogue of a million events, with 100,000 service logs, 100,000 trigger
events, 100,000 sightings at one place and 100,000 data files: first with each attack of `benchmarks.attacks`, then with
a random mixture of them. Webhooks go to a receiver that answers in hostile ways. The normal client connects from
another address of this machine. It requests pages, events, counts and areas, and never the same one twice. The command
ends with status 1 if the client's p99 exceeds 100 ms or the service's memory 250 MB. The service has one CPU and the
load another; the machine should do nothing else.
"""

import http.client
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep, time, time_ns
from typing import Any

import click
import orjson

from benchmarks import markdown
from benchmarks.attacks import ATTACKS, MIXTURE
from benchmarks.cache import CHECKOUT
from benchmarks.catalogue import DAY_MS, USUAL
from benchmarks.contenders import clean_environment, our_service
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.data_files.attacks import HOSTILE
from benchmarks.data_files.stores import filled
from benchmarks.servers import JSON, Server, running
from benchmarks.service_logs import batches, encoded, sent
from benchmarks.sightings.crowd import Crowd, store_crowd
from benchmarks.sightings.users import tokens
from benchmarks.stores import import_ours
from benchmarks.triggers.attacks import FILLED_TYPE
from benchmarks.triggers.programs import USER
from benchmarks.triggers.receiver import receiving
from benchmarks.triggers.stores import ENVIRONMENT, InboxOf, done, store_inbox
from benchmarks.workload import iso

MOST_P99_MS = 100.0
MOST_MEMORY_MB = 250.0
NORMAL_ADDRESS = "127.0.0.2"  # so that the normal client is another caller than the attackers
PAUSE_S = 0.01  # between an answer and the next request
QUIET_S = 1.0  # between two attacks, so that the first one ends
TIMEOUT_S = 120
NO_ATTACK = "no attack"
LOGS = 100_000
LOGS_PER_REQUEST = 1000
INBOX = 100_000
USERS = 1000  # of an attack on sightings
WRITTEN = ("servicelogs", "events", "triggers", "sightings", "files")
SCOPES = ",".join(["servicelogs:read", "triggers:read", *(f"{each}:write" for each in WRITTEN)])

PAGE = """query ($first: Int, $filter: EventFilter) {
  events(first: $first, filter: $filter) { nodes { eventId time mag place lat lon depth } pageInfo { endCursor } }
}"""
EVENT = "query ($id: ID!) { event(eventId: $id) { eventId time mag place } }"
COUNT = "query ($filter: EventFilter) { events(filter: $filter) { totalCount } }"


def requests() -> Iterator[bytes]:
    """The requests of the normal client, each a different one."""
    rng = random.Random(2)  # noqa: S311
    begin_ms = int(USUAL.start.timestamp() * 1000)

    def month(**others: Any) -> dict[str, Any]:
        start = begin_ms + rng.randrange(USUAL.days - 30) * DAY_MS
        return {"startTime": iso(start), "endTime": iso(start + 30 * DAY_MS), **others}

    while True:
        area = {"circle": {"lat": rng.uniform(-60, 60), "lon": rng.uniform(-180, 180), "radiusKm": 500}}
        for query, variables in (
            (PAGE, {"first": 20, "filter": month(minMagnitude=rng.choice([0.5, 1.0, 2.0]))}),
            (EVENT, {"id": f"{rng.choice(['nc', 'us', 'ci'])}{rng.randrange(10**8)}"}),
            (COUNT, {"filter": month()}),
            (PAGE, {"first": 20, "filter": month(**area)}),
        ):
            yield orjson.dumps({"query": query, "variables": variables})


class NormalClient:
    """A client that sends a request, waits for the answer, and sends the next one."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, TIMEOUT_S, source_address=(NORMAL_ADDRESS, 0))
        self._requests = requests()

    def measure_request(self) -> float:
        """Send a request. Returns the milliseconds to the last byte of its answer, which must have no errors."""
        body = next(self._requests)
        began = perf_counter()
        self._http.request("POST", "/graphql", body, JSON)
        answer = orjson.loads(self._http.getresponse().read())
        took = (perf_counter() - began) * 1000
        if answer.keys() != {"data"}:
            raise click.ClickException(f"the normal client was refused: {answer}")
        return took


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one attack."""

    attack: str
    answers: dict[str, int]
    milliseconds: list[float]  # each answer to the normal client
    memory_mb: float  # largest resident memory

    @property
    def p99(self) -> float:
        """Milliseconds of the 99th percentile."""
        return quantiles(self.milliseconds, n=100)[98]

    @property
    def holds(self) -> bool:
        """Whether the result is within the bounds."""
        return self.p99 <= MOST_P99_MS and self.memory_mb <= MOST_MEMORY_MB

    def cells(self) -> list[str]:
        """The row of the table."""
        p50 = quantiles(self.milliseconds, n=100)[49]
        times = [f"{each:.1f}" for each in (p50, self.p99, max(self.milliseconds))]
        answers = ", ".join(f"{code} {number:,}" for code, number in sorted(self.answers.items()))
        return [self.attack, f"{len(self.milliseconds):,}", *times, f"{self.memory_mb:.0f}", answers]


@click.command()
@click.option("--store", metavar="URL", help="sqlite:///FILE. Use a copy, since request logs are written to it.")
@click.option("--seconds", type=float, default=5.0, show_default=True, help="Seconds of each attack.")
@click.option("--only", metavar="WORDS", default="", help="Only attacks whose name has these words.")
def main(store: str | None, seconds: float, only: str) -> None:
    """Attack our service, and measure a normal client meanwhile."""
    cpus = Cpus.of_this_machine()
    with TemporaryDirectory() as folder:
        path = Path(store.removeprefix("sqlite:///")) if store else Path(folder) / "hostile.db"
        if not store:
            filled(HOSTILE, path)
            import_ours(USUAL.events, path, cpus.server)
        done(store_inbox(path, InboxOf(USER, INBOX, time_ns() // 1000, types=(FILLED_TYPE,), statuses=("received",))))
        done(store_crowd(path, Crowd(int(time()))))
        ours = our_service(path, scopes=SCOPES)
        service = replace(ours, environment={**ours.environment, **ENVIRONMENT})
        users = Path(folder) / "users"
        users.write_text("\n".join(tokens(service, USERS)))
        with receiving(cpus.load) as receiver, running(service, cpus.server, Path(folder)) as server:
            click.echo(f"{cpus}.\n")
            sent(server, [encoded(batch) for batch in batches(LOGS, LOGS_PER_REQUEST, time_ns())])
            client = NormalClient(server.port)
            names = [name for name in (NO_ATTACK, *ATTACKS, MIXTURE) if only in name]
            given = {"ATTACK_TOKEN": token_of(server), "ATTACK_RECEIVER": receiver.url(""), "ATTACK_USERS": str(users)}
            rows = [measured(name, server, client, seconds, cpus, given) for name in names]
    head = ["attack", "requests", "p50 ms", "p99 ms", "worst ms", "most MB", "answers to the attacker"]
    click.echo(markdown.table(head, [row.cells() for row in rows]))
    if failed := [row.attack for row in rows if not row.holds]:
        raise click.ClickException(f"beyond {MOST_P99_MS:g} ms or {MOST_MEMORY_MB:g} MB: {', '.join(failed)}")


def measured(
    name: str, server: Server, client: NormalClient, seconds: float, cpus: Cpus, given: Mapping[str, str]
) -> Row:
    """Measure the normal client during one attack, whose environment has what is given."""
    sleep(QUIET_S)
    process = server.process.pid
    Path(f"/proc/{process}/clear_refs").write_text("5")  # resets the high-water mark of memory
    took: list[float] = []
    end = monotonic() + seconds
    attacker: subprocess.Popen[bytes] | None = None
    with on_cpu(cpus.load):
        if name != NO_ATTACK:
            arguments = (name, "127.0.0.1", str(server.port), str(seconds))
            attacker = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.attacks", *arguments],
                cwd=CHECKOUT,
                env={**clean_environment(), **given},
                stdout=subprocess.PIPE,
            )
        while monotonic() < end or (attacker and attacker.poll() is None and monotonic() < end + TIMEOUT_S):
            took.append(client.measure_request())
            sleep(PAUSE_S)
    answers: dict[str, int] = {}
    if attacker:
        answers = orjson.loads(attacker.communicate(timeout=TIMEOUT_S)[0] or b"{}")
    return Row(name, answers, took, high_water_mb(process))


def token_of(server: Server) -> str:
    """The token of the attacker, which may read and write everything but hide sightings."""
    return server.contender.headers["Authorization"].removeprefix("Bearer ")


def high_water_mb(process: int) -> float:
    """The largest resident memory, MB of a million bytes."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in status)
    return int(fields["VmHWM"].split()[0]) * 1024 / 1e6


if __name__ == "__main__":
    main()
