"""What comes of deliveries: what arrives, when it is attempted again, and the states that are left."""

import json
from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook

from graph.domains.triggers.endpoints import EndpointChanges
from graph.domains.triggers.entities import TRIGGER_EVENT
from graph.domains.triggers.inbox import EventSelection
from graph.domains.triggers.model import DeliveryState, EndpointDisabledReason, EndpointState
from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.store.contract import Database, Delete, Put, Update
from tests.domains.triggers.delivering.workshop import DAY, HOUR, MINUTE, SECOND, Workshop, a_workshop
from tests.domains.triggers.in_store import ANNA
from tests.domains.triggers.sending.receivers import OK, Reply, saying, status, then_close
from tests.domains.watches.cuts import Noted

RECEIVED, DELIVERED = TriggerEventStatus.RECEIVED, TriggerEventStatus.DELIVERED
FAILED, RETRYING = TriggerEventStatus.FAILED, TriggerEventStatus.RETRYING
CUT = then_close(saying(b""))


async def test_what_waits_arrives_with_its_event_and_a_sequence_without_a_gap(any_shop: Workshop) -> None:
    shop = any_shop
    endpoint = await shop.endpoint()
    events = await shop.some_events(60)  # more than one reading

    await shop.deliver()

    arrived = {body["sequence"]: body for body in shop.hook.bodies}
    assert sorted(shop.hook.sequences) == list(range(1, 61))
    for sequence, event in enumerate(events, 1):
        data = {"n": sequence}
        assert arrived[sequence] == {"type": "quake.felt", "timestamp": event.timestamp, "data": data} | {
            "sequence": sequence
        }
    ids = {json.loads(request.body)["sequence"]: request.headers["webhook-id"] for request in shop.hook.requests}
    assert [ids[sequence] for sequence in range(1, 61)] == [event.event_id for event in events]
    assert await shop.is_at_rest(endpoint)
    assert await shop.statuses() == [DELIVERED] * 60
    assert shop.counted.outcomes == {"delivered": 60}
    [attempt, *_] = await shop.attempts(endpoint)
    assert (attempt.number, attempt.status, attempt.failure, attempt.answer) == (1, 200, None, "ok")


FAILED_ATTEMPTS = (
    (status(500, body=b"broken"), 500, None),
    (status(308, "location: http://127.0.0.1:9/"), 308, None),
    (CUT, None, Failure.CONNECTION_FAILED),
    (saying(b"SMTP\r\n\r\n"), None, Failure.INVALID_ANSWER),
)


async def test_a_delivery_that_fails_is_repeated_and_given_up_after_the_last_attempt_of_the_schedule(
    shop: Workshop,
) -> None:
    endpoint = await shop.endpoint()
    event = await shop.event()
    shop.hook.choose = lambda _: FAILED_ATTEMPTS[len(shop.hook.requests) - 1][0]
    start, times = shop.clock.now, list[int]()

    while (wait := await shop.due_in(endpoint)) is not None:
        assert await shop.statuses() == [FAILED if times else RECEIVED]
        await shop.deliver_after(wait - 1 if times else 0)
        assert len(shop.hook.requests) == (len(times) or 1)
        await shop.deliver_after(1 if times else 0)
        times.append(shop.clock.now - start)

    assert times == [0, 5 * SECOND, 65 * SECOND, 365 * SECOND]
    assert [(each.started_at, each.status, each.failure) for each in await shop.attempts(endpoint)] == [
        (datetime.fromtimestamp((start + time) / 1000, UTC), code, failure)
        for time, (_, code, failure) in zip(times, FAILED_ATTEMPTS, strict=True)
    ]
    assert {request.body for request in shop.hook.requests} == {shop.hook.requests[0].body}
    assert {request.headers["webhook-id"] for request in shop.hook.requests} == {event.event_id}
    assert await shop.is_at_rest(endpoint)
    assert await shop.states(endpoint) == ["failed"]
    assert [(each.status, each.retry_count) for each in await shop.events()] == [(FAILED, 3)]
    assert shop.counted.outcomes == {"retried": 3, "failed": 1}


