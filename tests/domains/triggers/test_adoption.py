"""An event that another program puts into the table reaches subscriptions and endpoints as ours do, once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from graph.core.services import Services
from graph.domains.triggers import DOMAIN
from graph.domains.triggers.entities import EVENT_CHANGES, EVENTS, TRIGGER_EVENT
from graph.domains.triggers.inbox import EventSelection
from graph.domains.triggers.live import TriggerEventBroadcast
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.store.contract import Database
from graph.store.dynamodb.engine import DynamoDatabase
from tests.domains.triggers.delivering.workshop import Workshop, a_workshop
from tests.domains.triggers.in_store import ANNA, BEN, NOON, Triggers, a_new_event, key_of, sequences
from tests.domains.triggers.sending.receivers import OK, status
from tests.domains.triggers.test_outbox import is_consistent
from tests.domains.watches.cuts import Meanwhile, Noted
from tests.feed.adopt_all import adopt_all
from tests.store.engines import emulator_calls

TTL = NOON // 1000 + 30 * 86_400
RECEIVED, DELIVERED = TriggerEventStatus.RECEIVED, TriggerEventStatus.DELIVERED


@asynccontextmanager
async def shared_with_another_program(**options: Any) -> AsyncIterator[tuple[Workshop, "OtherProgram"]]:
    """A workshop whose table another program writes."""
    real = list[Database]()

    def noting(database: Database) -> Database:
        real.append(database)
        return options["wrap"](database) if "wrap" in options else database

    async with a_workshop("dynamodb", wrap=noting) as shop:
        assert isinstance(real[0], DynamoDatabase)
        yield shop, OtherProgram(real[0])


class OtherProgram:
    """A program that follows the document."""

    def __init__(self, database: DynamoDatabase) -> None:
        self._table = next(name for design, name in database._requests.tables.items() if design is EVENTS)

    def put(self, event_id: str, time: str = "2100-03-02T11:00:00Z", user: str = ANNA, **others: str) -> None:
        """The document's pattern 1, as DynamoDB gets it."""
        event_type, state = others.get("event_type", "quake.felt"), others.get("status", "received")
        texts = {
            "user_id": user,
            "timestamp#event_id": f"{time}#{event_id}",
            "event_id": event_id,
            "event_type": event_type,
            "status": state,
            "timestamp": time,
            "event_type#timestamp": f"{event_type}#{time}",
            "status#timestamp": f"{state}#{time}",
        }
        item: dict[str, Any] = {name: {"S": text} for name, text in texts.items()}
        item |= {"payload": {"M": {"n": {"N": "1"}}}, "ttl": {"N": str(TTL)}, "retry_count": {"N": "0"}}
        with emulator_calls() as call:
            call("PutItem", TableName=self._table, Item=item)


async def adopt(ours: Triggers) -> None:
    """Adopt what is there."""
    await adopt_all(Services([ours.outbox]), ours.database, DOMAIN.adoptions)


pytestmark = pytest.mark.usefixtures("dynamodb_endpoint")


async def test_a_foreign_event_is_delivered_once_to_each_endpoint_that_wants_its_type() -> None:
    async with shared_with_another_program() as (shop, other):
        all_types, of_type = await shop.endpoint(), await shop.endpoint(types=["quake.felt"])
        no_type, bens = await shop.endpoint(types=["order.completed"]), await shop.endpoint(BEN)
        other.put("evt-123")
        other.put("a.b c", "2100-03-02T10:00:00.123456Z", event_type="order-completed")

        for _ in range(2):
            await adopt(shop)
        assert await is_consistent(shop)
        await shop.deliver()

        assert [len(await shop.of_endpoint(each)) for each in (all_types, of_type, no_type, bens)] == [2, 1, 0, 0]
        assert [(e.event_id, e.status, e.progress.open, len(e.delivery_keys)) for e in await shop.events()] == [
            ("a.b c", DELIVERED, 0, 1),
            ("evt-123", DELIVERED, 0, 2),
        ]
        assert sorted(
            (body["sequence"], body["timestamp"], body["type"], request.headers["webhook-id"])
            for body, request in zip(shop.hook.bodies, shop.hook.requests, strict=True)
        ) == [
            (1, "2100-03-02T10:00:00.123456Z", "order-completed", "a%2Eb%20c"),
            (1, "2100-03-02T11:00:00Z", "quake.felt", "evt-123"),
            (2, "2100-03-02T11:00:00Z", "quake.felt", "evt-123"),
        ]
        (event,) = (await shop.inbox.by_key(ANNA, ["2100-03-02T11:00:00Z#evt-123"])).values()
        assert (await shop.deliveries.by_key(ANNA, event.delivery_keys)).keys() == set(event.delivery_keys)


