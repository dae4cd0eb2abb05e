"""Measures triggers with real processes, each beside a plain or naive way where there is one.

    python -m benchmarks.triggers [--quick] [--only WORD]

`deliveries`: how many one `quakegraph deliver` sends to a local receiver, and its memory, beside a loop that posts.
`delay`: how soon after the answer of `ingestEvents` a watch's webhook arrives.
`inbox`: pages among a million events of a user, beside plain SQL, and creation of events by mutations.
`watches`: 10,000 of them and 1,000 new earthquakes.
`hanging`: what endpoints that hang cost a healthy one.

What is measured has one CPU, and the receiver and the client another. The machine should do nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.cpus import Cpus
from benchmarks.triggers import delays, deliveries, inbox, watches


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement, and how much it takes: numbers of what is stored, and of requests."""

    measured: Callable[..., str]  # takes the numbers, a folder and the CPUs
    full: tuple[int, ...]
    quick: tuple[int, ...]


MEASUREMENTS = {
    "deliveries": Measurement(deliveries.measured, (20_000,), (3000,)),
    "delay": Measurement(delays.of_watches, (100,), (20,)),
    "inbox": Measurement(inbox.measured, (1_000_000, 300), (50_000, 30)),
    "watches": Measurement(watches.measured, (10_000, 1000), (1000, 200)),
    "hanging": Measurement(delays.beside_hanging, (300,), (50,)),
}


@click.command()
@click.option("--quick", is_flag=True, help="Take less of everything: half a minute.")
@click.option("--only", metavar="WORD", type=click.Choice(list(MEASUREMENTS)), help="Measure only this.")
def main(quick: bool, only: str | None) -> None:
    """Measure triggers, and print tables."""
    cpus = Cpus.of_this_machine()
    click.echo(f"{cpus}.")
    for name, each in MEASUREMENTS.items():
        if only in (None, name):
            with TemporaryDirectory() as folder:
                numbers = each.quick if quick else each.full
                click.echo(f"\n{each.measured(*numbers, Path(folder), cpus)}")


if __name__ == "__main__":
    main()
