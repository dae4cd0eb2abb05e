"""Checks that a service under load keeps its memory, sockets, threads and latencies, and answers without errors.

    quakegraph ingest catalogue.ndjson --store sqlite:///bench.db
    python benchmarks/soak.py --store sqlite:///bench.db --minutes 10 --rate 200

starts `quakegraph serve` on that store. Use a copy, since events are ingested too. To measure a service that already
runs on this machine, give `--url`, `--pid` and, for mutations, `--token`.

Requests begin at a constant rate, even if earlier ones are not answered yet. A latency counts from the moment when
the request was due. The command ends with status 1 if memory grows, if sockets stay open, or if an answer is not the
expected one.
"""

import asyncio
import os
import random
import secrets
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import linear_regression, quantiles
from time import time
from typing import Any, cast
from urllib.parse import urlsplit

import click
import httpx
import jwt

MOST_GROWTH = 0.5  # MiB a minute after the warm-up; at 200 requests a second, 44 bytes a request
WARM_UP = 0.3  # fraction of the time, in which caches fill
BURSTS, BURST = 5, 500  # requests at once, before the measurement; see `soak`
SAMPLE_S = 5.0
MOST_OPEN = 2000  # with more requests without an answer, the service does not keep up
CLOSING_S = 60  # in which the service closes its connections after the last request

PAGE = """query ($first: Int, $after: String, $filter: EventFilter) {
  events(first: $first, after: $after, filter: $filter) {
    nodes { eventId eventTsMs time mag place lat lon depth dayBucket source }
    pageInfo { hasNextPage endCursor }
  }
}"""
COUNT = "query ($filter: EventFilter) { events(first: 0, filter: $filter) { totalCount } }"
EVENT = "query ($eventId: ID!) { event(eventId: $eventId) { eventId time mag place } }"
INGEST = "mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
OK = "OK"


@dataclass(frozen=True)
class Target:
    """The service that is measured."""

    url: str
    pid: int
    token: str | None


@dataclass
class Catalogue:
    """Ids and cursors for requests, read before the load begins."""

    newest_ms: int
    cursors: list[str]  # of several depths
    ids: list[str]


