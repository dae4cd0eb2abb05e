"""A place with 100,000 active sightings, all of one area, for attacks."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sightings.stores import Rest
from benchmarks.sightings.world import CATEGORIES, LIFETIME_S, LIFETIMES, LONGEST_S, MINUTE_S, WEIGHTS, uuid7_of
from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.selection import list_of_user, lists_of_position
from graph.store.contract import Put
from graph.store.entity import Item
from graph.store.sqlite import open_sqlite

NUMBER = 100_000
SLUG = "crowd"
PLACE = Point(35.6, -117.6)
SPREAD = 0.1  # degrees
ACTIVE_S = LONGEST_S - LIFETIME_S  # a run is shorter
AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many active sightings of one area. They stay so for hours, since they have been confirmed."""

    now: int  # epoch seconds
    number: int = NUMBER

    def sightings(self) -> Iterator[Item]:
        """All of them."""
        rng = random.Random(8)  # noqa: S311 - reproducible on purpose
        for number in range(self.number):
            position = Point(rng.gauss(PLACE.lat, SPREAD), rng.gauss(PLACE.lon, SPREAD))
            cell = KM10.cell(*position)
            centre = KM10.centre(cell)
            reported_at, user_id = self.now - rng.randrange(LIFETIME_S), f"user-{number}"
            yield LIFETIMES.ranked(
                {
                    "sightingId": uuid7_of(1000 * reported_at, rng),
                    "userId": user_id,
                    "areaSlug": SLUG,
                    "category": rng.choices(CATEGORIES, WEIGHTS)[0],
                    "text": "The lamps swung and the dishes rattled.",
                    "reportedAt": iso_of(reported_at),
                    "expiresAt": (self.now + ACTIVE_S) // MINUTE_S * MINUTE_S,
                    "cell": cell,
                    **centre._asdict(),
                    "reporterTier": "BRONZE",
                    "confirmationCount": 1,
                    "lists": [list_of_user(user_id), *lists_of_position(*centre)],
                }
            )


async def store_crowd(path: Path, crowd: Crowd) -> None:
    """Store its sightings."""
    rest, sightings = Rest(), list(crowd.sightings())
    async with open_sqlite(path, entities_of(DOMAINS)) as database:
        for at in range(0, len(sightings), AT_ONCE):
            for entity, items in rest.stored(sightings[at : at + AT_ONCE]):
                await database.put_many([Put(entity, item, is_checked=True) for item in items])
        for entity, items in rest.at_last():
            await database.put_many([Put(entity, item, is_checked=True) for item in items])
