"""A watch that another program has made by document 002 alone is served as ours, and is told of sightings."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest

from graph.api.relay import global_id
from graph.core.services import Services
from graph.domains.area_watches import DOMAIN as AREA_WATCHES
from graph.domains.area_watches.entities import AREA_WATCH, AREA_WATCHER
from graph.domains.sightings.changes import SightingChanges
from graph.domains.triggers.sending.resolver import Resolver
from graph.feed.adopter import LOOK_EVERY_S, Adopter, AdoptionMetrics
from graph.observability.metrics import Metrics
from graph.work.tasks import BackgroundTasks
from tests.bearers import bearer
from tests.domains.area_watches.lookouts import Lookout, told_by, watches_in
from tests.domains.entities import ENTITIES
from tests.domains.sightings.foreign import ForeignSightings, a_sighting
from tests.domains.triggers.in_store import LOOPBACK
from tests.processes import TIMEOUT_S
from tests.service import Service
from tests.store.engines import open_dynamodb
from tests.store.fault_proxy import Answer, Forward, proxying

USER = "u_abc123"
WATCHES = "{ areaWatches { nodes { id watchId area category createdAt } } }"
WATCH = """mutation ($category: SightingCategory) {
  createAreaWatch(input: {area: "Downtown", category: $category}) { areaWatch { area category } }
}"""
UNWATCH = "mutation ($id: ID!) { deleteAreaWatch(input: {watchId: $id}) { deletedId } }"


def a_watch(area: str = "Downtown", category: str = "Sneakers", watch_id: str = "w1", **more: Any) -> dict[str, Any]:
    """The document's watch: its keys."""
    return {"PK": f"USER#{USER}", "SK": f"WATCH#{area}#{category}#{watch_id}", **more}


@asynccontextmanager
async def a_lookout_at(foreign: ForeignSightings) -> AsyncIterator[Lookout]:
    resolver = Resolver(LOOPBACK)
    async with open_dynamodb(ENTITIES, prefix=foreign.prefix, clock=foreign.clock) as database:
        try:
            watches = watches_in(database, foreign.clock)
            yield Lookout(database, foreign.clock, resolver, watches, SightingChanges(database), count())
        finally:
            await resolver.close()


def ask(service: Service, query: str, **variables: Any) -> dict[str, Any]:
    """The data of the answer to the watcher."""
    sent = {"query": query, "variables": variables}
    answer: dict[str, Any] = service.http.post("/graphql", json=sent, headers=bearer(subject=USER)).json()
    return answer


async def test_a_foreign_watch_is_told_of_foreign_sightings_once_and_not_when_it_is_deleted(
    foreign: ForeignSightings,
) -> None:
    foreign.put(
        a_watch(),
        a_watch("Morgan Hill", "ALL", "w2"),
        a_watch("Downtown", "Tea", "w3"),
        a_watch("downtown", "Sneakers", "w4"),
    )
    await foreign.adopt()
    foreign.table.delete_item(Key={"PK": f"USER#{USER}", "SK": "WATCH#downtown#Sneakers#w4"})
    foreign.put(
        a_sighting(),
        a_sighting("Morgan Hill", "Street Food", sighting_id="def456"),
        a_sighting(sighting_id="own", userId=USER),
        a_sighting("Uptown", sighting_id="elsewhere"),
    )
    await foreign.adopt()
    async with a_lookout_at(foreign) as lookout:
        await lookout.follower().catch_up()
        await lookout.follower().catch_up()
        events = await lookout.events()
        assert sorted(map(told_by, events)) == [("w1", "abc123"), ("w2", "def456")]
        assert {event.user_id for event in events} == {USER}
        (first,) = [event.payload for event in events if event.payload["sighting"]["sightingId"] == "abc123"]
        assert (first["sighting"]["area"], first["watch"]) == (
            {"slug": "downtown"},
            {"watchId": "w1", "area": "downtown", "category": "Sneakers"},
        )


