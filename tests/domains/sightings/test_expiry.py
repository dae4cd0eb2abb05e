"""What has expired or is hidden is there on no path, whatever the store still holds."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from graph.core.errors import NotThere
from graph.core.paging import Paging
from graph.domains.sightings.entities import CHANGES_IN_ORDER, LISTED_SIGHTING, SIGHTING, SIGHTING_BY_ID
from graph.domains.sightings.model import Sighting
from graph.geography.areas import Circle
from graph.store.contract import Put
from graph.store.ordering import PageRequest
from tests.bearers import bearer
from tests.domains.earthquakes.builders import an_event, ingest
from tests.domains.sightings.in_store import ANNA, BEN, CARA, NOON, SightingStore, held_clock, sightings
from tests.service import Service, running
from tests.settings import Settings
from tests.subscribers import event_stream

LIFE_S = 1800
HERE = {"lat": 35.77, "lon": -117.6}
EVENT_ID = "us7000abcd"


async def paths(ours: SightingStore, sighting: Sighting) -> dict[str, Any]:
    """What each path that reads finds of the only sighting."""
    first = PageRequest(Paging(5))
    area, category = sighting.area_slug, sighting.category
    (trend, *_) = await ours.sightings.trends(86_400)
    return {
        "all": await ours.ids(),
        "area": await ours.ids(areas=(area,)),
        "category": await ours.ids(categories=(category,)),
        "near": [await ours.ids(near=Circle(**HERE, radius_km=radius)) for radius in (15, 150, 1500, 15_000)],
        "event": await ours.ids(event_ids=(EVENT_ID,)),
        "user": await ours.ids(user_id=ANNA),
        "id": list(await ours.sightings.by_id([sighting.sighting_id])),
        "needed": list(await ours.sightings.by_id([sighting.sighting_id], frozenset({"text"}))),
        "confidence": [each.sighting_id for each in (await ours.sightings.by_confidence(category, 0, first)).records],
        "trending": trend.count,
        "areas": [each.slug for each in (await ours.areas.page(first)).records],
    }


LISTS = ("all", "area", "category", "event", "user", "id", "needed", "confidence")


def everywhere(sighting: Sighting) -> dict[str, Any]:
    """What the paths find of a sighting that is active."""
    lists = {name: [sighting.sighting_id] for name in LISTS}
    return {**lists, "near": [[sighting.sighting_id]] * 4, "trending": 1, "areas": [sighting.area_slug]}


NOWHERE: dict[str, Any] = {**{name: [] for name in LISTS}, "near": [[]] * 4, "trending": 0, "areas": []}


async def test_a_sighting_is_there_until_its_second_or_its_hiding_although_the_store_holds_it(engine: str) -> None:
    clock = held_clock()
    async with sightings(engine, clock) as ours:
        await ingest(ours.database, [an_event(EVENT_ID, NOON)])
        sighting = await ours.new(ANNA, "FIRE", **HERE, event_id=EVENT_ID, text="smoke")
        assert await paths(ours, sighting) == everywhere(sighting)
        clock.now += 1000 * 900
        await ours.confirm(BEN, sighting)  # which puts the expiry off
        copies = (SIGHTING, SIGHTING_BY_ID, LISTED_SIGHTING)
        held = [Put(entity, item) for entity in copies for item in await ours.items(entity)]
        assert len(held) == 2 + 5  # its lists: of three cells, the user, the earthquake
        clock.now += 1000 * LIFE_S - 1
        assert await paths(ours, sighting) == everywhere(sighting)
        for later in (1, 10**9):
            clock.now += later
            await ours.database.put_many(held)  # SQLite may have deleted some
            assert await paths(ours, sighting) == NOWHERE
            for act in (ours.confirm(CARA, sighting), ours.hide(CARA, sighting.sighting_id, "spam")):
                with pytest.raises(NotThere):
                    await act
        assert await ours.changes.sequence.latest() == 2  # those of the report and the confirmation
        again = await ours.new(ANNA, "FIRE", **HERE, event_id=EVENT_ID)
        assert again.sighting_id != sighting.sighting_id
        assert await paths(ours, again) == everywhere(again)
        await ours.confirm(BEN, again)
        await ours.hide(CARA, again.sighting_id, "spam")
        assert await paths(ours, again) == NOWHERE


# In the graph

REPORT = """mutation ($input: ReportSightingInput!) {
  reportSighting(input: $input) { sighting { id sightingId } }
}"""
PATHS = """query ($id: ID!) {
  node(id: $id) { id }
  sighting(sightingId: $id) { id }
  sightings { nodes { id } }
  trending { count sightings { nodes { id } } }
  areas { nodes { slug sightings { nodes { id } } } }
  profile { sightings { nodes { id } } }
}"""
CONFIRM = "mutation ($id: ID!) { confirmSighting(input: {sightingId: $id}) { confirmed } }"
HIDE = 'mutation ($id: ID!) { hideSighting(input: {sightingId: $id, reason: "spam"}) { deletedId } }'
CHANGES = """subscription ($after: String) {
  sightings(after: $after) { kind nodeId node { text } matches }
}"""


async def test_no_field_of_the_graph_finds_what_has_expired_and_no_subscription_replays_it(tmp_path: Path) -> None:
    clock = held_clock()
    settings = Settings(store=f"sqlite:///{tmp_path / 'sightings.db'}", deliver=False)
    with running(settings, clock=clock) as service:
        sighting = await asyncio.to_thread(report, service, "first")
        assert found(service, sighting) == [6, 1, 1]
        clock.now += 1000 * LIFE_S
        assert found(service, sighting) == [0, 0, 0]
        for mutation in (CONFIRM, HIDE):
            assert service.codes(mutation, {"id": sighting["id"]}) == ["NOT_FOUND"]

        second, third = [await asyncio.to_thread(report, service, area) for area in ("second", "third")]
        await asyncio.to_thread(service.ask, HIDE, {"id": second["id"]})
        first = CHANGES_IN_ORDER.cursor_of({"change": 1})
        replayed: list[dict[str, Any]] = [
            {"kind": "REPORTED", "nodeId": second["id"], "node": None, "matches": False},
            {"kind": "REPORTED", "nodeId": third["id"], "node": {"text": "smoke in third"}, "matches": True},
            {"kind": "HIDDEN", "nodeId": second["id"], "node": None, "matches": False},
        ]
        assert await changes(service, 3, first) == replayed
        clock.now += 1000 * LIFE_S
        assert await changes(service, 3, first) == [{**each, "node": None, "matches": False} for each in replayed]


def report(service: Service, area: str) -> dict[str, str]:
    given = {"category": "FIRE", "area": area, "text": f"smoke in {area}"}
    sighting: dict[str, str] = service.ask(REPORT, {"input": given})["reportSighting"]["sighting"]
    return sighting


def found(service: Service, sighting: dict[str, str]) -> list[int]:
    """What each path of the graph finds: nodes, and a number."""
    data = service.ask(PATHS, {"id": sighting["id"]})
    return [str(data).count("'id':"), str(data).count("'slug':"), sum(each["count"] for each in data["trending"])]


async def changes(service: Service, number: int, after: str) -> list[dict[str, Any]]:
    """So many changes of a subscription."""
    async with event_stream(service.url, CHANGES, variables={"after": after}, headers=bearer()) as stream:
        assert await stream.block() == b":"
        return [(await stream.next_data())["sightings"] for _ in range(number)]
