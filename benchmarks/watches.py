"""Measures how long it takes to find the watches that want an event, beside a loop over all watches.

    python -m benchmarks.watches [--watches 10000]

puts watches of one sort into the index, and asks it about new events of the synthetic catalogue, whose places and
magnitudes are realistic. The loop has each watch's selection compiled beforehand, and tests a sample of the events.
Both run alternately. Each time is the median of the runs. Both must find the same watches, else the command ends with
status 1.
"""

import random
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import cast

import click
import orjson

from benchmarks.catalogue import REGIONS
from benchmarks.markdown import table
from benchmarks.varied_catalogue import varied_lines
from graph.core.clock import now_ms
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.usgs.normalise import read_record
from graph.domains.watches.matching import Interest, WatchIndex
from graph.domains.watches.model import OF_REVISION, ChangeKind
from graph.geography.areas import Box, Circle

EVENTS = 1000  # they come within a minute
RUNS = 5
SAMPLE = 20  # every so many events is tested by the loop, which takes long
MINUTE_S = 60
ALL_KINDS = frozenset(ChangeKind)


# The watches


def _point(rng: random.Random) -> tuple[float, float]:
    """Where many events are or anywhere, in degrees north and east."""
    if rng.random() < 0.5:
        region = rng.choice(REGIONS)
        return region.lat + rng.uniform(-3, 3), region.lon + rng.uniform(-3, 3)
    return rng.uniform(-80, 80), rng.uniform(-170, 170)


def _turned(lon: float) -> float:
    """A longitude from -180 to 180."""
    return (lon + 180) % 360 - 180


def _magnitudes(rng: random.Random) -> MagnitudeRange:
    return MagnitudeRange(rng.choice((None, 1.0, 2.5, 3.0, 4.0, 4.5, 5.0, 6.0)))


def _area(rng: random.Random) -> Selection:
    lat, lon = _point(rng)
    if rng.random() < 0.7:
        circle = Circle(lat, lon, rng.choice((25, 50, 100, 200, 300, 500, 1000)))
        return Selection(circle=circle, magnitudes=_magnitudes(rng))
    high, wide = rng.choice((0.5, 1, 2, 5)), rng.choice((0.5, 1, 3, 8))
    return Selection(
        box=Box(lat - high, lat + high, _turned(lon - wide), _turned(lon + wide)), magnitudes=_magnitudes(rng)
    )


def _one_region(rng: random.Random) -> Selection:
    region = REGIONS[0]
    circle = Circle(region.lat + rng.gauss(0, 2), region.lon + rng.gauss(0, 2), rng.uniform(10, 300))
    return Selection(circle=circle, magnitudes=MagnitudeRange(rng.choice((2.5, 3.0, 4.0, 4.5))))


def _magnitude(rng: random.Random) -> Selection:
    return Selection(magnitudes=MagnitudeRange(rng.uniform(2, 8)))


def _text(rng: random.Random) -> Selection:
    region = rng.choice(REGIONS).name
    return rng.choice(
        (
            Selection(place=region.rpartition(", ")[2]),
            Selection(alerts=("red", "orange"), min_sig=rng.randrange(500, 1000)),
            Selection(networks=(rng.choice(("ci", "nc", "us", "ak")),), tsunami=True),
            Selection(place=f"{rng.randrange(1, 200)} km", types=("earthquake",)),
        )
    )


def _one_event(rng: random.Random) -> Selection:
    return Selection(event_ids=(f"us{rng.randrange(10**7):07}",))


def _everything(rng: random.Random) -> Selection:
    return Selection(magnitudes=MagnitudeRange(rng.uniform(-2, 0)))


SORTS: Mapping[str, Callable[[random.Random], Selection]] = {
    "circles and boxes with magnitudes": _area,
    "circles in one region": _one_region,
    "the whole earth, other least magnitudes": _magnitude,
    "the whole earth, texts and numbers": _text,
    "one event each": _one_event,
    "all want all events": _everything,
}


# The contestants


@dataclass(frozen=True, slots=True)
class Figures:
    """The times of one sort of watches, and their memory."""

    put_us: float  # a watch
    event_us: float  # median of the runs
    loop_us: float
    slowest_ms: float  # the median of the runs' slowest events
    found: float  # watches for an event, on average
    put_bytes: float  # a watch, with its selection
    used_bytes: float  # once all events were tested