async def test_a_foreign_watch_is_listed_and_ended_before_and_after_it_is_adopted(foreign: ForeignSightings) -> None:
    foreign.put(
        a_watch(),
        a_watch("Morgan Hill", "Street Food", "w2", createdAt="2026-06-25T14:00:00.000Z"),
        a_watch("Uptown", "Tea", "w3", createdAt=["broken"]),
    )
    with foreign.served() as service:
        first, second = ask(service, WATCHES)["data"]["areaWatches"]["nodes"]
        assert first == {
            "id": first["id"],
            "watchId": "w1",
            "area": "downtown",
            "category": "Sneakers",
            "createdAt": "2026-06-25T14:40:00.000Z",
        }
        assert (second["area"], second["category"]) == ("morgan-hill", "Street Food")
        assert second["createdAt"] == "2026-06-25T14:00:00.000Z"
        assert ask(service, UNWATCH, id="w2")["data"] == {
            "deleteAreaWatch": {"deletedId": global_id("AreaWatch", "w2")}
        }
        await foreign.adopt()
        (first,) = ask(service, WATCHES)["data"]["areaWatches"]["nodes"]
        assert first["createdAt"] == "2026-06-25T14:40:00.000Z"
        assert ask(service, UNWATCH, id="w1")["data"] == {
            "deleteAreaWatch": {"deletedId": global_id("AreaWatch", "w1")}
        }
        assert ask(service, UNWATCH, id="w1")["errors"][0]["extensions"]["code"] == "NOT_FOUND"
        assert ask(service, WATCH, category="ALL")["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
        made = ask(service, WATCH, category="Tea")
        assert made["data"] == {"createAreaWatch": {"areaWatch": {"area": "downtown", "category": "Tea"}}}
    async with a_lookout_at(foreign) as lookout:
        watch = [item async for item in lookout.database.scan(AREA_WATCH)]
        assert [(item["areaSlug"], item["category"]) for item in watch] == [("downtown", "Tea")]
        assert len([item async for item in lookout.database.scan(AREA_WATCHER)]) == 1


async def test_watches_of_two_users_with_one_id_are_each_told_also_once_one_of_them_is_ended(
    foreign: ForeignSightings,
) -> None:
    long_id = "w" * 64
    ben = {"PK": "USER#ben", "SK": "WATCH#Downtown#Sneakers#w1"}
    foreign.put(a_watch(), ben, a_watch(watch_id=long_id), a_watch(category="ALL"))
    await foreign.adopt()
    foreign.put(a_sighting())
    await foreign.adopt()
    async with a_lookout_at(foreign) as lookout:
        await lookout.follower().catch_up()
        told = [(event.user_id, event.payload["watch"]["watchId"]) for event in await lookout.events()]
        assert sorted(told) == [("ben", "w1"), (USER, "w1"), (USER, "w1"), (USER, long_id)]

        for watch_id in ("w1", "w1", long_id):
            await lookout.watches.delete(USER, watch_id)
        foreign.put(a_sighting(sighting_id="def456"))
        await foreign.adopt()
        await lookout.follower().catch_up()
        (event,) = [each for each in await lookout.events() if each.payload["sighting"]["sightingId"] == "def456"]
        assert event.user_id == "ben"


async def test_a_watch_that_cannot_be_adopted_is_passed_over_with_a_warning(
    foreign: ForeignSightings, dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse_first(operation: str, request: dict[str, Any], forward: Forward) -> Answer:
        if operation == "TransactWriteItems" and "#w1" in str(request):
            reasons = [{"Code": "ConditionalCheckFailed"}, {"Code": "None"}]
            return Answer.error("TransactionCanceledException", CancellationReasons=reasons)
        return await forward(request)

    foreign.put(a_watch(), a_watch(watch_id="w2"))
    metrics, adoptions, looked = Metrics(), AREA_WATCHES.adoptions, asyncio.Semaphore(0)

    async def pause(seconds: float) -> None:
        """A pause that takes no time between attempts, and does not end after the stream or the whole table."""
        if seconds == LOOK_EVERY_S:
            looked.release()
            await asyncio.Event().wait()

    async with proxying(dynamodb_endpoint) as proxy:
        proxy.rule = refuse_first
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        async with a_lookout_at(foreign) as lookout, BackgroundTasks() as tasks, asyncio.timeout(TIMEOUT_S):
            others, services = lookout.database.other_writers, Services([lookout.watches])
            assert others
            measured = AdoptionMetrics(metrics, adoptions)
            adopter = Adopter(adoptions, services, lookout.database, others, foreign.clock, measured, sleep=pause)
            tasks.start("adopting", adopter.adopt_forever)
            for _ in range(2):
                await looked.acquire()
            watches = await lookout.watches.of_user(USER)
    assert [(watch.watch_id, watch.since) for watch in watches] == [("w1", -1), ("w2", 0)]
    logged = [record for record in caplog.records if record.msg == "An item of another program cannot be adopted"]
    assert [record.__dict__["keywords"] for record in logged] == [
        {
            "table": "blip",
            "entity": "AREA_WATCH",
            "key": [USER, "Downtown", "Sneakers", "w1"],
            "cause": "another process kept changing the watch",
        }
    ]
    counted = {"entity": "AREA_WATCH", "outcome": "FAILED"}
    assert metrics.registry.get_sample_value("quakegraph_adopted_items_total", counted) == 1