@dataclass
class Outcome:
    """The results of the requests."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # by kind
    codes: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and code
    unexpected: Counter[tuple[str, str]] = field(default_factory=Counter)
    behind: int = 0  # largest number of open requests at a time


@dataclass(frozen=True)
class Sample:
    """The resources of the process and its children at a moment."""

    seconds: float
    rss: float  # MiB
    files: int
    sockets: int
    threads: int

    @classmethod
    def of(cls, pid: int, seconds: float) -> "Sample":
        """Read them from /proc."""
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        rss = files = sockets = threads = 0
        for one in [str(pid), *children]:
            status = Path(f"/proc/{one}/status").read_text().splitlines()
            fields = dict(line.split(":", 1) for line in status)
            rss += int(fields["VmRSS"].split()[0])
            threads += int(fields["Threads"])
            for descriptor in Path(f"/proc/{one}/fd").iterdir():
                files += 1
                try:
                    sockets += os.readlink(descriptor).startswith("socket:")
                except FileNotFoundError:  # closed in the meantime
                    files -= 1
        return cls(seconds, rss / 1024, files, sockets, threads)


# The requests


class Clients:
    """All clients of the service."""

    def __init__(self, target: Target, catalogue: Catalogue, http: httpx.AsyncClient) -> None:
        self._target = target
        self._catalogue = catalogue
        self._http = http
        self._rng = random.Random(1)  # noqa: S311
        self._numbers = count(time_ms := int(time() * 1000))
        self._began_ms = time_ms
        self.kinds: dict[str, tuple[int, str, Callable[[], Awaitable[str]]]] = {  # weight, code, request
            "page of 20": (25, OK, lambda: self._page(first=20)),
            "page of 20, deep": (20, OK, lambda: self._page(first=20, after=self._any(catalogue.cursors))),
            "page of 20, M ≥ 2, 30 days": (15, OK, lambda: self._page(first=20, filter=self._month(minMagnitude=2))),
            "page of 1,000": (1, OK, lambda: self._page(first=1000)),
            "event": (20, OK, lambda: self._ask(EVENT, eventId=self._any(catalogue.ids))),
            "count of 30 days": (5, OK, lambda: self._ask(COUNT, filter=self._month())),
            "no such field": (3, "GRAPHQL_VALIDATION_FAILED", lambda: self._ask("{ events { richter } }")),
            "no such cursor": (3, "INVALID_CURSOR", lambda: self._page(after="x")),
            "no JSON": (2, "BAD_REQUEST", lambda: self._send(b'{"query": ')),
            "left before the end": (2, OK, lambda: self._leave(0.5)),
            "left before the answer": (2, OK, lambda: self._leave(1.0)),
        }
        if target.token:
            self.kinds["ingest of 3"] = (2, OK, self._ingest)
        self._weights = [weight for weight, _, _ in self.kinds.values()]

    def next_kind(self) -> str:
        """The kind of the next request."""
        return self._rng.choices(list(self.kinds), self._weights)[0]

    def _any(self, things: list[str]) -> str:
        return self._rng.choice(things)

    def _month(self, **others: Any) -> dict[str, Any]:
        end = self._catalogue.newest_ms - self._rng.randrange(300) * 86_400_000
        return {"startTime": iso(end - 30 * 86_400_000), "endTime": iso(end), **others}

    def _page(self, **variables: Any) -> Awaitable[str]:
        return self._ask(PAGE, **variables)

    def _ingest(self) -> Awaitable[str]:
        numbers = [next(self._numbers) for _ in range(3)]
        shared = {"mag": 1.5, "lat": 38.8, "lon": -122.8, "place": "Soaked"}
        events = [{"eventId": f"soak{number}", "eventTsMs": self._began_ms, **shared} for number in numbers]
        return self._ask(INGEST, events=events)

    def _ask(self, query: str, **variables: Any) -> Awaitable[str]:
        request = self._http.build_request("POST", self._target.url, json={"query": query, "variables": variables})
        return self._send(request.content)

    async def _send(self, body: bytes) -> str:
        answer = await self._http.post(self._target.url, content=body, headers=self._headers())
        content = answer.json()
        return str(content["errors"][0]["extensions"]["code"]) if "errors" in content else OK

    def _headers(self) -> dict[str, str]:
        authorization = {"Authorization": f"Bearer {self._target.token}"} if self._target.token else {}
        return {"Content-Type": "application/json", **authorization}

    async def _leave(self, part: float) -> str:
        """Send a part of a request, and disconnect."""
        url = urlsplit(self._target.url)
        body = self._http.build_request("POST", self._target.url, json={"query": PAGE, "variables": {"first": 100}})
        content = body.content
        head = f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Type: application/json\r\n"
        sent = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
        _, writer = await asyncio.open_connection(url.hostname, url.port)
        writer.write(sent[: int(len(sent) * part)])
        await writer.drain()
        writer.transport.abort()
        return OK


async def explore(target: Target, http: httpx.AsyncClient) -> Catalogue:
    """Read ids and cursors of the catalogue."""

    async def page(**variables: Any) -> Any:
        answer = await http.post(target.url, json={"query": PAGE, "variables": variables})
        return answer.json()["data"]["events"]

    async def edge(order: str) -> int:
        query = f"{{ events(first: 1, orderBy: {order}) {{ nodes {{ eventTsMs }} }} }}"
        answer = await http.post(target.url, json={"query": query})
        return int(answer.json()["data"]["events"]["nodes"][0]["eventTsMs"])

    oldest, newest = await edge("TIME_ASC"), await edge("TIME_DESC")
    found = Catalogue(newest, [], [])
    for percent in (0, 1, 10, 25, 50, 75, 90, 99):
        until = newest - (newest - oldest) * percent // 100
        there = await page(first=100, filter={"endTime": iso(until)})
        found.ids += [node["eventId"] for node in there["nodes"]]
        first = (await page(first=1, filter={"endTime": iso(until)}))["pageInfo"]["endCursor"]
        found.cursors += [first] if first else []
    return found


async def load(clients: Clients, rate: float, seconds: float, outcome: Outcome) -> None:
    """Send requests at a constant rate, and wait for the last answers."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    open_ones: set[asyncio.Task[None]] = set()

    async def one(kind: str, due: float) -> None:
        _, expected, ask = clients.kinds[kind]
        try:
            code = await ask()
        except (httpx.HTTPError, OSError, ValueError) as error:
            code = type(error).__name__
        outcome.milliseconds[kind].append((loop.time() - due) * 1000)
        outcome.codes[kind, code] += 1
        if code != expected:
            outcome.unexpected[kind, code] += 1

    for number in range(int(rate * seconds)):
        due = began + number / rate
        if (ahead := due - loop.time()) > 0:
            await asyncio.sleep(ahead)
        task = asyncio.create_task(one(clients.next_kind(), due))
        open_ones.add(task)
        task.add_done_callback(open_ones.discard)
        outcome.behind = max(outcome.behind, len(open_ones))
        if len(open_ones) > MOST_OPEN:
            raise click.ClickException(f"{MOST_OPEN} requests wait for an answer: the service does not keep up")
    await asyncio.gather(*open_ones)


# The service


@asynccontextmanager
async def served(store: str) -> AsyncIterator[Target]:
    """Run `quakegraph serve` on a store."""
    secret = secrets.token_hex(32)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "graph", "serve", "--port", "0", "--store", store),
        env={**os.environ, "GRAPH_JWT_SECRET": secret},
        stderr=asyncio.subprocess.PIPE,
    )
    lines = cast("asyncio.StreamReader", process.stderr)
    url = ""
    while not url:
        line = (await lines.readline()).decode()
        if not line:
            raise click.ClickException("the service did not start")
        url = line.removeprefix("GraphiQL: ").strip() if line.startswith("GraphiQL: ") else ""
    warnings: list[str] = []
    reader = asyncio.create_task(_read(lines, warnings))
    claims = {"sub": "soak", "scope": "events:write", "exp": int(time()) + 86_400}
    try:
        yield Target(url, process.pid, jwt.encode(claims, secret, algorithm="HS256"))
    finally:
        process.terminate()
        status = await process.wait()
        await reader
        click.echo(f"The service ended with status {status}, after {len(warnings)} warnings and errors")
        for warning in warnings[:10]:
            click.echo(f"  {warning}")


