"""Measures how long lookups wait while many connections ask for other things, such as pages of 1,000.

    python -m benchmarks.mixture [--quick] [--store FILE] [--seconds 5] [--rounds 3]

64 connections send the requests of `benchmarks.compare`, no two of them equal: each connection those of one kind, and
the next as soon as the last one was answered. The same lookups are also sent without the pages of 1,000, and alone.
`--store` names a file with the whole usual catalogue; request logs are written to it. The server has one CPU and the
load another.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click

from benchmarks.answers import Asking
from benchmarks.cache import made_folder
from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.load import Generator, Measurement, generator
from benchmarks.markdown import table
from benchmarks.paces import Kind
from benchmarks.servers import Server, running
from benchmarks.stores import import_ours
from benchmarks.workload import queries

EVENTS, QUICK_EVENTS = 1_000_000, 100_000
CONNECTIONS = {"Q2": 24, "Q1": 16, "Q4": 12, "Q5": 4, "Q6": 8}
MEANINGS = {"Q2": "lookups", "Q1": "pages of 100", "Q4": "deep pages", "Q5": "counts", "Q6": "pages of 1,000"}
MIXTURES = {"of all": tuple(CONNECTIONS), "without pages of 1,000": ("Q2", "Q1", "Q4", "Q5"), "lookups alone": ("Q2",)}


@click.command()
@click.option("--quick", is_flag=True, help="100,000 events, one round.")
@click.option("--store", type=click.Path(path_type=Path, exists=True), help="A file with the whole usual catalogue.")
@click.option("--seconds", default=5.0, show_default=True, help="Length of one measurement.")
@click.option("--rounds", default=3, show_default=True, help="Measurements of each mixture.")
def main(quick: bool, store: Path | None, seconds: float, rounds: int) -> None:
    """Measure mixtures of requests, and print a table."""
    cpus, events = Cpus.of_this_machine(), QUICK_EVENTS if quick else EVENTS
    with TemporaryDirectory(dir=made_folder()) as name, on_cpu(cpus.load):
        folder = Path(name)
        if not store:
            import_ours(events, folder / "ours.db", cpus.server)
        with running(our_service(store or folder / "ours.db"), cpus.server, folder) as server:
            click.echo(measured(server, events, seconds, 1 if quick else rounds))
    click.echo(f"\n{cpus}.")


def measured(server: Server, events: int, seconds: float, rounds: int) -> str:
    """Measure each mixture in turn. Returns a table."""
    asking, load = Asking(server), generator()
    kinds = {query.name: Kind(server, map(asking.body, query.questions())) for query in queries(events)}
    found: dict[tuple[str, str], list[Measurement]] = {}
    for _ in range(rounds):
        for mixture, names in MIXTURES.items():
            for name, one in _together(server, {name: kinds[name] for name in names}, load, seconds).items():
                found.setdefault((mixture, name), []).append(one)
    rows = [
        [
            f"{mixture}: {MEANINGS[name]}",
            f"{CONNECTIONS[name]}",
            f"{median(each.rate for each in measurements):,.0f}",
            f"{median(each.p50 for each in measurements):.1f}",
            f"{median(each.p99 for each in measurements):.1f}",
        ]
        for (mixture, name), measurements in found.items()
    ]
    return table(["mixture", "connections", "a second", "p50, ms", "p99, ms"], rows)


def _together(server: Server, kinds: Mapping[str, Kind], load: Generator, seconds: float) -> dict[str, Measurement]:
    """Send requests of several kinds at the same time."""
    with server.awake(), ThreadPoolExecutor(len(kinds)) as senders:
        started = {
            name: senders.submit(load.load, server.url, kind.different(seconds), seconds, CONNECTIONS[name])
            for name, kind in kinds.items()
        }
        found = {name: each.result() for name, each in started.items()}
    if any(each.wrong for each in found.values()):
        raise RuntimeError("there were wrong answers")
    return found


if __name__ == "__main__":
    main()
