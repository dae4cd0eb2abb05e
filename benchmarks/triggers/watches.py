"""What many watches take of a processor when new earthquakes come, beside a loop that tests every watch."""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from benchmarks.catalogue import REGIONS
from benchmarks.cpus import Cpus
from benchmarks.markdown import table
from benchmarks.servers import Server
from benchmarks.triggers.delays import ENDPOINT
from benchmarks.triggers.programs import USER, Client, delivering, serving
from benchmarks.triggers.receiver import Receiver, receiving
from benchmarks.triggers.stores import done, number_of_events, store_watches
from benchmarks.varied_catalogue import varied_lines
from graph.core.clock import now_ms
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.schema.filter_json import selection_of_json
from graph.domains.earthquakes.usgs.normalise import read_record

SAMPLE = 20  # events that the loop tests
MINUTE_S = 60
INGEST = "mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"


def measured(watches: int, events: int, folder: Path, cpus: Cpus) -> str:
    """So many watches, and so many events of one ingest."""
    path = folder / "many.db"
    filters = list(_filters(watches))
    given = [_event(line) for line in varied_lines(events)]
    with receiving(cpus.load) as receiver, serving(path, cpus.load, folder, deliver="false") as (server, _):
        endpoint = Client(server).ask(ENDPOINT, {"url": receiver.url()})["createEndpoint"]["endpoint"]["endpointId"]
        done(store_watches(path, USER, filters))
        done(store_watches(path, USER, [{"eventIds": ["last0", "last1"]}], endpoint))
        with delivering(path, cpus.server, folder) as watcher:
            began_at = watcher.cpu_seconds()
            _say_last(server, receiver, 0)
            read_s = watcher.cpu_seconds() - began_at
            cpu, began = watcher.cpu_seconds(), time.perf_counter()
            Client(server).ask(INGEST, {"events": given})
            _say_last(server, receiver, 1)
            took, used = time.perf_counter() - began, watcher.cpu_seconds() - cpu
            memory = watcher.memory_mb()
        made = done(number_of_events(path, USER)) - 2
    looped = _loop(filters, given)
    rows = [
        [
            "`quakegraph deliver`",
            f"{took:.2f}",
            f"{used:.2f}",
            f"{used / MINUTE_S:.2%}",
            f"{made:,}",
            f"{read_s:.1f}",
            f"{memory:.0f}",
        ],
        ["a loop over all watches, without storing", "", f"{looped:.2f}", f"{looped / MINUTE_S:.2%}", "", "", ""],
    ]
    head = [f"{watches:,} watches, {events:,} events", "seconds", "CPU s", "of a core in a minute"]
    return table([*head, "made", "CPU s at the start", "MB"], rows)


def _filters(number: int) -> Iterator[dict[str, Any]]:
    """Circles of all sizes with magnitudes, half of them where many events are."""
    rng = random.Random(1)  # noqa: S311 - reproducible on purpose
    for _ in range(number):
        region = rng.choice(REGIONS)
        near = {"lat": region.lat + rng.uniform(-3, 3), "lon": (region.lon + rng.uniform(-3, 3) + 180) % 360 - 180}
        anywhere = {"lat": rng.uniform(-80, 80), "lon": rng.uniform(-170, 170)}
        circle = {**rng.choice((near, anywhere)), "radiusKm": rng.choice((25, 50, 100, 200, 300, 500, 1000))}
        yield {"circle": circle, "minMagnitude": rng.choice((1.0, 2.5, 3.0, 4.0, 4.5, 5.0, 6.0))}


def _event(line: bytes) -> dict[str, Any]:
    """A line of the catalogue as an input."""
    feature = orjson.loads(line)
    lon, lat, depth = feature["geometry"]["coordinates"]
    properties = feature["properties"]
    return {
        "eventId": feature["id"],
        "eventTsMs": properties["time"],
        "mag": properties["mag"],
        "place": properties["place"],
        "lat": lat,
        "lon": lon,
        "depth": depth,
    }


def _say_last(server: Server, receiver: Receiver, number: int) -> None:
    """Ingest an event that only one watch wants, and wait for its webhook: whatever came before it is done."""
    event = {"eventId": f"last{number}", "eventTsMs": now_ms(), "mag": 0, "lat": -85, "lon": 0, "place": "Here"}
    Client(server).ask(INGEST, {"events": [event]})
    receiver.wait_for(number + 1)


def _loop(filters: list[dict[str, Any]], events: list[dict[str, Any]]) -> float:
    """The seconds of a processor that all events would take a loop over all watches, by a sample."""
    admitting = [selection_of_json(each).admits for each in filters]
    features = [orjson.loads(line) for line in varied_lines(SAMPLE)]
    records = [read_record(feature, ingested_at=now_ms()) for feature in features]
    items = [record.item for record in records if isinstance(record, Event)]
    cpu = time.process_time()
    for item in items:
        sum(admits(item) for admits in admitting)
    return (time.process_time() - cpu) / len(items) * len(events)
