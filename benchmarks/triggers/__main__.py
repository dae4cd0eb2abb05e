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
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.cpus import Cpus
from benchmarks.triggers import delays, deliveries, inbox, watches

Measure = Callable[[Path, Cpus], str]

FULL: dict[str, Measure] = {
    "deliveries": lambda folder, cpus: deliveries.measured(20_000, folder, cpus),
    "delay": lambda folder, cpus: delays.of_watches(100, folder, cpus),
    "inbox": lambda folder, cpus: inbox.measured(1_000_000, 300, folder, cpus),
    "watches": lambda folder, cpus: watches.measured(10_000, 1000, folder, cpus),
    "hanging": lambda folder, cpus: delays.beside_hanging(300, folder, cpus),
}
QUICK: dict[str, Measure] = {
    "deliveries": lambda folder, cpus: deliveries.measured(3000, folder, cpus),
    "delay": lambda folder, cpus: delays.of_watches(20, folder, cpus),
    "inbox": lambda folder, cpus: inbox.measured(50_000, 30, folder, cpus),
    "watches": lambda folder, cpus: watches.measured(1000, 200, folder, cpus),
    "hanging": lambda folder, cpus: delays.beside_hanging(50, folder, cpus),
}


@click.command()
@click.option("--quick", is_flag=True, help="Take less of everything: half a minute.")
@click.option("--only", metavar="WORD", type=click.Choice(list(FULL)), help="Measure only this.")
def main(quick: bool, only: str | None) -> None:
    """Measure triggers, and print tables."""
    cpus = Cpus.of_this_machine()
    click.echo(f"{cpus}.")
    for name, measure in (QUICK if quick else FULL).items():
        if only in (None, name):
            with TemporaryDirectory() as folder:
                click.echo(f"\n{measure(Path(folder), cpus)}")


if __name__ == "__main__":
    main()
