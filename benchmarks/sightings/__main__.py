"""Measures sightings: pages among a million, nine in ten of which have expired, beside the documented way.

    python -m benchmarks.sightings [--quick] [--sightings 1000000] [--requests 300]

fills a store of ours and a plain table, and keeps what has expired in both. Then it asks both servers the same
questions in turn, none of them twice, and compares the answers. At the end users report and confirm.

The servers have one CPU and the client another. The machine should do nothing else.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.contenders import Contender, our_service, python_peer
from benchmarks.cpus import Cpus
from benchmarks.servers import running
from benchmarks.sightings import reading, writing
from benchmarks.sightings.stores import filled, quakes_file
from benchmarks.sightings.world import QUAKES, World
from benchmarks.stores import import_file

FILLING_S = 200e-6  # for each sighting; the newest ones are from after that
REPORTS = 5000
QUICK_SIGHTINGS, QUICK_REQUESTS, QUICK_REPORTS = 50_000, 40, 500


@click.command()
@click.option("--quick", is_flag=True, help="Take less of everything: half a minute.")
@click.option("--sightings", "number", default=1_000_000, show_default=True, help="Number of sightings.")
@click.option("--requests", default=300, show_default=True, help="Requests of each kind.")
def main(quick: bool, number: int, requests: int) -> None:
    """Measure sightings, and print tables."""
    cpus = Cpus.of_this_machine()
    click.echo(f"{cpus}.\n")
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if quick:
            measure(QUICK_SIGHTINGS, QUICK_REQUESTS, QUICK_REPORTS, folder, cpus)
        else:
            measure(number, requests, REPORTS, folder, cpus)


def measure(number: int, requests: int, reports: int, folder: Path, cpus: Cpus) -> None:
    """Fill the stores, measure, and print."""
    world = World(number, round(time.time() + number * FILLING_S))
    ours_file, plain_file = folder / "ours.db", folder / "plain.db"
    areas = filled(world, ours_file, plain_file)
    import_file(quakes_file(world, folder / "quakes.ndjson"), QUAKES, ours_file, cpus.server)
    click.echo(f"{number:,} sightings. {len(areas):,} areas have active ones.\n")
    time.sleep(max(0, world.now - time.time()))
    peer = python_peer("plain_sightings", plain_file)
    plain = Contender(peer.key, peer.command, {**peer.environment, "SIGHTINGS_DB": str(plain_file)})
    with (
        running(our_service(ours_file), cpus.server, folder) as server,
        running(plain, cpus.server, folder) as other,
    ):
        click.echo(reading.measured(world, areas, requests, server, other))
        click.echo(f"\n{server.memory_mb():.0f} MB after reading.\n")
        click.echo(writing.measured(server, reports))


if __name__ == "__main__":
    main()
