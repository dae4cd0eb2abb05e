"""Measures exports of a large catalogue: events per second, memory, and how long other requests wait meanwhile.

    python -m benchmarks.export --events 1000000

starts `quakegraph serve` once for each format, on one CPU, with a store that is made for it, or with `--store`, which
should be a copy. The client takes the answer as fast as it comes and parses nothing. The count of the events is that of
the service's metrics, since some formats have no lines. Then the export is made again, beside a client that sends one
small query after the other.
"""

import http.client
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import orjson

from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus
from benchmarks.markdown import table
from benchmarks.servers import Connection, Server, running
from benchmarks.stores import import_ours

FORMATS = ("ndjson", "csv", "geojson", "arrow", "parquet")
RECEIVED_AT_ONCE = 1 << 20  # bytes
TIMEOUT_S = 600
QUERY = orjson.dumps({"query": "{ events(first: 10) { nodes { eventId mag } } }"})


@dataclass(frozen=True, slots=True)
class Measured:
    """One export of a whole catalogue."""

    events: int
    size: int  # bytes
    seconds: float
    cpu_seconds: float  # of the server
    memory_mb: float  # the most that the server had, MB of a million bytes
    waited_ms: Sequence[float]  # for each small query beside a second export


def measure(store: Path, name: str, cpus: Cpus, folder: Path) -> Measured:
    """Export everything, twice."""
    with running(our_service(store), cpus.server, folder) as server:
        connection = Connection(server)
        connection.ask(QUERY)
        cpu, began = server.cpu_seconds(), perf_counter()
        size = _taken(server, name)
        seconds, cpu_seconds = perf_counter() - began, server.cpu_seconds() - cpu
        events = Connection(server).metric(f'quakegraph_export_events_total{{format="{name}"}}')
        memory_mb = _peak_mb(server)
        connection = Connection(server)
        exporting = threading.Thread(target=_taken, args=(server, name))
        exporting.start()
        waited_ms = []
        while exporting.is_alive():
            asked = perf_counter()
            connection.ask(QUERY)
            waited_ms.append((perf_counter() - asked) * 1000)
        exporting.join()
    return Measured(round(events or 0), size, seconds, cpu_seconds, memory_mb, waited_ms)


def _taken(server: Server, name: str) -> int:
    """Export everything, and return the number of bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
    connection.request("GET", f"/export/events.{name}")
    answer = connection.getresponse()
    if answer.status != http.client.OK:
        raise click.ClickException(f"HTTP {answer.status}: {answer.read(300)!r}")
    size, buffer = 0, memoryview(bytearray(RECEIVED_AT_ONCE))
    while received := answer.readinto(buffer):
        size += received
    connection.close()
    return size


def _peak_mb(server: Server) -> float:
    """The largest resident set so far, MB of a million bytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmHWM"].split()[0]) * 1024 / 1e6


@click.command()
@click.option("--events", default=1_000_000, show_default=True, help="Number of events in the store that is made.")
@click.option("--store", type=click.Path(exists=True, path_type=Path), help="A SQLite file to export instead.")
@click.option("--format", "names", type=click.Choice(FORMATS), multiple=True, help="Only these.  [default: all]")
def main(events: int, store: Path | None, names: tuple[str, ...]) -> None:
    """Measure exports."""
    cpus = Cpus.of_this_machine()
    click.echo(f"{cpus}.\n")
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if store is None:
            store = folder / "export.db"
            import_ours(events, store, None)
        rows = []
        for name in names or FORMATS:
            found = measure(store, name, cpus, folder)
            waited = quantiles(found.waited_ms, n=100)
            rows.append(
                [
                    name,
                    f"{found.events / found.seconds:,.0f}",
                    f"{found.events / found.cpu_seconds:,.0f}",
                    f"{found.size / found.events:,.0f}",
                    f"{found.memory_mb:,.0f}",
                    f"{waited[49]:.1f}",
                    f"{waited[98]:.1f}",
                    f"{max(found.waited_ms):.1f}",
                ]
            )
    head = ["format", "events/s", "events per CPU second", "bytes/event", "peak MB"]
    click.echo(table([*head, "query p50 ms", "p99", "max"], rows))


if __name__ == "__main__":
    main()