async def test_an_event_is_failed_between_two_attempts_and_retrying_during_one(any_shop: Workshop) -> None:
    """The document's transitions: received → failed → retrying → failed → retrying → delivered."""
    shop = any_shop
    await shop.endpoint()
    await shop.event()
    during = list[list[TriggerEventStatus]]()

    def failing(reply: Reply) -> Reply:
        async def look(reader: Any, writer: Any) -> None:
            during.append(await shop.statuses())
            await reply(reader, writer)

        return look

    for wait, reply, after in ((0, status(500), FAILED), (5 * SECOND, CUT, FAILED), (MINUTE, OK, DELIVERED)):
        shop.hook.answer(failing(reply))
        await shop.deliver_after(wait)
        assert await shop.statuses() == [after]
        of_status = EventSelection(statuses=(after,))
        assert len(await shop.page(of_status)) == 1

    assert during == [[RECEIVED], [RETRYING], [RETRYING]]
    assert [event.retry_count for event in await shop.events()] == [2]


async def test_of_several_deliveries_the_last_that_began_or_ended_gives_the_status(shop: Workshop) -> None:
    failing, other = await shop.endpoint(query="&failing"), await shop.endpoint(query="&other")
    await shop.event()
    shop.hook.answer(status(500))
    await shop.deliver()
    assert await shop.statuses() == [FAILED]
    shop.clock.now += 5 * SECOND
    shop.hook.answer(OK)
    await shop.worker(other).run()
    assert await shop.statuses() == [FAILED]  # the first one still waits for its next attempt
    await shop.worker(failing).run()
    assert await shop.statuses() == [DELIVERED]


async def test_only_a_repeated_attempt_writes_once_more() -> None:
    noted: list[Noted] = []

    def wrap(real: Database) -> Database:
        noted.append(Noted(real))
        return noted[0]

    async with a_workshop(wrap=wrap) as shop:
        await shop.endpoint()
        written = []
        for wait, reply in ((0, OK), (0, status(500)), (5 * SECOND, status(500)), (MINUTE, OK)):
            if not wait:
                await shop.event()
            shop.hook.answer(reply)
            noted[0].noted.clear()
            await shop.deliver_after(wait)
            of_event = [(method, of_results(asked)) for method, asked in noted[0].noted if of_results(asked)]
            written.append(of_event)

    whole = ("transact", ["DELIVERY", "ATTEMPT", "TRIGGER_EVENT", "QUEUE"])
    again = ("update", ["TRIGGER_EVENT"])
    assert written == [[whole], [whole], [again, whole], [again, whole]]


def of_results(asked: Any) -> list[str]:
    """The entities that a call of the store writes, if an event is among them."""
    actions = asked if isinstance(asked, list) else [asked]
    names = [each.key.entity.name for each in actions if isinstance(each, Put | Update)]
    return names if "TRIGGER_EVENT" in names else []


RETRY_AFTER = (
    (429, "120", False, 2 * MINUTE),
    (503, "Tue, 02 Mar 2100 12:10:00 GMT", True, 10 * MINUTE),
    (429, "86400", False, HOUR),  # the bound
    (503, "1", True, 5 * SECOND),  # the schedule is later
)


async def test_nothing_is_sent_before_the_time_that_an_endpoint_asks_for() -> None:
    """Neither the delivery nor another one, whether the endpoint is ordered or not."""
    for code, after, ordered, waits_ms in RETRY_AFTER:
        async with a_workshop() as shop:
            endpoint = await shop.endpoint(ordered=ordered)
            await shop.event()
            shop.hook.answer(status(code, f"retry-after: {after}"))
            await shop.deliver()
            shop.hook.answer(OK)
            await shop.some_events(3)

            await shop.deliver_after(waits_ms - 1)
            assert len(shop.hook.requests) == 1
            await shop.deliver_after(1)

            assert (shop.hook.sequences if ordered else sorted(shop.hook.sequences)) == [1, 1, 2, 3, 4]
            assert await shop.is_at_rest(endpoint)


