"""Measures how the time of a query grows with its time range, the depth of its page and the catalogue, on SQLite.

    python -m benchmarks.scaling [--store sqlite:///FILE] [--rounds 200]

The file must hold the whole usual catalogue, and request logs are written to it. Without the option, a catalogue is
ingested into the cache. Times are medians on one connection, from the request to the last byte of its answer. The
queries of one table are measured alternately, so that all of them meet the same machine.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import orjson

from benchmarks import markdown
from benchmarks.cache import CACHE
from benchmarks.catalogue import USUAL
from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.depth import cursors_behind
from benchmarks.newest import Newest
from benchmarks.servers import Connection, running
from benchmarks.start_up import start_seconds
from benchmarks.workload import OURS, Count, Page, Selection

PAGE = 100
WINDOWS = {"1 day": 1, "7 days": 7, "30 days": 30, "1 year": 365, "10 years": USUAL.days}
DEPTHS = (1, 10, 100, 1_000, 10_000)
SIZES = (10_000, 100_000, USUAL.events)
TIMES = ("for the first time", "for the second time", "from then on")
WALK = 40  # pages, with about as many events as the service keeps in memory
STARTS = 5
FILE = "quakegraph.db"
WARM_UP = 5  # rounds that do not count


@dataclass(frozen=True, slots=True)
class Scene:
    """The services that are measured, by the number of their events, each with a connection."""

    newest: Mapping[int, Newest]
    connections: Mapping[int, Connection]
    rounds: int

    def medians(self, requests: Mapping[str, tuple[Connection, bytes]]) -> dict[str, float]:
        """The median time of each request in milliseconds, by its name."""
        for _ in range(WARM_UP):
            for connection, body in requests.values():
                connection.ask(body)  # raises on an answer with errors
        took: dict[str, list[float]] = {name: [] for name in requests}
        for _ in range(self.rounds):
            for name, (connection, body) in requests.items():
                began = perf_counter()
                connection.post(body)
                took[name].append((perf_counter() - began) * 1000)
        return {name: median(each) for name, each in took.items()}


@click.command()
@click.option("--store", metavar="URL", help="sqlite:///FILE with the whole usual catalogue.")
@click.option("--rounds", type=click.IntRange(min=1), default=200, show_default=True, help="Requests of each kind.")
@click.option("--again", is_flag=True, help="Ingest again, even if the cache has the store.")
def main(store: str | None, rounds: int, again: bool) -> None:
    """Measure how our service on SQLite scales."""
    cpus = Cpus.of_this_machine()
    newest = {size: Newest.of(size) for size in SIZES}
    given = {USUAL.events: Path(store.removeprefix("sqlite:///"))} if store else {}
    stores = {size: given.get(size) or ingested(newest[size], again) for size in SIZES}
    with on_cpu(cpus.load), serving(stores, cpus) as connections:
        scene = Scene(newest, connections, rounds)
        print(windows_table(scene), depths_table(scene), sizes_table(scene), walks_table(scene), sep="\n\n")
    with on_cpu(cpus.load):
        starts = [start_seconds(our_service(stores[USUAL.events]), cpus.server) for _ in range(STARTS)]
    print(f"\nFrom the start of `quakegraph serve` to its first answer: {median(starts):.2f} s. {cpus}.")


def ingested(newest: Newest, again: bool) -> Path:
    """A store with these events, from the cache if it has one."""
    folder = CACHE / f"newest-{newest.events}"
    if again:
        rmtree(folder, ignore_errors=True)
    if not folder.is_dir():
        with TemporaryDirectory(dir=CACHE) as scratch:
            began = perf_counter()
            newest.ingest_into(f"sqlite:///{scratch}/{FILE}")
            rate = newest.events / (perf_counter() - began)
            click.echo(f"Ingested {newest.events:,} events, {rate:,.0f} a second.", err=True)
            Path(scratch).rename(folder)
            Path(scratch).mkdir()  # for the `with` to remove
    return folder / FILE


@contextmanager
def serving(stores: Mapping[int, Path], cpus: Cpus) -> Iterator[dict[int, Connection]]:
    """Run a service on each store. Yields a connection to each."""
    with ExitStack() as services:
        connections = {}
        for size, store in stores.items():
            logs = Path(services.enter_context(TemporaryDirectory()))
            connections[size] = Connection(services.enter_context(running(our_service(store), cpus.server, logs)))
        yield connections


def windows_table(scene: Scene) -> str:
    """The first page of ever longer time ranges, which end with the catalogue."""
    newest = scene.newest[USUAL.events]
    asked = {name: OURS.body(Page(PAGE, newest.last_days(days, 2))) for name, days in WINDOWS.items()}
    return _pages_table(scene, "first 100 of M ≥ 2, window", asked)


def depths_table(scene: Scene) -> str:
    """Pages at ever greater depths."""
    places = [(depth - 1) * PAGE for depth in DEPTHS]
    cursors = cursors_behind(scene.connections[USUAL.events], places, Selection())
    names = [f"{depth:,}" for depth in DEPTHS]
    asked = {name: OURS.body(Page(PAGE), cursors[place]) for name, place in zip(names, places, strict=True)}
    return _pages_table(scene, "page of 100, by cursor", asked)


def _pages_table(scene: Scene, title: str, asked: Mapping[str, bytes]) -> str:
    connection = scene.connections[USUAL.events]
    took = scene.medians({name: (connection, body) for name, body in asked.items()})
    found = {name: len(connection.ask(body)["events"]["edges"]) for name, body in asked.items()}
    return markdown.table([title, "events", "ms"], [[name, str(found[name]), f"{took[name]:.2f}"] for name in asked])


def sizes_table(scene: Scene) -> str:
    """The same questions on ever larger catalogues."""
    rows = []
    for name, body_of in KINDS.items():
        asked = {f"{size:,}": (connection, body_of(scene, size)) for size, connection in scene.connections.items()}
        rows.append([name, *(f"{each:.2f}" for each in scene.medians(asked).values())])
    return markdown.table(["ms, of so many events", *(f"{size:,}" for size in scene.connections)], rows)


def _middle(scene: Scene, size: int) -> bytes:
    place = size // 2
    return OURS.body(Page(PAGE), cursors_behind(scene.connections[size], [place], Selection())[place])


def walks_table(scene: Scene) -> str:
    """Pages one after the other, which the service reads for the first time; then the same pages again, twice."""
    connection = scene.connections[USUAL.events]
    place = DEPTHS[-2] * PAGE * 2
    cursor = cursors_behind(connection, [place], Selection())[place]
    walks = []
    for _ in TIMES:
        at, took = cursor, []
        for _ in range(WALK):
            body = OURS.body(Page(PAGE), at)
            began = perf_counter()
            answer = connection.post(body)
            took.append((perf_counter() - began) * 1000)
            at = orjson.loads(answer)["data"]["events"]["pageInfo"]["endCursor"]
        walks.append(f"{median(took):.2f}")
    walked = [[way, took] for way, took in zip(TIMES, walks, strict=True)]
    return markdown.table([f"{WALK} pages of 100, one after the other", "ms a page"], walked)


KINDS: dict[str, Callable[[Scene, int], bytes]] = {
    "first 100": lambda scene, size: OURS.body(Page(PAGE)),
    "first 100 of 30 days, M ≥ 2": lambda scene, size: OURS.body(Page(PAGE, scene.newest[size].last_days(30, 2))),
    "100 behind the middle": _middle,
    "the strongest twenty": lambda scene, size: OURS.body(Page(PAGE, scene.newest[size].sparse)),
    "one event by id": lambda scene, size: OURS.body(scene.newest[size].middle),
    "count of all, M ≥ 2.5": lambda scene, size: OURS.body(Count(Selection(min_mag=2.5))),
}


if __name__ == "__main__":
    main()
