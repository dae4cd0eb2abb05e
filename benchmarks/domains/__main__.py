"""Measures pages of 100 of each domain, each among a million items, beside a page of events.

    python -m benchmarks.domains [--quick] [--folder FOLDER] [--seconds 2] [--rounds 3]

fills two stores, which takes ten minutes, and keeps them in the folder; the one with sightings is made again after some
minutes, since they expire. All requests are different. A few of them are also asked again and again.

The server has one CPU and the load another.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.cache import CACHE
from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.domains.pages import kinds
from benchmarks.domains.stores import Sizes, Stores, stores_in
from benchmarks.load import generator
from benchmarks.markdown import table
from benchmarks.paces import cells, different_and_again
from benchmarks.servers import running

SCOPES = "events:read,servicelogs:read,triggers:read,files:read,sightings:read"
QUICK = Sizes(events=100_000, logs=100_000, inbox=50_000, days=100, sightings=300_000)


@click.command()
@click.option("--quick", is_flag=True, help="A tenth of the items.")
@click.option("--folder", type=click.Path(path_type=Path), default=CACHE / "domains", help="Where the stores are kept.")
@click.option("--seconds", default=2.0, show_default=True, help="Length of one measurement.")
@click.option("--rounds", default=3, show_default=True, help="Measurements of each kind of pages.")
def main(quick: bool, folder: Path, seconds: float, rounds: int) -> None:
    """Measure pages of all domains, and print a table."""
    cpus = Cpus.of_this_machine()
    with on_cpu(cpus.load):
        stores = stores_in(folder / "quick" if quick else folder, QUICK if quick else Sizes(), cpus)
        click.echo(measured(stores, cpus, seconds, rounds))
    click.echo(f"\n{cpus}.")


def measured(stores: Stores, cpus: Cpus, seconds: float, rounds: int) -> str:
    """Measure each kind of pages, and how it compares with the first one."""
    with ExitStack() as servers:
        started = []
        for store in (stores.main, stores.blips):
            logs = Path(servers.enter_context(TemporaryDirectory()))
            service = our_service(store, scopes=SCOPES)
            started.append(servers.enter_context(running(service, cpus.server, logs)))
        paces = different_and_again(kinds(stores, *started), generator(), seconds, rounds)
    usual, _ = next(iter(paces.values()))
    head = ["page of 100", "a second", "p50 / p99, ms", "CPU ms", "of Q1's rate", "of its CPU", "CPU ms again", "ratio"]
    rows = [
        [
            name,
            *cells(pace),
            f"{pace.rate / usual.rate:.2f} ×",
            f"{pace.cost / usual.cost:.2f} ×",
            f"{again.cost:.2f}",
            f"{pace.cost / again.cost:.2f}",
        ]
        for name, (pace, again) in paces.items()
    ]
    return table(head, rows)


if __name__ == "__main__":
    main()
