"""Compares our service on DynamoDB with an ordinary implementation of the same graph, on DynamoDB Local.

    python -m benchmarks.dynamodb [--events 20000] [--rounds 3]

The emulator is slow, so only the services' processor time and their reads from DynamoDB are compared. Both services
get the same requests, no two of which are equal, and must give the same answers. What a service does by itself, without
requests, is measured first and left out of the requests' shares: how many seconds a request takes is the emulator's.
"""

import asyncio
import os
import random
import subprocess
import sys
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import aioboto3
import click

from benchmarks import markdown, original_platform
from benchmarks.cache import CHECKOUT
from benchmarks.catalogue import DAY_MS, USUAL, event_id
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.depth import cursors_behind
from benchmarks.dynamodb_contestants import COUNTED, Contestant, Requests, ordinary_service, our_service
from benchmarks.dynamodb_traffic import Reads
from benchmarks.newest import Newest
from benchmarks.ordinary_dynamodb import key_of
from benchmarks.workload import OURS, Lookup, Page, Query, Question, Selection
from scripts import dynamodb_local

TABLE = "earthquake-events"
STORE = "dynamodb://"  # under the documented name
AWS = {
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",  # pragma: allowlist secret
    "AWS_CONFIG_FILE": "",
    "AWS_SHARED_CREDENTIALS_FILE": "",
    "AWS_EC2_METADATA_DISABLED": "true",
}
PAGE = 100
MONTH = 30  # days
QUESTIONS = 1000  # of each kind
ORIGINALS = 3  # of them to the original platform, whose reads hardly vary
SHALLOWEST, DEEPEST = 2_000, 10_000  # events before a deep page


class Window(NamedTuple):
    """The conditions of a page of the original platform. Its cursor moves the end of the time range."""

    start_ms: int
    end_ms: int  # inclusive
    min_mag: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """Questions of a kind to both services, and the processor time of each. Only the cursors differ between them."""

    name: str
    ours: Requests
    ordinary: Requests
    windows: list[Window]  # of the first questions, for pages only
    ours_ms: list[float] = field(default_factory=list)
    ordinary_ms: list[float] = field(default_factory=list)


@click.command()
@click.option("--events", type=click.IntRange(min=12_000), default=20_000, show_default=True, help="Events to load.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Rounds; their median is printed."
)
def main(events: int, rounds: int) -> None:
    """Compare our service on DynamoDB with an ordinary implementation of the same graph."""
    cpus = Cpus.of_this_machine()
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_DYNAMODB"):
        os.environ.pop(name, None)
    with TemporaryDirectory() as logs, on_cpu(cpus.load), dynamodb_local.running() as endpoint:
        os.environ.update(AWS, AWS_ENDPOINT_URL=endpoint)
        newest = loaded(events)
        served = endpoint, TABLE, cpus.server, Path(logs)
        with our_service(*served) as ours, ordinary_service(*served) as ordinary:
            cases = all_cases(newest, ours, ordinary)
            for case in cases:
                check(case, ours, ordinary)
            reads = reads_table(cases, ours, ordinary)
            for _ in range(rounds):
                for case in cases:
                    case.ours_ms.append(ours.cpu_ms(case.ours))
                    case.ordinary_ms.append(ordinary.cpu_ms(case.ordinary))
            background = background_table(ours, ordinary)
    print(cpu_table(cases), background, reads, f"{events:,} events. {cpus}.", sep="\n\n")


def loaded(events: int) -> Newest:
    """Load the newest events into a new table."""
    create = [sys.executable, "-m", "graph", "tables", "create", "--store", STORE]
    subprocess.run(create, cwd=CHECKOUT, stdout=subprocess.DEVNULL, check=True)
    newest = Newest.of(events)
    newest.ingest_into(STORE)
    return newest


def queries(newest: Newest) -> tuple[Query, ...]:
    """The kinds of questions. Each page names its time range, since the ordinary service needs one."""
    everything = newest.everything

    def month(rng: random.Random) -> Selection:
        end_ms = rng.randrange(newest.start_ms + MONTH * DAY_MS, newest.end_ms)
        return Selection(end_ms - MONTH * DAY_MS, end_ms, 2)

    def few(rng: random.Random) -> Selection:
        start_ms = newest.start_ms + rng.randrange(DAY_MS)
        return Selection(start_ms, newest.end_ms + 1, newest.strong + rng.randrange(10) / 100)

    def one(rng: random.Random) -> Lookup:
        return Lookup(event_id(USUAL.events - 1 - rng.randrange(newest.events)))

    def deep(rng: random.Random) -> Page:
        return Page(PAGE, everything, behind=rng.randrange(SHALLOWEST, DEEPEST))

    return (
        Query("Q1", f"first {PAGE} of {MONTH} days, M ≥ 2", lambda rng: Page(PAGE, month(rng))),
        Query("Q2", "one event by id", one),
        Query("Q3", f"first {PAGE} of all days, M ≥ {newest.strong} or more", lambda rng: Page(PAGE, few(rng))),
        Query("Q4", f"{PAGE} behind {SHALLOWEST:,} to {DEEPEST:,}, by cursor", deep),
    )


