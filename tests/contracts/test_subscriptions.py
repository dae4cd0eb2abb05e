"""Every subscription that takes a cursor: it resumes after it, and says what it has not sent."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphql import get_named_type, is_leaf_type

from graph.feed.broadcast import Broadcast
from tests.bearers import bearer
from tests.contracts.documents import leaves
from tests.contracts.filled import CREATE_EVENT, INGEST, MANY, REPORT, WRITE_LOGS
from tests.schemas import schema
from tests.settings import Settings
from tests.subscribers import LiveService, Socket, event_input, eventually, initialised, live_service

assert schema.subscription_type
NAMES = [name for name, field in schema.subscription_type.fields.items() if "after" in field.args]

WRITES: dict[str, Callable[[int], tuple[str, dict[str, Any]]]] = {
    "events": lambda number: (INGEST, {"some": [event_input(f"ev{number}")]}),
    "serviceLogs": lambda number: (WRITE_LOGS, {"some": [{"service": "api", "message": f"{number}"}]}),
    "triggerEvents": lambda number: (CREATE_EVENT, {"one": {"type": "order.completed", "payload": {"n": number}}}),
    "sightings": lambda number: (REPORT, {"one": {"category": "SHAKING", "area": f"Area {number}"}}),
}
"""For each subscription, the mutation that stores a record which it sends."""


def document(name: str) -> str:
    notice: Any = get_named_type(schema.subscription_type.fields[name].type)  # type: ignore[union-attr]
    records = [each for each, of in notice.fields.items() if not is_leaf_type(get_named_type(of.type))]
    selected = [*notice.fields.keys() - set(records), *(each + leaves(notice.fields[each].type) for each in records)]
    return f"subscription ($after: String) {{ notice: {name}(after: $after) {{ {' '.join(selected)} }} }}"


def store(service: LiveService, name: str, number: int) -> None:
    query, variables = WRITES[name](number)
    assert "errors" not in service.http.post("/graphql", json={"query": query, "variables": variables}).json()


def broadcasts(service: LiveService) -> list[Broadcast[Any]]:
    """What sends records to subscribers."""
    return [each for each in service.process.services._by_kind.values() if isinstance(each, Broadcast)]


async def subscribed(service: LiveService, client: Socket, name: str) -> None:
    """Subscribe, and wait until what is stored from now on will be received."""
    await client.ask(name, document(name))
    await eventually(lambda: any(each._subscribers for each in broadcasts(service)))


async def notice(client: Socket, id_: str) -> Any:
    return (await client.next_data(id_))["notice"]


async def test_a_subscription_resumes_after_any_cursor_without_a_gap_or_a_repetition(tmp_path: Path) -> None:
    cursors: dict[str, list[str]] = {}
    with live_service(Settings(store=f"sqlite:///{tmp_path / 'live.db'}")) as service:
        for name in NAMES:
            async with initialised(service.url, bearer()) as client:
                await subscribed(service, client, name)
                for number in range(MANY):
                    store(service, name, number)
                sent = [await notice(client, name) for _ in range(MANY)]
                assert {each["dropped"] for each in sent} == {0}
                cursors[name] = [each["cursor"] for each in sent]
                assert len(set(cursors[name])) == MANY

                for at, cursor in enumerate(cursors[name]):
                    await client.ask(f"{at}", document(name), variables={"after": cursor})
                    assert [await notice(client, f"{at}") for _ in sent[at + 1 :]] == sent[at + 1 :]
                store(service, name, MANY)
                further = [await client.next_message() for _ in range(MANY + 1)]
                assert {each["id"] for each in further} == {name, *map(str, range(MANY))}
                assert all(each["payload"] == further[0]["payload"] for each in further)
                await client.quiet()
            await service.has_no_socket()

        async with initialised(service.url, bearer()) as client:
            for name, own in cursors.items():
                others = [each for other in cursors if other != name for each in cursors[other]]
                for wrong in ("", own[0][: len(own[0]) // 2], own[0][1:], f"{own[0]}A", own[0].swapcase(), *others):
                    await client.ask("wrong", document(name), variables={"after": wrong})
                    assert await client.codes("wrong") == ["INVALID_CURSOR"], (name, wrong)


async def test_a_subscription_says_how_many_records_it_dropped(tmp_path: Path) -> None:
    with live_service(Settings(store=f"sqlite:///{tmp_path / 'live.db'}")) as service:
        for broadcast in broadcasts(service):
            broadcast._backlog = 0  # no record may wait for a subscriber
        assert len(broadcasts(service)) >= len(NAMES)
        for name in NAMES:
            async with initialised(service.url, bearer()) as client:
                await subscribed(service, client, name)
                store(service, name, 0)

                told = await notice(client, name)

                assert told["dropped"] == 1
                assert [each for each in told.values() if isinstance(each, dict)] == []
            await service.has_no_socket()
