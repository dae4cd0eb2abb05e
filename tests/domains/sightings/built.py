"""Sightings that are put into a store as reporting does, without a report: `a_sighting(3, lat=1.0, lon=2.0)`."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from graph.core.paging import Page, Paging, Position
from graph.domains.sightings import copies
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.entities import ENTITIES
from graph.domains.sightings.grid import KM10
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.model import Sighting
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.selection import SightingSelection, list_of_event, list_of_user, lists_of_position
from graph.store.contract import Database, Put
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from tests.domains.sightings.in_store import ANNA, LIFETIMES, NOON_S, held_clock
from tests.store.engines import empty_database
from tests.store.samples import HeldClock


def a_sighting(
    number: int = 0,
    reported_at: int = NOON_S,
    *,
    lat: float | None = None,
    lon: float | None = None,
    lives_s: int = LIFETIMES.new,
    **others: Any,
) -> Item:
    """The item of a sighting; what is not given does not matter."""
    item = {
        "sightingId": str(UUID(int=number * 7919 % 10_007)),  # in no order
        "userId": ANNA,
        "areaSlug": "downtown",
        "category": "SHAKING",
        "reportedAt": iso_of(reported_at),
        "expiresAt": reported_at + lives_s,
        "reporterTier": "BRONZE",
        "confirmationCount": 0,
        **others,
    }
    lists = [list_of_user(item["userId"])]
    if lat is not None and lon is not None:
        cell = KM10.cell(lat, lon)
        centre = KM10.centre(cell)
        item |= {"cell": cell, **centre._asdict()}
        lists += lists_of_position(*centre)
    if "eventId" in item:
        lists.append(list_of_event(item["eventId"]))
    return LIFETIMES.ranked({**item, "lists": lists})


async def put(database: Database, items: Iterable[Item]) -> None:
    """Store sightings under all their keys."""
    actions = [action for item in items for action in copies.puts(item)]
    await database.put_many([Put(each.entity, each.item) for each in actions if isinstance(each, Put)])


@asynccontextmanager
async def readable(
    engine: str, items: Iterable[Item], clock: HeldClock | None = None
) -> AsyncIterator[tuple[Database, Sightings]]:
    """A table with these sightings, and what reads them."""
    clock = clock or held_clock()
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        await put(database, items)
        yield database, reading(database, clock)


def reading(database: Database, clock: HeldClock) -> Sightings:
    """What reads the sightings of a database."""
    return Sightings(database, clock, Categories(), longest_s=LIFETIMES.longest_kept)


async def page_of(ours: Sightings, selection: SightingSelection, paging: Paging) -> Page[Sighting]:
    """A page of a selection."""
    return await ours.page(selection, PageRequest(paging))


def place_of(item: Position) -> tuple[str, str]:
    """By what all lists in order of time are ordered."""
    return item["reportedAt"], item["sightingId"]


def newest_first(items: Iterable[Item]) -> list[Item]:
    """Sightings in the order of all lists in order of time."""
    return sorted(items, key=place_of, reverse=True)


def ids(page: Page[Sighting]) -> list[str]:
    """The ids of a page's sightings."""
    return [each.sighting_id for each in page.records]


def ids_of(items: Iterable[Item]) -> list[str]:
    """The ids of items."""
    return [item["sightingId"] for item in items]
