"""Compares this service with other servers, on one machine and on the same events.

    python -m benchmarks.compare --quick        # 100,000 events
    python -m benchmarks.compare                # a million
    python -m benchmarks.compare --again        # and how much faster what was asked before is

makes the catalogue, loads it and starts every server on one CPU. It checks answers of all servers, and measures the
servers alternately from another CPU, with requests that are all different. It prints a table, which it also writes to
`comparison.md` in the cache. It runs on Linux. It ends with status 1 if an answer was wrong.
"""

import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import click

from benchmarks import stores
from benchmarks.answers import Reference
from benchmarks.cache import CACHE, made_folder
from benchmarks.contenders import NAMES, Contender, node_peer, our_service, python_peer
from benchmarks.contest import Contest
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.load import Generator, generator
from benchmarks.node import Node, Unavailable, installed
from benchmarks.notes import Circumstances, notes
from benchmarks.servers import running
from benchmarks.table import Row, markdown
from benchmarks.workload import queries

BEGAN = monotonic()
LEAST_EVENTS = 50_000  # so that there is a page 200, and events after it


@dataclass(frozen=True, slots=True)
class Plan:
    """Which servers are compared, on how many events, and for how long."""

    events: int
    keys: Sequence[str]  # of NAMES
    rounds: int
    seconds: float  # for each query, server and round
    again: bool  # whether to send a few requests again and again, too


def compare(plan: Plan) -> tuple[list[Row], Circumstances]:
    """Load the events, start the servers, check and measure them, and stop them."""
    cpus, node, lacking = Cpus.of_this_machine(), None, ""
    try:
        node = installed()
    except Unavailable as reason:
        lacking = str(reason) if "mercurius" in plan.keys else ""
    load = generator(node)
    with ExitStack() as until_end:
        folder = Path(until_end.enter_context(TemporaryDirectory(prefix="run-", dir=made_folder())))
        until_end.enter_context(on_cpu(cpus.load))
        _log(f"making and loading {plan.events:,} events")
        peers_file, our_store = stores.peers_file(plan.events), folder / "ours.db"
        import_rate = stores.import_ours(plan.events, our_store, cpus.server) if "ours" in plan.keys else None
        contests = [
            Contest(until_end.enter_context(running(contender, cpus.server, folder)))
            for contender in _contenders(plan.keys, our_store, peers_file, node)
        ]
        _measure(contests, plan, load, until_end.enter_context(closing(Reference(peers_file))))
        indexes = stores.indexes(our_store) if "ours" in plan.keys else []
        here = Circumstances(plan.rounds, plan.seconds, cpus, load.name, node, lacking, import_rate, indexes)
    return [contest.row for contest in contests], here


def _measure(contests: Sequence[Contest], plan: Plan, load: Generator, reference: Reference) -> None:
    """Measure queries, then ingests. Servers alternate, so that a slow minute of the machine affects all of them."""
    asked = queries(plan.events)
    _log("checking the answers")
    for contest in contests:
        contest.verify(asked, reference)
    for number in range(plan.rounds):
        _log(f"round {number + 1} of {plan.rounds}")
        for query in asked:
            for contest in contests:
                contest.load(query, load, plan.seconds)
                if plan.again:
                    contest.load(query, load, plan.seconds, again=True)
    for number in range(plan.rounds):
        _log(f"ingest {number + 1} of {plan.rounds}")
        for contest in contests:
            contest.ingest(number)
    for contest in contests:
        contest.measure_memory()


def _contenders(keys: Sequence[str], our_store: Path, peers_file: Path, node: Node | None) -> Iterator[Contender]:
    """The servers that can run on this machine. Each peer gets its own copy of the file, since ingests write to it."""
    for key in keys:
        if key == "ours":
            yield our_service(our_store)
        elif key != "mercurius" or node:
            store = shutil.copyfile(peers_file, our_store.with_name(f"{key}.db"))
            yield node_peer(key, store, node) if node and key == "mercurius" else python_peer(key, store)


def _log(what: str) -> None:
    click.echo(f"[{monotonic() - BEGAN:4.0f} s] {what}", err=True)


def _keys(_context: click.Context, _parameter: click.Parameter, given: str) -> list[str]:
    keys = given.split(",")
    if unknown := set(keys) - set(NAMES):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}: not among {', '.join(NAMES)}")
    return [key for key in NAMES if key in keys]


@click.command()
@click.option("--quick", is_flag=True, help="100,000 events, 2 rounds of 1 second.")
@click.option("--events", type=click.IntRange(min=LEAST_EVENTS), help="Events of the catalogue.  [default: 1000000]")
@click.option("--only", callback=_keys, default=",".join(NAMES), show_default=True, help="Servers to compare.")
@click.option("--again", is_flag=True, help="Also send a few requests of each kind again and again.")
@click.option("--rounds", type=click.IntRange(min=1), help="Measurements of each server with each query.  [default: 3]")
@click.option("--seconds", type=click.FloatRange(min=0.1), help="Length of one measurement.  [default: 3]")
def main(
    quick: bool, events: int | None, only: list[str], again: bool, rounds: int | None, seconds: float | None
) -> None:
    """Compare this service with other servers, and print a table."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # so that the servers are stopped too
    usual = (100_000, 2, 1.0) if quick else (1_000_000, 3, 3.0)
    plan = Plan(events or usual[0], only, rounds or usual[1], seconds or usual[2], again)
    rows, here = compare(plan)
    asked = queries(plan.events)
    told = [*(f"{query.name}: {query.meaning}." for query in asked), *notes(rows, here)]
    page = markdown(rows, [query.name for query in asked], f"{plan.events:,} events", told)
    saved = CACHE / "comparison.md"
    saved.write_text(page, encoding="utf-8")
    _log(f"done; kept in {saved}")
    click.echo(page)
    sys.exit(1 if any(row.wrong for row in rows) else 0)


if __name__ == "__main__":
    main()