async def test_a_410_disables_the_endpoint_at_once_and_tells_its_user(any_shop: Workshop) -> None:
    shop = any_shop
    gone = await shop.endpoint(ordered=True)
    await shop.some_events(3)
    other, third = await shop.endpoint(), await shop.endpoint(types=["other.type"])
    shop.hook.choose = lambda body: OK if body["type"] == "endpoint.disabled" else status(410)

    await shop.deliver()

    stored = await shop.stored(gone)
    assert (stored.state, stored.reason) == (EndpointState.DISABLED, EndpointDisabledReason.GONE)
    assert await shop.states(gone) == ["failed", "waiting", "waiting"]
    told = (await shop.events())[-1]
    payload = {"endpointId": gone.endpoint_id, "url": gone.url, "reason": "GONE"}
    assert (told.event_type, told.payload, told.status) == ("endpoint.disabled", payload, DELIVERED)
    assert [body["data"] for body in shop.hook.bodies] == [{"n": 1}, payload]
    assert [len(await shop.of_endpoint(each)) for each in (other, third)] == [1, 0]

    await shop.event()
    await shop.deliver_after(29 * DAY)
    assert len(await shop.of_endpoint(gone)) == 3  # none is made for a disabled endpoint
    assert len(shop.hook.requests) == 3

    shop.hook.answer(OK)
    await shop.endpoints.resume(ANNA, gone.endpoint_id)
    await shop.deliver()
    assert shop.hook.sequences[-2:] == [2, 3]
    assert await shop.states(gone) == ["failed", "delivered", "delivered"]
    assert await shop.is_at_rest(gone)
    assert (await shop.stored(gone)).state is EndpointState.ENABLED


async def test_an_endpoint_is_disabled_after_five_days_of_nothing_but_failures(shop: Workshop) -> None:
    endpoint = await shop.endpoint()
    shop.hook.answer(status(500))
    start = shop.clock.now
    for _ in range(9):
        await shop.test(endpoint)
        await shop.deliver_after(HOUR)
    await shop.test(endpoint)
    shop.clock.now = start + HOUR + 5 * DAY - 1
    await shop.deliver()
    assert (await shop.stored(endpoint)).state is EndpointState.ENABLED

    await shop.test(endpoint)
    await shop.deliver_after(HOUR)

    stored = await shop.stored(endpoint)
    assert (stored.state, stored.reason) == (EndpointState.DISABLED, EndpointDisabledReason.FAILING)
    assert [event.event_type for event in await shop.events()].count("endpoint.disabled") == 1


async def test_nothing_is_sent_to_a_paused_endpoint_and_all_that_waited_once_it_is_resumed(any_shop: Workshop) -> None:
    shop = any_shop
    endpoint = await shop.endpoint()
    shop.hook.answer(status(500))
    await shop.event()
    await shop.deliver()
    shop.hook.answer(OK)
    await shop.endpoints.pause(ANNA, endpoint.endpoint_id)
    await shop.some_events(60)

    await shop.deliver_after(HOUR)
    assert len(shop.hook.requests) == 1
    await shop.endpoints.resume(ANNA, endpoint.endpoint_id)
    await shop.deliver()

    assert sorted(shop.hook.sequences) == [1, 1, *range(2, 62)]
    assert await shop.is_at_rest(endpoint)
    assert await shop.statuses() == [DELIVERED] * 61


async def test_a_pause_holds_for_what_was_read_before_it(shop: Workshop) -> None:
    endpoint = await shop.endpoint(ordered=False)
    await shop.some_events(30)

    def pausing(body: object) -> Reply:
        async def pause(reader: object, writer: object) -> None:
            await shop.endpoints.pause(ANNA, endpoint.endpoint_id)
            await OK(reader, writer)  # type: ignore[arg-type]

        return pause

    shop.hook.choose = pausing
    await shop.deliver()

    assert len(shop.hook.requests) <= 20  # what was on its way
    assert (await shop.queue(endpoint))["waiting"] == 30 - len(shop.hook.requests)
    shop.hook.answer(OK)
    await shop.endpoints.resume(ANNA, endpoint.endpoint_id)
    await shop.deliver()
    assert sorted(shop.hook.sequences) == list(range(1, 31))
    assert await shop.is_at_rest(endpoint)