async def test_a_foreign_event_reaches_its_users_subscriptions_among_ours() -> None:
    async with shared_with_another_program() as (shop, other):
        (first,) = await shop.create(a_new_event("a"))
        async with (
            TriggerEventBroadcast(shop.database, shop.outbox.sequence) as broadcast,
            aclosing(await broadcast.events(ANNA, EventSelection(), first.cursor)) as notices,
            aclosing(await broadcast.events(BEN, EventSelection())) as bens,
        ):
            other.put("evt-1")
            await adopt(shop)
            (last,) = await shop.create(a_new_event("b"))
            await adopt(shop)
            await shop.create(a_new_event("c", user_id=BEN))

            records = [(await anext(notices)).record for _ in range(2)]
            assert [record and record.event_id for record in records] == ["evt-1", last.event_id]
            told = (await anext(bens)).record
            assert told is not None
            assert told.event_type == "c"


async def test_only_a_received_event_is_delivered_and_any_is_adopted() -> None:
    async with shared_with_another_program() as (shop, other):
        endpoint = await shop.endpoint()
        for state in ("delivered", "failed", "retrying"):
            other.put(f"evt-{state}", status=state)
        await adopt(shop)
        await shop.deliver()

        assert await shop.of_endpoint(endpoint) == []
        assert await is_consistent(shop)
        assert sorted(event.item[EVENT_CHANGES.number] for event in await shop.events()) == [1, 1, 1]


async def test_two_processes_that_adopt_at_the_same_time_adopt_once_beside_our_own_writes() -> None:
    async with shared_with_another_program() as (shop, other):
        endpoint = await shop.endpoint()
        for number in range(30):
            other.put(f"evt-{number}", f"2100-03-02T11:00:{number:02}Z")

        await asyncio.gather(adopt(shop), shop.some_events(20), adopt(shop))

        assert await is_consistent(shop)
        assert sequences(await shop.of_endpoint(endpoint)) == list(range(1, 51))
        await shop.deliver()
        assert len(shop.hook.requests) == 50


async def test_what_happens_to_an_event_while_it_is_adopted_is_kept() -> None:
    """It is acknowledged, removed, or replaced by the other program."""

    async def acknowledge() -> None:
        await shop.inbox.acknowledge(ANNA, [key_of((await shop.events())[0])])

    def is_meant(method: str, asked: Any) -> bool:
        return method == "transact" and any(action.key.entity is TRIGGER_EVENT for action in asked)

    def wrap(real: Database) -> Database:
        return Meanwhile(real, acknowledge, is_meant)

    async with shared_with_another_program(wrap=wrap) as (shop, other):
        endpoint = await shop.endpoint()
        other.put("evt-1")
        await adopt(shop)
        (event,) = await shop.events()
        assert (event.status, event.item[EVENT_CHANGES.number]) == (DELIVERED, 1)
        assert await shop.of_endpoint(endpoint) == []

        other.put("evt-1")  # foreign again
        assert [each.status for each in await shop.events()] == [RECEIVED]
        await adopt(shop)
        await shop.deliver()
        assert await shop.states(endpoint) == ["delivered"]
        assert await shop.statuses() == [DELIVERED]


async def test_a_put_that_replaces_an_event_on_its_way_ends_with_the_right_status() -> None:
    async with shared_with_another_program() as (shop, other):
        endpoint = await shop.endpoint()
        other.put("evt-1")
        await adopt(shop)
        shop.hook.answer(status(500))
        await shop.deliver()
        other.put("evt-1", status="failed")
        await adopt(shop)
        shop.hook.answer(OK)
        await shop.deliver_after(60_000)

        assert await shop.states(endpoint) == ["delivered"]
        assert await shop.statuses() == [DELIVERED]
        assert await shop.is_at_rest(endpoint)


async def test_an_event_and_its_deliveries_are_adopted_in_one_transaction() -> None:
    noted = list[Noted]()

    def noting(real: Database) -> Database:
        noted.append(Noted(real))
        return noted[0]

    async with shared_with_another_program(wrap=noting) as (shop, other):
        await shop.endpoint()
        other.put("evt-1")
        noted[0].noted.clear()
        await adopt(shop)

        (actions,) = [asked for method, asked in noted[0].noted if method == "transact"]
        assert sorted(action.key.entity.name for action in actions) == sorted(
            ["DELIVERY", "QUEUE", "TRIGGER_EVENT", "TRIGGER_EVENT_CHANGE", "LATEST_TRIGGER_EVENT_CHANGE"]
        )
