"""Measures queries of many shapes on a million events: never asked before, asked again, and beside Strawberry.

    python -m benchmarks.shapes [--quick] [--store FILE] [--only WORDS] [--seconds 1] [--rounds 3]

asks a server of ours, and for the shapes that it has an ordinary Strawberry server, whose answers are compared with
ours. Then it starts a new process for each shape on a file that is in no memory, and asks one query. `--store` names
a file with the whole usual catalogue; request logs are written to it.

The servers have one CPU and the load another.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from benchmarks import stores
from benchmarks.answers import Asking
from benchmarks.cache import made_folder
from benchmarks.contenders import our_service, python_peer
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.load import generator
from benchmarks.markdown import table
from benchmarks.paces import SAMPLES, Kind, Pace, cells, different, different_and_again
from benchmarks.servers import Connection, Server, running
from benchmarks.shapes import cold
from benchmarks.shapes.shapes import Shape, shapes

EVENTS, QUICK_EVENTS = 1_000_000, 100_000
LEAST_OF_PEER_S = 5.0  # it takes seconds for some answers
OF_A_SERVER = ("cursor", "endCursor", "at", "ingestedAt", "recorded")  # which differ between servers


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and for how long."""

    shapes: Sequence[Shape]
    seconds: float  # for each measurement
    rounds: int


@click.command()
@click.option("--quick", is_flag=True, help="100,000 events, one round.")
@click.option("--store", type=click.Path(path_type=Path, exists=True), help="A file with the whole usual catalogue.")
@click.option("--only", metavar="WORDS", default="", help="Only shapes whose name has these words.")
@click.option("--seconds", default=1.0, show_default=True, help="Length of one measurement.")
@click.option("--rounds", default=3, show_default=True, help="Measurements of each shape.")
def main(quick: bool, store: Path | None, only: str, seconds: float, rounds: int) -> None:
    """Measure queries of many shapes, and print two tables."""
    cpus, events = Cpus.of_this_machine(), QUICK_EVENTS if quick else EVENTS
    plan = Plan([shape for shape in shapes(events) if only in shape.name], seconds, 1 if quick else rounds)
    with TemporaryDirectory(dir=made_folder()) as name, on_cpu(cpus.load):
        folder = Path(name)
        ours = store or folder / "ours.db"
        if not store:
            stores.import_ours(events, ours, cpus.server)
        shown, asked = measured(plan, ours, stores.peers_file(events), folder, cpus)
        click.echo(f"{shown}\n")
        click.echo(f"{cold.measured(ours, asked, cpus)}\n\n{cpus}.")


def measured(plan: Plan, store: Path, peers_file: Path, folder: Path, cpus: Cpus) -> tuple[str, dict[str, list[bytes]]]:
    """Measure each shape on a running server. Returns a table, and a few requests of each shape."""
    with ExitStack() as servers:
        ours = servers.enter_context(running(our_service(store), cpus.server, folder))
        peer = servers.enter_context(running(python_peer("strawberry", peers_file), cpus.server, folder))
        common = [shape for shape in plan.shapes if not shape.is_ours_alone]
        asking, other = Asking(ours), Asking(peer)
        for shape in common:
            compare(shape, ours, asking, peer, other)
        asked = {shape.name: list(islice(shape.bodies(asking), SAMPLES)) for shape in plan.shapes}
        kinds = {shape.name: Kind(ours, shape.bodies(asking)) for shape in plan.shapes}
        theirs = {shape.name: Kind(peer, shape.bodies(other)) for shape in common}
        paces = different_and_again(kinds, generator(), plan.seconds, plan.rounds)
        others = different(theirs, generator(), max(plan.seconds, LEAST_OF_PEER_S), 1)
    head = ["answers never asked before", "a second", "p50 / p99, ms", "CPU ms", "CPU ms again", "ratio"]
    rows = [_row(name, pace, again, others.get(name)) for name, (pace, again) in paces.items()]
    return table([*head, "Strawberry's CPU ms", "ratio"], rows), asked


def _row(name: str, pace: Pace, again: Pace, other: Pace | None) -> list[str]:
    beside = [f"{other.cost:.2f}", f"{other.cost / pace.cost:.1f} ×"] if other else ["", ""]
    return [name, *cells(pace), f"{again.cost:.2f}", f"{pace.cost / again.cost:.2f}", *beside]


def compare(shape: Shape, ours: Server, asking: Asking, peer: Server, other: Asking) -> None:
    """Compare answers of both servers."""
    pairs: Iterator[tuple[bytes, bytes]] = zip(shape.bodies(asking), shape.bodies(other), strict=False)
    with Connection(ours) as to_ours, Connection(peer) as to_peer:
        for body, theirs in islice(pairs, 2):
            answer, expected = common_part(to_ours.ask(body)), common_part(to_peer.ask(theirs))
            if answer != expected:
                raise RuntimeError(f"{shape.name}: {str(answer)[:300]}, but Strawberry: {str(expected)[:300]}")


def common_part(value: Any) -> Any:
    """An answer without what differs between servers."""
    if isinstance(value, Mapping):
        return {name: common_part(each) for name, each in value.items() if name not in OF_A_SERVER}
    return [common_part(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