def all_cases(newest: Newest, ours: Contestant, ordinary: Contestant) -> list[Case]:
    """The requests of each kind, in the same order to both services."""
    cases = []
    for query in queries(newest):
        questions = list(islice(query.questions(), QUESTIONS))
        behind = {0, *(question.behind for question in questions if isinstance(question, Page))}
        cursors, ordinary_cursors = (
            cursors_behind(each.connection(), behind, newest.everything) for each in (ours, ordinary)
        )
        requests, ordinary_requests = (
            Requests([body_of(each, some) for each in questions]) for some in (cursors, ordinary_cursors)
        )
        pages = [question for question in questions[:ORIGINALS] if isinstance(question, Page)]
        windows = [window_of(page, ordinary_cursors) for page in pages]
        cases.append(Case(f"{query.name}: {query.meaning}", requests, ordinary_requests, windows))
    return cases


def body_of(question: Question, cursors: dict[int, str | None]) -> bytes:
    """A request, with the cursor of a deep page."""
    return OURS.body(question, cursors[question.behind] if isinstance(question, Page) else None)


def window_of(page: Page, cursors: dict[int, str | None]) -> Window:
    """The conditions of a page without its cursor."""
    (start_ms, end_ms, min_mag), cursor = astuple(page.selection), cursors[page.behind]
    return Window(start_ms, key_of(cursor)["gsi1sk"] if cursor else end_ms - 1, min_mag)


def check(case: Case, ours: Contestant, ordinary: Contestant) -> None:
    """Check that both services give the same answers."""
    for one, other in zip(case.ours.first(COUNTED), case.ordinary.first(COUNTED), strict=True):
        if without_cursors(ours.ask(one)) != without_cursors(ordinary.ask(other)):
            raise click.ClickException(f"{case.name}: the services answer differently")


def without_cursors(data: Any) -> Any:
    """The data of an answer without cursors, which differ between the services."""
    if isinstance(data, dict):
        return {name: without_cursors(part) for name, part in data.items() if name not in ("cursor", "endCursor")}
    return [without_cursors(part) for part in data] if isinstance(data, list) else data


def cpu_table(cases: list[Case]) -> str:
    """The table of processor time."""
    rows = []
    for case in cases:
        ours, ordinary = median(case.ours_ms), median(case.ordinary_ms)
        rows.append([case.name, f"{ours:.2f}", f"{ordinary:.2f}", f"{ordinary / ours:.1f}"])
    return markdown.table(["CPU ms a request", "ours", "ordinary", "ratio"], rows)


def background_table(ours: Contestant, ordinary: Contestant) -> str:
    """The table of what the services do without requests."""
    rows = [
        [
            name,
            f"{each.background.cpu_ms:.1f}",
            f"{each.background.reads.calls:.2f}",
            f"{each.background.reads.units:.2f}",
        ]
        for name, each in (("ours", ours), ("ordinary", ordinary))
    ]
    return markdown.table(["without requests, a second", "CPU ms", "reads", "read units"], rows)


def reads_table(cases: list[Case], ours: Contestant, ordinary: Contestant) -> str:
    """The table of calls and read units, with those of the original platform."""
    rows = []
    for case in cases:
        original = asyncio.run(original_reads(case.windows)) if case.windows else None
        reads = [ours.reads(case.ours), ordinary.reads(case.ordinary), original]
        calls = [f"{each.calls:.4g}" if each else "" for each in reads]
        units = [f"{each.units:.4g}" if each else "" for each in reads]
        rows.append([case.name, *calls, *units])
    heads = [f"{what}: {who}" for what in ("calls", "read units") for who in ("ours", "ordinary", "original")]
    return markdown.table(["DynamoDB, a request", *heads], rows)


async def original_reads(windows: list[Window]) -> Reads:
    """The mean reads of the original platform for a page."""
    async with aioboto3.Session().resource("dynamodb") as dynamodb:
        table = await dynamodb.Table(TABLE)
        each = [await original_platform.reads(table, *window, PAGE) for window in windows]
    return Reads(mean(one.calls for one in each), mean(one.units for one in each))


if __name__ == "__main__":
    main()
