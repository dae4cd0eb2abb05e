"""What sightings cost on DynamoDB: calls and consumed capacity units, counted by a proxy before DynamoDB Local.

    python -m benchmarks.sightings.capacity

The emulator would delete what has expired at once, other than DynamoDB. So the table has no TTL here.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import boto3
import click
import orjson

from benchmarks.cache import CHECKOUT
from benchmarks.cpus import Cpus, on_cpu
from benchmarks.dynamodb import AWS, STORE, TABLE
from benchmarks.dynamodb_contestants import Contestant, our_service
from benchmarks.markdown import table
from benchmarks.sightings.reading import COUNTS, ONE, PAGES, RANKINGS
from benchmarks.sightings.stores import Rest
from benchmarks.sightings.users import tokens
from benchmarks.sightings.world import ACTIVE_EVERY, CATEGORIES, QUAKES_TODAY, World
from benchmarks.sightings.writing import CONFIRM, REPORT
from benchmarks.triggers.stores import done
from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.domains.sightings.entities import BLIP
from graph.store.contract import Put
from graph.store.location import StoreLocation
from scripts import dynamodb_local

SIGHTINGS = 2000
REQUESTS = 10  # of each kind


class Request(NamedTuple):
    """A request of one of the users."""

    query: str
    variables: Mapping[str, Any]
    user: int = 0


@click.command()
def main() -> None:
    """Count what requests of each kind cost, and print a table."""
    with TemporaryDirectory() as folder:
        click.echo(measured(Path(folder), Cpus.of_this_machine()))


def measured(folder: Path, cpus: Cpus) -> str:
    """Count what requests of each kind cost. Returns a table."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_DYNAMODB"):
        os.environ.pop(name, None)
    with on_cpu(cpus.load), dynamodb_local.running() as endpoint:
        os.environ.update(AWS, AWS_ENDPOINT_URL=endpoint)
        world = World(SIGHTINGS, round(time.time()))
        _create_tables(endpoint)
        done(_fill(world))
        with our_service(endpoint, TABLE, cpus.server, folder) as ours:
            rows = [_row(name, list(some), ours) for name, some in _requests(world, ours)]
    return table([f"DynamoDB, {SIGHTINGS:,} sightings", "calls", "capacity units"], rows)


def _create_tables(endpoint: str) -> None:
    create = [sys.executable, "-m", "graph", "tables", "create", "--store", STORE]
    subprocess.run(create, cwd=CHECKOUT, stdout=subprocess.DEVNULL, check=True)
    specification = {"Enabled": False, "AttributeName": BLIP.ttl}
    client = boto3.client("dynamodb", endpoint_url=endpoint)
    client.update_time_to_live(TableName=BLIP.name, TimeToLiveSpecification=specification)


async def _fill(world: World) -> None:
    rest = Rest()
    async with StoreLocation.of(STORE).open(entities_of(DOMAINS)) as database:
        for entity, items in (*rest.stored(list(world.sightings())), *rest.at_last()):
            await database.put_many([Put(entity, item) for item in items])


def _row(name: str, requests: list[Request], ours: Contestant) -> list[str]:
    users = tokens(ours.server.contender, REQUESTS + 1)
    connection = ours.connection()
    before = ours.traffic.of_table(BLIP.name)
    for query, variables, user in requests:
        body = orjson.dumps({"query": query, "variables": variables})
        connection.ask(body, {"Authorization": f"Bearer {users[user]}"})
    after = ours.traffic.of_table(BLIP.name)
    return [name, *(f"{(now - then) / len(requests):.4g}" for now, then in zip(after, before, strict=True))]


def _requests(world: World, ours: Contestant) -> Iterator[tuple[str, Iterator[Request]]]:
    active = [world.sighting(number) for number in range(0, world.number, ACTIVE_EVERY)]
    busiest = [slug for slug, _ in Counter(item["areaSlug"] for item in active).most_common(REQUESTS)]
    yield "a page of 50 of an area", (_page({"areas": [slug]}) for slug in busiest)
    yield "a page of 50 of a category", (_page({"categories": [CATEGORIES[0]]}, 50 - n) for n in range(REQUESTS))
    for radius in (5, 50, 500):
        centres = [world.quakes[-1 - number % QUAKES_TODAY].centre for number in range(REQUESTS)]
        yield (
            f"near an earthquake, {radius} km",
            (
                _page({"near": {**centre._asdict(), "radiusKm": radius + number / 100}})
                for number, centre in enumerate(centres)
            ),
        )
    yield "by its id", (Request(ONE, {"id": item["sightingId"]}) for item in active[:REQUESTS])
    yield "trending: the counts", (Request(COUNTS, {"window": 3600 * (6 + n)}) for n in range(REQUESTS))
    yield (
        "trending, and ten of each category",
        (Request(RANKINGS, {"window": 3600 * (6 + n), "first": 10}) for n in range(REQUESTS)),
    )
    yield (
        "a report",
        (
            Request(REPORT, {"input": {"category": "FIRE", "lat": 7 * n - 30, "lon": 11 * n}}, n)
            for n in range(REQUESTS)
        ),
    )
    yield (
        "a report that repeats another one's",
        (
            Request(REPORT, {"input": {"category": "FIRE", "lat": 7 * n - 30, "lon": 11 * n}}, REQUESTS)
            for n in range(REQUESTS)
        ),
    )
    yield "a confirmation", (Request(CONFIRM, {"id": active[-1]["sightingId"]}, n) for n in range(REQUESTS))


def _page(filter_: Mapping[str, Any], first: int = 50) -> Request:
    return Request(PAGES, {"filter": filter_, "first": first})


if __name__ == "__main__":
    main()
