"""Measures data files: 100,000 files with a million edges, beside the documented way on the same store.

    python -m benchmarks.data_files [--quick] [--days 400] [--requests 300] [--only WORDS]

makes the store once and keeps it, and works on a copy. It asks both servers the same questions in turn, none of them
twice, and compares the answers. At the end it registers files and records runs.

The servers have one CPU and the client another. The machine should do nothing else.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.contenders import Contender, our_service, python_peer
from benchmarks.cpus import Cpus
from benchmarks.data_files import reading, writing
from benchmarks.data_files.stores import filled
from benchmarks.data_files.world import World
from benchmarks.servers import running

QUICK_DAYS, QUICK_REQUESTS, QUICK_WRITES = 50, 20, 20
WRITES = 200  # requests of a hundred files; ten times as many runs


@click.command()
@click.option("--quick", is_flag=True, help="Take less of everything: a minute.")
@click.option("--days", default=400, show_default=True, help="Days of the mission, with 250 files each.")
@click.option("--requests", default=300, show_default=True, help="Requests of each kind, at most.")
@click.option("--only", metavar="WORDS", default="", help="Only questions whose name has these words; no writes.")
def main(quick: bool, days: int, requests: int, only: str) -> None:
    """Measure data files, and print tables."""
    cpus = Cpus.of_this_machine()
    click.echo(f"{cpus}.\n")
    with TemporaryDirectory() as folder:
        if quick:
            measure(World(QUICK_DAYS), QUICK_REQUESTS, QUICK_WRITES, only, Path(folder), cpus)
        else:
            measure(World(days), requests, WRITES, only, Path(folder), cpus)


def measure(world: World, requests: int, writes: int, only: str, folder: Path, cpus: Cpus) -> None:
    """Fill the store, measure, and print."""
    store = folder / "files.db"
    filled(world, store)
    click.echo(f"{world.files:,} files, {store.stat().st_size / 1e6:.0f} MB.\n")
    peer = python_peer("plain_files", store)
    plain = Contender(peer.key, peer.command, {**peer.environment, "FILES_DB": str(store)})
    ours = our_service(store, scopes="files:write")
    with running(ours, cpus.server, folder) as server, running(plain, cpus.server, folder) as other:
        click.echo(reading.measured(world, requests, server, other, only))
        click.echo(f"\n{server.memory_mb():.0f} MB after reading.\n")
        if not only:
            click.echo(writing.measured(server, world, writes))


if __name__ == "__main__":
    main()