async def test_what_waits_for_a_deleted_endpoint_is_given_up_and_its_queue_removed(any_shop: Workshop) -> None:
    shop = any_shop
    endpoint, other = await shop.endpoint(), await shop.endpoint()
    shop.hook.answer(status(500))
    await shop.event()
    await shop.deliver()
    await shop.some_events(60)
    await shop.endpoints.delete(ANNA, endpoint.endpoint_id)
    shop.hook.answer(OK)

    await shop.deliver()

    assert not await shop.has_queue(endpoint)
    assert await shop.states(endpoint) == ["failed"] * 61
    assert await shop.statuses() == [FAILED] * 61
    await shop.deliver_after(HOUR)
    assert await shop.states(other) == ["delivered"] * 61
    assert await shop.statuses() == [FAILED] * 61
    assert [each.number for each in await shop.attempts(endpoint)] == [1]


async def test_an_event_that_has_expired_is_given_up(shop: Workshop) -> None:
    endpoint = await shop.endpoint()
    event = await shop.event()
    await shop.database.delete(Delete(TRIGGER_EVENT.key_of(event.item)))

    await shop.deliver()

    assert shop.hook.requests == []
    assert await shop.states(endpoint) == ["failed"]
    assert await shop.is_at_rest(endpoint)


async def test_deliveries_that_expired_while_they_waited_are_counted_no_longer(shop: Workshop) -> None:
    endpoint = await shop.endpoint()
    await shop.some_events(2)
    await shop.endpoints.pause(ANNA, endpoint.endpoint_id)
    await shop.deliver_after(31 * DAY)
    await shop.endpoints.resume(ANNA, endpoint.endpoint_id)

    for _ in range(3):
        await shop.deliver_after(10 * SECOND)

    assert shop.hook.requests == []
    assert (await shop.queue(endpoint))["waiting"] == 0
    assert await shop.due_in(endpoint) is None


async def test_delivered_and_failed_deliveries_are_replayed_with_the_same_id_and_sequence(any_shop: Workshop) -> None:
    shop = any_shop
    endpoint = await shop.endpoint()
    await shop.some_events(3)
    shop.hook.choose = lambda body: status(410) if body["sequence"] == 3 else OK
    await shop.deliver()
    await shop.endpoints.resume(ANNA, endpoint.endpoint_id)
    assert await shop.statuses() == [DELIVERED, DELIVERED, FAILED, RECEIVED]  # the last one tells of the 410
    sent = {request.body: request.headers["webhook-id"] for request in shop.hook.requests}
    shop.hook.answer(OK)

    assert await shop.replay(endpoint, DeliveryState.FAILED) == 1
    await shop.deliver()
    assert shop.hook.sequences[3:] == [3]
    assert (await shop.statuses())[:3] == [DELIVERED] * 3
    assert await shop.replay(endpoint) == 3
    await shop.deliver()

    assert sorted(shop.hook.sequences[4:]) == [1, 2, 3]
    assert {request.body: request.headers["webhook-id"] for request in shop.hook.requests} == sent
    assert (await shop.statuses())[:3] == [DELIVERED] * 3
    assert await shop.is_at_rest(endpoint)


async def test_a_change_of_an_endpoint_holds_for_what_waits(shop: Workshop) -> None:
    """Both secrets sign during the overlap of a rotation, and the new one afterwards."""
    endpoint = await shop.endpoint()
    before = endpoint.item["secret"]
    _, after = await shop.endpoints.rotate_secret(ANNA, endpoint.endpoint_id, overlap_ms=HOUR)
    for wait in (0, HOUR - 1, 1):
        shop.clock.now += wait
        await shop.event()
        changes = EndpointChanges(url=f"{shop.url}&{wait}")
        await shop.endpoints.update(ANNA, endpoint.endpoint_id, changes)
        await shop.deliver()

    signed_by = [(after, before), (after, before), (after,)]
    for request, secrets in zip(shop.hook.requests, signed_by, strict=True):
        time = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), UTC)
        text = request.headers["webhook-id"], time, request.body.decode()
        assert request.headers["webhook-signature"] == " ".join(Webhook(each).sign(*text) for each in secrets)
    lines = [f"POST /hook?x=1&{wait} HTTP/1.1" for wait in (0, HOUR - 1, 1)]
    assert [request.line for request in shop.hook.requests] == lines