async def _read(lines: asyncio.StreamReader, warnings: list[str]) -> None:
    warnings += [line.decode().rstrip() async for line in lines if b" info " not in line[:40]]


async def sampling(pid: int, samples: list[Sample]) -> None:
    """Sample the process at intervals, and print every sixth sample."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    click.echo(f"{'seconds':>8}{'RSS MiB':>10}{'files':>8}{'sockets':>9}{'threads':>9}")
    while True:
        samples.append(sample := Sample.of(pid, loop.time() - began))
        if len(samples) % 6 == 1:
            click.echo(f"{sample.seconds:8.0f}{sample.rss:10.1f}{sample.files:8}{sample.sockets:9}{sample.threads:9}")
        await asyncio.sleep(SAMPLE_S)


# The verdict


async def soak(target: Target, rate: float, seconds: float) -> bool:
    """Apply the load, print the results, and return whether all is well.

    A process keeps the memory that its largest number of simultaneous requests needed. So one busy moment of
    the machine raises its memory by some MiB for ever. This is not a leak, but would look like one. Therefore,
    bursts that are larger than any accidental one are sent before the measurement.
    """
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=50, keepalive_expiry=2)
    samples: list[Sample] = []
    outcome, bursts = Outcome(), Outcome()
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        catalogue = await explore(target, http)
    before = Sample.of(target.pid, 0)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as http:
        clients = Clients(target, catalogue, http)
        for _ in range(BURSTS):
            await load(clients, 1e6, BURST / 1e6, bursts)
        sampler = asyncio.create_task(sampling(target.pid, samples))
        await load(clients, rate, seconds, outcome)
        sampler.cancel()
    after = Sample.of(target.pid, seconds)
    for _ in range(CLOSING_S):
        if after.sockets <= before.sockets:
            break
        await asyncio.sleep(1)
        after = Sample.of(target.pid, seconds)
    outcome.unexpected += bursts.unexpected
    _print_latencies(outcome, seconds)
    warm = [sample for sample in samples if sample.seconds >= seconds * WARM_UP]
    growth = linear_regression([one.seconds / 60 for one in warm], [one.rss for one in warm]).slope
    busiest = max(sample.sockets for sample in samples)
    click.echo(
        f"\nMemory: {before.rss:.1f} MiB at the start, {warm[0].rss:.1f} when warm, {samples[-1].rss:.1f} at the end; "
        f"grows by {growth:+.2f} MiB a minute (at most {MOST_GROWTH})\n"
        f"Sockets: {before.sockets} at the start, {busiest} at most, {after.sockets} at the end\n"
        f"Open files: {before.files} at the start, {after.files} at the end\n"
        f"Threads: {before.threads} at the start, {after.threads} at the end\n"
        f"Unexpected answers: {sum(outcome.unexpected.values())}"
    )
    for (kind, code), number in outcome.unexpected.items():
        click.echo(f"  {kind}: {code} {number} times")
    return growth <= MOST_GROWTH and after.sockets <= before.sockets and not outcome.unexpected


def _print_latencies(outcome: Outcome, seconds: float) -> None:
    everything = [one for some in outcome.milliseconds.values() for one in some]
    click.echo(f"\n{'':28}{'number':>9}{'p50':>9}{'p95':>9}{'p99':>9}{'max':>9}  ms, codes")
    for kind, some in [*outcome.milliseconds.items(), ("all", everything)]:
        cuts = quantiles(some, n=100) if len(some) > 1 else some * 99
        codes = ", ".join(f"{code} {n}" for (of, code), n in outcome.codes.items() if of == kind)
        click.echo(f"{kind:28}{len(some):9}{cuts[49]:9.1f}{cuts[94]:9.1f}{cuts[98]:9.1f}{max(some):9.1f}  {codes}")
    click.echo(f"{len(everything) / seconds:.1f} requests a second; at most {outcome.behind} open at a time")


def iso(time_ms: int) -> str:
    """A time in ISO 8601."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat()


@click.command(help=__doc__)
@click.option("--store", help="Store of a service that this command starts.")
@click.option("--url", help="Address of the graph of a service that already runs.")
@click.option("--pid", type=int, help="Process id of that service.")
@click.option("--token", help="Token for its mutations; without one, none are sent.")
@click.option("--minutes", default=10.0, show_default=True)
@click.option("--rate", default=200.0, show_default=True, help="Requests a second.")
def main(store: str | None, url: str | None, pid: int | None, token: str | None, minutes: float, rate: float) -> None:
    """Run the soak test."""

    async def run() -> bool:
        if store:
            async with served(store) as target:
                return await soak(target, rate, minutes * 60)
        if url and pid:
            return await soak(Target(url, pid, token), rate, minutes * 60)
        raise click.UsageError("give --store, or --url and --pid")

    sys.exit(0 if asyncio.run(run()) else 1)


main()
