"""Compares our service on DynamoDB with an ordinary implementation of the same graph, on DynamoDB Local.

    python -m benchmarks.dynamodb [--events 20000] [--rounds 3]

The emulator is slow, so only the services' processor time and their reads from DynamoDB are compared. Both services
get the same requests and must give the same answers.
"""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import aioboto3
import click

from benchmarks import markdown, original_platform
from benchmarks.cache import CHECKOUT
from benchmarks.catalogue import DAY_MS
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.depth import cursors_behind
from benchmarks.dynamodb_contestants import Contestant, ordinary_service, our_service
from benchmarks.dynamodb_traffic import Reads
from benchmarks.newest import Newest
from benchmarks.workload import OURS, Page
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
DEEP_PAGE = 100
MONTH = 30  # days


class Window(NamedTuple):
    """The conditions of a page of the original platform. Its cursor moves the end of the time range."""

    start_ms: int
    end_ms: int  # inclusive
    min_mag: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A question to both services, and the processor time of each. Only the cursor differs between the requests."""

    name: str
    ours: bytes
    ordinary: bytes
    window: Window | None = None  # for a page only
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
    print(cpu_table(cases), reads, f"{events:,} events. {cpus}.", sep="\n\n")


def loaded(events: int) -> Newest:
    """Load the newest events into a new table."""
    create = [sys.executable, "-m", "graph", "tables", "create", "--store", STORE]
    subprocess.run(create, cwd=CHECKOUT, stdout=subprocess.DEVNULL, check=True)
    newest = Newest.of(events)
    newest.ingest_into(STORE)
    return newest


def all_cases(newest: Newest, ours: Contestant, ordinary: Contestant) -> list[Case]:
    """The questions. Each page names its time range, since the ordinary service needs one."""
    start_ms, end_ms, strong = newest.start_ms, newest.end_ms, newest.strong
    place = (DEEP_PAGE - 1) * PAGE
    deep, ordinary_deep = (
        OURS.body(Page(PAGE, newest.everything), cursors_behind(each.connection(), [place], newest.everything)[place])
        for each in (ours, ordinary)
    )
    deep_ms = ours.ask(deep)["events"]["edges"][0]["node"]["eventTsMs"]
    month = OURS.body(Page(PAGE, newest.last_days(MONTH, 2)))
    sparse = OURS.body(Page(PAGE, newest.sparse))
    lookup = OURS.body(newest.middle)
    month_ms = end_ms + 1 - MONTH * DAY_MS
    return [
        Case(f"Q1: first 100 of {MONTH} days, M ≥ 2", month, month, Window(month_ms, end_ms, 2)),
        Case("Q2: one event by id", lookup, lookup),
        Case(f"Q3: first 100 of all days, M ≥ {strong}", sparse, sparse, Window(start_ms, end_ms, strong)),
        Case(f"Q4: page {DEEP_PAGE} of 100", deep, ordinary_deep, Window(start_ms, deep_ms)),
    ]


def check(case: Case, ours: Contestant, ordinary: Contestant) -> None:
    """Check that both services give the same answer."""
    if without_cursors(ours.ask(case.ours)) != without_cursors(ordinary.ask(case.ordinary)):
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


def reads_table(cases: list[Case], ours: Contestant, ordinary: Contestant) -> str:
    """The table of calls and read units, with those of the original platform."""
    rows = []
    for case in cases:
        original = asyncio.run(original_reads(case.window)) if case.window else None
        reads = [ours.reads(case.ours), ordinary.reads(case.ordinary), original]
        calls = [f"{each.calls:.4g}" if each else "" for each in reads]
        units = [f"{each.units:.4g}" if each else "" for each in reads]
        rows.append([case.name, *calls, *units])
    heads = [f"{what}: {who}" for what in ("calls", "read units") for who in ("ours", "ordinary", "original")]
    return markdown.table(["DynamoDB, a request", *heads], rows)


async def original_reads(window: Window) -> Reads:
    """The reads of the original platform for a page."""
    async with aioboto3.Session().resource("dynamodb") as dynamodb:
        return await original_platform.reads(await dynamodb.Table(TABLE), *window, PAGE)


if __name__ == "__main__":
    main()