class Wrong(Exception):
    """The index and the loop found different watches."""


def new_events() -> list[EventRevision]:
    """The latest events of a varied catalogue, as they are stored."""
    features = map(orjson.loads, varied_lines(EVENTS))
    records = [read_record(feature, ingested_at=now_ms()) for feature in features]
    return [EventRevision(record.item) for record in records if isinstance(record, Event)]


def measured(sort: Callable[[random.Random], Selection], watches: int, events: Sequence[EventRevision]) -> Figures:
    """Measure both, alternately."""
    rng = random.Random(1)  # noqa: S311 - reproducible on purpose
    interests = {f"watch{number}": Interest(sort(rng), ALL_KINDS, since=0) for number in range(watches)}
    index = WatchIndex()
    began = perf_counter()
    for watch_id, interest in interests.items():
        index.put(watch_id, interest)
    put_s = perf_counter() - began
    compiled = [(watch_id, interest, interest.selection.admits) for watch_id, interest in interests.items()]

    def by_loop(version: EventRevision) -> list[str]:
        kind = OF_REVISION[version.kind]
        found = [
            watch_id
            for watch_id, interest, admits in compiled
            if interest.since < 1 and kind in interest.kinds and admits(version.item)
        ]
        return sorted(found)

    def by_index(version: EventRevision) -> list[str]:
        return _wanting(index, version)

    sample = events[::SAMPLE]
    if any(by_index(version) != by_loop(version) for version in sample):
        raise Wrong
    found = sum(len(by_index(version)) for version in events) / len(events)
    ours, loops = [], []
    for _ in range(RUNS):
        ours.append([_seconds(by_index, version) for version in events])
        loops.append([_seconds(by_loop, version) for version in sample])
    return Figures(
        put_us=put_s / watches * 1e6,
        event_us=median(sum(run) for run in ours) / len(events) * 1e6,
        loop_us=median(sum(run) for run in loops) / len(sample) * 1e6,
        slowest_ms=median(max(run) for run in ours) * 1e3,
        found=found,
        **_memory(sort, watches, events),
    )


def _wanting(index: WatchIndex, version: EventRevision) -> list[str]:
    """What the index finds, where no other work waits to be given way."""
    finding = index.wanting(version, 1).__await__()
    while True:
        try:
            next(finding)
        except StopIteration as found:
            return cast("list[str]", found.value)


def _seconds(find: Callable[[EventRevision], object], version: EventRevision) -> float:
    began = perf_counter()
    find(version)
    return perf_counter() - began


def _memory(
    sort: Callable[[random.Random], Selection], watches: int, events: Sequence[EventRevision]
) -> dict[str, float]:
    """The bytes of a watch, before and after its first tests."""
    rng = random.Random(1)  # noqa: S311 - reproducible on purpose
    tracemalloc.start()
    index = WatchIndex()
    for number in range(watches):
        index.put(f"watch{number}", Interest(sort(rng), ALL_KINDS, since=0))
    put, _ = tracemalloc.get_traced_memory()
    for version in events:
        _wanting(index, version)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"put_bytes": put / watches, "used_bytes": used / watches}


# The command


@click.command()
@click.option("--watches", type=click.IntRange(min=1), default=10_000, show_default=True)
def main(watches: int) -> None:
    """Measure each sort of watches, and print."""
    events = new_events()
    rows = []
    for name, sort in SORTS.items():
        try:
            figures = measured(sort, watches, events)
        except Wrong as error:
            raise click.ClickException(f"the index and the loop differ: {name}") from error
        rows.append(
            [
                name,
                f"{figures.found:,.1f}",
                f"{figures.event_us:,.1f}",
                f"{figures.event_us * EVENTS / MINUTE_S / 1e6:.2%}",
                f"{figures.loop_us:,.0f}",
                f"{figures.loop_us / figures.event_us:,.1f} ×",
                f"{figures.slowest_ms:,.1f}",
                f"{figures.put_us:,.0f}",
                f"{figures.put_bytes / 1000:,.1f}",
                f"{figures.used_bytes / 1000:,.1f}",
            ]
        )
    head = ["watches", "found", "µs an event", f"of a core at {EVENTS:,} a minute", "loop µs", "ratio"]
    head += ["slowest ms", "put µs", "kB each", "kB once tested"]
    click.echo(f"{watches:,} watches, {len(events):,} events\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
