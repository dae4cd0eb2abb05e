"""Synthetic sightings: most of them long expired, around the globe and crowded where an earthquake was.

Equal arguments give equal sightings. Three in ten are from towns, of which some are large and most are small. The
others are from around earthquakes: the expired ones of many, in the course of months, and those of today of three. Of
today's sightings more have expired than are active, as after a strong earthquake.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from graph.domains.sightings.areas import NamedArea
from graph.domains.sightings.categories import USUAL
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.selection import list_of_event, list_of_user, lists_of_position
from graph.store.entity import Item

ACTIVE_EVERY = 10  # one in so many is active
TODAY_EVERY = 3  # one in so many of the expired is from the last hours
DAYS = 90  # in which the others were reported
LONGEST_S, LIFETIME_S, MINUTE_S = 21_600, 1800, 60
LIFETIMES = Lifetimes(new=LIFETIME_S, refreshed=LIFETIME_S, longest=LONGEST_S)
RUN_S = 900  # the active ones stay so for as long at least
TOWNS, QUAKES, QUAKES_TODAY = 4000, 60, 3
IN_TOWN = 0.3
NAMES_QUAKE = 0.2  # of those around an earthquake
WITHOUT_POSITION = 0.05
USERS = 200_000
CATEGORIES = tuple(USUAL)
WEIGHTS = (50, 12, 1, 4, 5, 15, 8, 5)  # of the categories
TIERS = ("BRONZE", "SILVER", "GOLD")
TEXTS = ("The lamps swung and the dishes rattled.", "A wall has cracked.", "The street is blocked by stones.", None)


class Town(NamedTuple):
    """Where people live."""

    area: NamedArea
    centre: Point


class Quake(NamedTuple):
    """An earthquake that many people felt."""

    event_id: str
    centre: Point
    at: int  # epoch seconds
    spread: float  # standard deviation of its sightings' latitudes, degrees

    @property
    def aliases(self) -> list[str]:
        """Every id of it, its own first."""
        return [self.event_id, *(f"{network}{self.event_id[2:]}" for network in ("at", "pt", "ci"))]


@dataclass(frozen=True)
class World:
    """So many sightings until a time."""

    number: int
    now: int  # epoch seconds; the active ones are so from then on, for RUN_S at least
    seed: int = 17

    @cached_property
    def towns(self) -> list[Town]:
        """The towns, the largest first. Some are beside the dateline and the poles."""
        rng = random.Random(self.seed)  # noqa: S311 - reproducible on purpose
        towns = []
        for number in range(TOWNS):
            lat = math.degrees(math.asin(rng.uniform(-1, 1))) if number % 50 else rng.choice((-89.5, 89.5, 60.0, -17.0))
            lon = rng.uniform(-180, 180) if number % 50 else rng.choice((-179.97, 179.97))
            towns.append(Town(NamedArea(f"town-{number:04}", f"Town {number:04}"), Point(lat, lon)))
        return towns

    @cached_property
    def quakes(self) -> list[Quake]:
        """The earthquakes; the last ones are those of today."""
        rng = random.Random(self.seed + 1)  # noqa: S311
        quakes = []
        for number in range(QUAKES):
            days = rng.uniform(1, DAYS)
            today = number >= QUAKES - QUAKES_TODAY
            at = self.now - (LONGEST_S - 1800 * (QUAKES - number) if today else round(days * 86_400))
            near = rng.choice(self.towns).centre
            quakes.append(Quake(f"us7000{number:04}", near, at, rng.choice((0.3, 0.6, 1.2))))
        return quakes

    def sightings(self) -> Iterator[Item]:
        """All of them, in no order."""
        return map(self.sighting, range(self.number))

    def sighting(self, number: int) -> Item:
        """One of them."""
        rng = random.Random(self.seed * 1_000_003 + number)  # noqa: S311
        active = number % ACTIVE_EVERY == 0
        today = active or number % TODAY_EVERY == 0
        reported_at, expires_at = self._times(rng, active=active, today=today)
        user_id = f"user-{int(USERS * rng.random() ** 2)}"
        town, position, quake = self._where(rng, today=today)
        category = rng.choices(CATEGORIES, WEIGHTS)[0]
        item: Item = {
            "sightingId": uuid7_of(1000 * reported_at, rng),
            "userId": user_id,
            "category": category,
            "reportedAt": iso_of(reported_at),
            "expiresAt": expires_at,
            "reporterTier": TIERS[min(int(rng.expovariate(2)), 2)],
            "confirmationCount": int(rng.expovariate(0.7)),
        }
        lists = [list_of_user(user_id)]
        if position:
            cell = KM10.cell(*position)
            centre = KM10.centre(cell)
            item |= {"cell": cell, "lat": centre.lat, "lon": centre.lon}
            lists += lists_of_position(*centre)
        if quake:
            item["eventId"] = quake.event_id
            lists.append(list_of_event(quake.event_id))
        if text := rng.choice(TEXTS):
            item["text"] = text
        area = town.area if town else NamedArea.of_cell(item["cell"])
        return LIFETIMES.ranked({**item, "areaSlug": area.slug, "lists": lists})

    def _times(self, rng: random.Random, *, active: bool, today: bool) -> tuple[int, int]:
        """When a sighting was reported, and when it expires."""
        if active:  # most are younger than their lifetime, and others have been confirmed
            age = rng.randrange(LIFETIME_S - RUN_S) if rng.random() < 0.6 else rng.randrange(LONGEST_S - 2 * RUN_S)
            least, most = self.now + RUN_S, min(self.now + LIFETIME_S, self.now - age + LONGEST_S)
            return self.now - age, _minute(rng.randint(least, most))
        age = rng.randrange(LIFETIME_S + MINUTE_S, LONGEST_S) if today else rng.randrange(LONGEST_S, DAYS * 86_400)
        longest = min(LONGEST_S, age - MINUTE_S)
        lived = LIFETIME_S if rng.random() < 0.7 else rng.randint(LIFETIME_S, longest)
        return self.now - age, _minute(self.now - age + lived)

    def _where(self, rng: random.Random, *, today: bool) -> tuple[Town | None, Point | None, Quake | None]:
        """Its town or none, its position or none, and the earthquake that its reporter names."""
        if rng.random() < IN_TOWN:
            town = self.towns[int(TOWNS * rng.random() ** 3)]
            if rng.random() < WITHOUT_POSITION:
                return town, None, None
            return town, _near(rng, town.centre, 0.03), None
        quakes = self.quakes[-QUAKES_TODAY:] if today else self.quakes[:-QUAKES_TODAY]
        quake = rng.choice(quakes)
        named = quake if rng.random() < NAMES_QUAKE else None
        return None, _near(rng, quake.centre, quake.spread), named


def _near(rng: random.Random, centre: Point, spread: float) -> Point:
    """A position near another one, across the dateline if need be."""
    lat = max(-90.0, min(90.0, rng.gauss(centre.lat, spread)))
    widening = max(math.cos(math.radians(centre.lat)), 0.02)
    return Point(lat, (rng.gauss(centre.lon, spread / widening) + 180) % 360 - 180)


def _minute(seconds: int) -> int:
    return -(-seconds // MINUTE_S) * MINUTE_S


def uuid7_of(now: int, rng: random.Random) -> str:
    """An id that was made at a time, epoch milliseconds."""
    value = (now << 80 | rng.getrandbits(80)) & ~(0xF << 76) | 7 << 76
    return str(UUID(int=value & ~(0b11 << 62) | 0b10 << 62))
