"""Measures how much more several workers serve than one, on as many CPUs.

    python -m benchmarks.workers [--quick] [--store FILE] [--workers 2] [--seconds 3] [--rounds 3]

The load comes from the same machine, so on two CPUs it takes a part of what the workers could have. Two figures are
given for each kind of requests, which are all different:

* "as measured": the answers of the workers, which share their CPUs with the load, by those of one worker, which has a
  CPU for itself beside the load.
* "for CPUs of their own": as many times as there are workers, by what an answer costs them more in processor time than
  it costs one. That is what they would serve if the load came from elsewhere and each had as much to do.

The shares of the workers show whether each has as much to do. `--store` names a file with the whole usual catalogue;
request logs are written to it.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import sleep

import click

from benchmarks.answers import Asking
from benchmarks.cache import made_folder
from benchmarks.contenders import our_service
from benchmarks.cpus import on_cpu
from benchmarks.load import generator
from benchmarks.markdown import table
from benchmarks.paces import Kind
from benchmarks.servers import Server, running
from benchmarks.stores import import_ours
from benchmarks.workload import Query, queries

EVENTS, QUICK_EVENTS = 1_000_000, 100_000
CONNECTIONS = 32
STARTING_S = 3  # until all workers listen; the listener is open before


@dataclass(slots=True)
class Served:
    """The measurements of one kind of requests with a number of workers."""

    rates: list[float] = field(default_factory=list)  # answers a second
    costs: list[float] = field(default_factory=list)  # processor time of an answer, milliseconds, of all workers
    shares: list[float] = field(default_factory=list)  # of the busiest worker in the processor time of all
    loads: list[float] = field(default_factory=list)  # fraction of a CPU that the load took

    def measure(self, server: Server, kind: Kind, seconds: float) -> None:
        """Measure a round."""
        requests = kind.different(seconds)
        before = _spent(server)
        found = generator().load(server.url, requests, seconds, CONNECTIONS)
        spent = [after - earlier for after, earlier in zip(_spent(server), before, strict=True)]
        if found.wrong:
            raise RuntimeError(f"{found.wrong} wrong answers")
        self.rates.append(found.rate)
        self.costs.append(1000 * sum(spent) / found.answers)
        self.shares.append(max(spent) / sum(spent))
        self.loads.append(found.busy)


def _spent(server: Server) -> list[float]:
    """The processor time of each worker. A sole one is the server's process itself."""
    return server.workers_cpu_seconds() or [server.cpu_seconds()]


@click.command()
@click.option("--quick", is_flag=True, help="100,000 events, one round.")
@click.option("--store", type=click.Path(path_type=Path, exists=True), help="A file with the whole usual catalogue.")
@click.option("--workers", default=2, show_default=True, help="Number of workers, and of CPUs for them.")
@click.option("--seconds", default=3.0, show_default=True, help="Length of one measurement.")
@click.option("--rounds", default=3, show_default=True, help="Measurements of each kind of requests.")
def main(quick: bool, store: Path | None, workers: int, seconds: float, rounds: int) -> None:
    """Measure one worker and several, and print a table."""
    cpus, events = sorted(os.sched_getaffinity(0)), QUICK_EVENTS if quick else EVENTS
    if len(cpus) < max(workers, 2):
        raise click.UsageError(f"there are {len(cpus)} CPUs")
    with TemporaryDirectory(dir=made_folder()) as folder:
        path = store or Path(folder) / "ours.db"
        if not store:
            import_ours(events, path, cpus[0])
        click.echo(measured(path, events, cpus[:workers], seconds, 1 if quick else rounds))


def measured(store: Path, events: int, cpus: Sequence[int], seconds: float, rounds: int) -> str:
    """Measure one worker, and as many as there are CPUs. Returns a table."""
    with ExitStack() as servers:
        one = servers.enter_context(_serving(store, 1, cpus[:1]))
        all_ = servers.enter_context(_serving(store, len(cpus), cpus))
        asked = [(query.name, [_kind(server, query) for server in (one, all_)]) for query in queries(events)]
        found = {name: (Served(), Served()) for name, _ in asked}
        for _ in range(rounds):
            for name, (kind, kind_of_all) in asked:
                with on_cpu(cpus[-1]):
                    found[name][0].measure(one, kind, seconds)
                with on_cpu(*cpus):
                    found[name][1].measure(all_, kind_of_all, seconds)
    head = ["answers a second", "one worker", f"{len(cpus)} workers", "as measured", "for CPUs of their own"]
    rows = [_row(name, single, several, len(cpus)) for name, (single, several) in found.items()]
    return table([*head, "busiest worker's share", "CPU of the load"], rows)


def _row(name: str, one: Served, all_: Served, workers: int) -> list[str]:
    rate, rate_of_all = median(one.rates), median(all_.rates)
    return [
        name,
        f"{rate:,.0f}",
        f"{rate_of_all:,.0f}",
        f"{rate_of_all / rate:.2f} ×",
        f"{workers * min(one.costs) / min(all_.costs):.2f} ×",
        f"{median(all_.shares):.0%}",
        f"{median(all_.loads):.0%}",
    ]


@contextmanager
def _serving(store: Path, workers: int, cpus: Sequence[int]) -> Iterator[Server]:
    service = our_service(store)
    several = replace(service, environment={**service.environment, "GRAPH_WORKERS": str(workers)})
    with TemporaryDirectory() as logs, on_cpu(*cpus), running(several, None, Path(logs)) as server:
        sleep(STARTING_S)
        yield server


def _kind(server: Server, query: Query) -> Kind:
    return Kind(server, map(Asking(server).body, query.questions()))


if __name__ == "__main__":
    main()
