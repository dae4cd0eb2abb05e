"""graphql-transport-ws as a client sees it: every rule of the protocol, and what becomes of whoever breaks one.

Source: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
"""

import asyncio
import logging
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import jwt
import orjson
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from graph.domains.earthquakes.revisions.live import EventBroadcast
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.request_logs.scopes import LOGS_READ
from graph.serving.sockets import ClientSocket
from graph.transport.request import MOST_BODY_BYTES
from graph.transport.websocket import SUBPROTOCOL, SocketLimits
from tests.bearers import SECRET, bearer
from tests.domains.earthquakes.builders import NOON, an_event
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import settings
from tests.subscribers import (
    EVENTS,
    INGEST,
    LiveService,
    Socket,
    event_input,
    eventually,
    initialised,
    live_service,
    socket_to,
)
from tests.transport.conftest import Limited

SHORT_S = 0.2
TOTAL = "{ events { totalCount } }"
LOGS = "{ requestLogs { nodes { route status error } } }"


async def answered(client: Socket, id_: str, query: str = TOTAL, **others: Any) -> Any:
    """The data of an operation with one result, after which it is complete."""
    await client.ask(id_, query, **others)
    data = await client.next_data(id_)
    assert await client.next_message() == {"type": "complete", "id": id_}
    return data


# The connection


async def test_the_subprotocol_is_agreed_on_and_the_connection_acknowledged(service: LiveService) -> None:
    async with socket_to(service.url, subprotocols=("graphql-ws", SUBPROTOCOL)) as client:
        assert client.connection.subprotocol == SUBPROTOCOL
        assert client.connection.response is not None
        assert "Server" not in client.connection.response.headers

        await client.send_message("connection_init")

        assert await client.next_message() == {"type": "connection_ack"}


async def test_no_other_protocol_is_spoken_and_none_at_other_paths(service: LiveService) -> None:
    """The legacy one above all, `graphql-ws`, which is another than the package of that name speaks."""
    for path in ("/", "/graphiql/x.js", "/graphql/", "/metrics"):
        with pytest.raises(InvalidStatus) as refused:
            async with socket_to(service.url, path=path):
                pass
        assert refused.value.response.status_code == 403
    for subprotocols in ((), ("graphql-ws",), ("graphql-transport-ws-2", "soap")):
        async with socket_to(service.url, subprotocols=subprotocols) as client:
            assert client.connection.subprotocol is None
            assert await client.end() == (4406, "Subprotocol not acceptable")


async def test_a_client_without_connection_init_in_time_is_disconnected(tmp_path: Path, usgs: UsgsServer) -> None:
    with live_service(settings(tmp_path / "live.db", usgs), SocketLimits(1, init_s=SHORT_S)) as service:
        async with socket_to(service.url) as client:
            assert await client.end() == (4408, "Connection initialisation timeout")
        heard: list[Any] = []
        while not heard:  # on a busy machine, the time may be over before the first message
            async with socket_to(service.url) as client:
                with suppress(ConnectionClosed):
                    await client.send_message("ping")  # which is no greeting
                    heard.append(await client.next_message())
                assert await client.end() == (4408, "Connection initialisation timeout")
        assert heard == [{"type": "pong"}]
        await service.has_no_socket()


async def test_a_connection_is_initialised_once_and_before_its_operations(service: LiveService) -> None:
    async with initialised(service.url) as client:
        await client.send_message("connection_init")
        assert await client.end() == (4429, "Too many initialisation requests")
    async with socket_to(service.url) as client:
        await client.ask("1", TOTAL)
        assert await client.end() == (4401, "Unauthorized: `connection_init` comes first")


async def test_a_ping_is_answered_with_its_payload_before_and_after_connection_init(service: LiveService) -> None:
    async with socket_to(service.url) as client:
        for payload in ({}, {"payload": {"nested": [1, None]}}, {"payload": None}):
            await client.send_message("ping", **payload)
            assert await client.next_message() == {"type": "pong", **payload}
        await client.initialise()
        await client.send_message("pong", payload={"unasked": True})
        await client.quiet()


async def test_a_client_that_answers_no_ping_is_disconnected(tmp_path: Path, usgs: UsgsServer) -> None:
    limits = SocketLimits(1, ping_s=SHORT_S)
    with live_service(settings(tmp_path / "live.db", usgs), limits) as service:
        signs = 0
        while signs < 3:  # on a busy machine, one may come too late
            async with initialised(service.url) as client:
                signs = 0
                with suppress(ConnectionClosed):
                    for _ in range(3):
                        assert await client.receive() == {"type": "ping"}
                        await client.send_message("pong")
                        signs += 1
                    assert await client.receive() == {"type": "ping"}
                assert await client.end() == (4499, "No sign of the client")
        await service.has_no_socket()


def subscribe(**payload: Any) -> str:
    return orjson.dumps({"type": "subscribe", "id": "1", "payload": payload}).decode()


INVALID: dict[str, list[str | bytes]] = {
    "it has more than 50,000 values": ["[" * 100_000],
    "it is not JSON": ["", "{", "[" * 40_000, b'{"type": "ping"}'],  # the last one in a binary frame
    "it has no type": ["null", "[]", '"ping"', "{}", '{"type": null}', '{"type": 7}'],
    "there is no such type": [
        '{"type": "connection_ack"}',
        '{"type": "next", "id": "1"}',
        '{"type": "start", "id": "1"}',  # of the legacy protocol
        '{"type": "connection_terminate"}',
    ],
    "it has no id": [
        '{"type": "subscribe", "payload": {"query": "{ __typename }"}}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{ __typename }"}}',
        '{"type": "subscribe", "id": 7, "payload": {"query": "{ __typename }"}}',
        '{"type": "complete"}',
        '{"type": "complete", "id": null}',
    ],
    "`query` must be a GraphQL document as text.": [subscribe(query=7), subscribe()],
    "`variables` must be a JSON object.": [subscribe(query=TOTAL, variables=[])],
    "`operationName` must be text.": [subscribe(query=TOTAL, operationName=7)],
    "`extensions` must be a JSON object.": [subscribe(query=TOTAL, extensions=7)],
    "The body mus": [
        f'{{"type": "subscribe", "id": "1", "payload": {each}}}' for each in ("null", "[]", '"{}"', "[{}]")
    ],
    "its payload cannot be repeated": ['{"type": "ping", "payload": %s}' % ("[" * 300 + "]" * 300)],
    "its id is longer than 256 characters": [f'{{"type": "complete", "id": "{"1" * 257}"}}'],
}
"""The beginning of the reason, and messages that are refused for it."""


async def test_an_invalid_message_ends_the_connection(service: LiveService, caplog: pytest.LogCaptureFixture) -> None:
    for reason, messages in INVALID.items():
        for message in messages:
            async with initialised(service.url) as client:
                await client.connection.send(message)
                code, said = await client.end()
            assert (code, said.startswith(f"Invalid message: {reason}")) == (4400, True), (said, message)
    async with socket_to(service.url) as client:
        await client.send_message("connection_init", payload=["Bearer x"])
        assert await client.end() == (4400, "Invalid message: `payload` must be an object")
    async with initialised(service.url) as client:
        await client.connection.send(b"\xff", text=True)
        assert await client.end() == (1007, "")
    await service.has_no_socket()
    assert caplog.records == []


async def test_a_message_may_be_as_large_as_the_body_of_a_request_and_no_larger(service: LiveService) -> None:
    def ping_of(size: int) -> str:
        around = len('{"type":"ping","payload":{"x":""}}')
        return f'{{"type":"ping","payload":{{"x":"{"x" * (size - around)}"}}}}'

    async with initialised(service.url, max_size=None) as client:
        await client.connection.send(ping_of(MOST_BODY_BYTES))
        assert (await client.next_message())["type"] == "pong"
        await client.connection.send(ping_of(MOST_BODY_BYTES + 1))
        assert (await client.end())[0] == 1009
    async with initialised(service.url) as client:
        await client.connection.send(['{"type": ', '"ping"}'])  # a message in pieces is one message
        assert await client.next_message() == {"type": "pong"}
        with suppress(ConnectionClosed):  # as soon as it is known
            await client.connection.send(["x" * 65_536] * 17)
        assert (await client.end())[0] == 1009
    await service.has_no_socket()


# Who it is


async def test_a_token_in_connection_init_grants_its_scopes(service: LiveService) -> None:
    async with initialised(service.url, bearer()) as client:
        one = {"events": [event_input("us1")]}
        assert await answered(client, "m", INGEST, variables=one) == {"ingestEvents": {"upserted": 1}}
    async with initialised(service.url, {"authorization": bearer()["Authorization"]}) as client:
        assert await answered(client, "q") == {"events": {"totalCount": 1}}


async def test_the_token_of_connection_init_wins_over_that_of_the_header(service: LiveService) -> None:
    async with initialised(service.url, headers=bearer(LOGS_READ)) as client:
        assert (await answered(client, "q", LOGS)).keys() == {"requestLogs"}
    async with initialised(service.url, bearer(EVENTS_READ), headers=bearer()) as client:
        await client.ask("q", LOGS)
        assert await client.codes("q") == ["FORBIDDEN"]


async def test_a_wrong_token_ends_the_connection_and_reveals_nothing(service: LiveService) -> None:
    for token in ("Bearer x", "Basic eDp5", "", 7, ["Bearer"], {"Bearer": "x"}):
        async with socket_to(service.url) as client:
            await client.send_message("connection_init", payload={"Authorization": token})
            code, reason = await client.end()
        assert (code, reason.partition(":")[0]) == (4403, "Forbidden")

    forged = jwt.encode({"sub": "eve", "exp": int(time.time()) + 60}, "another " * 8, algorithm="HS256")
    async with socket_to(service.url, headers={"Authorization": f"Bearer {forged}"}) as client:
        await client.send_message("connection_init")
        code, reason = await client.end()
    assert (code, reason.startswith("Forbidden: Your token was not accepted: ")) == (4403, True)
    assert SECRET not in reason


async def test_without_a_token_only_public_fields_are_answered(service: LiveService) -> None:
    async with initialised(service.url) as client:
        await client.ask("q", LOGS)
        assert await client.codes("q") == ["UNAUTHENTICATED"]
        await client.ask("m", INGEST, variables={"events": [event_input("us1")]})
        assert await client.codes("m") == ["UNAUTHENTICATED"]
        assert await answered(client, "q") == {"events": {"totalCount": 0}}


async def test_a_connection_ends_with_its_token(limited: Limited) -> None:
    with limited(jwt_leeway=0) as service:
        live: EventBroadcast = service.process.services.of(EventBroadcast)
        subscribed = False
        for seconds in (2, 4, 8, 16, 32):  # a busy machine may need more than the first to subscribe
            claims = {"sub": "ada", "scope": "events:read", "exp": int(time.time()) + seconds}
            token = {"Authorization": f"Bearer {jwt.encode(claims, SECRET, algorithm='HS256')}"}
            async with socket_to(service.url) as client:
                await client.send_message("connection_init", payload=token)
                with suppress(ConnectionClosed):
                    assert await client.next_message() == {"type": "connection_ack"}
                    await client.ask("1", EVENTS)
                await eventually(lambda: live.subscriptions == 1 or client.connection.close_code is not None)
                subscribed = live.subscriptions == 1
                code, reason = await client.end()
            if subscribed:
                break
        assert subscribed
        assert (code, reason) == (4403, "The token has expired")
        await service.has_subscriptions(0)
        await service.has_no_socket()


async def test_keys_that_cannot_be_fetched_end_the_connection_for_now(limited: Limited) -> None:
    with limited(jwks_url="http://127.0.0.1:9/keys") as service:
        async with socket_to(service.url) as client:
            await client.send_message("connection_init", payload=bearer())
            code, _ = await client.end()
    assert code == 1013  # after which clients try again


async def test_guesses_of_a_token_have_an_end(limited: Limited, caplog: pytest.LogCaptureFixture) -> None:
    with limited(rate_limit=2) as service, caplog.at_level(logging.ERROR):
        ends = []
        for _ in range(3):
            async with socket_to(service.url) as client:
                await client.send_message("connection_init", payload={"Authorization": "Bearer x"})
                ends.append(await client.end())

    assert [code for code, _ in ends] == [4403] * 3
    assert ends[0] == ends[1]
    assert ends[2][1].startswith("Forbidden: You have spent the points of this minute: try again in ")
    assert caplog.records == []


# Whose pages may connect


async def lets_in(service: LiveService, origin: str) -> bool:
    try:
        async with initialised(service.url, origin=origin.format(host=service.url.removeprefix("http://"))) as client:
            await client.quiet()
    except InvalidStatus as refused:
        answer = refused.response
        assert (answer.status_code, b"GRAPH_CORS_ORIGINS allows it" in (answer.body or b"")) == (403, True), answer
        return False
    return True


async def test_pages_of_named_origins_and_of_the_service_may_connect(limited: Limited) -> None:
    """`tests.transport.test_csrf` holds which origins are named."""
    with limited(cors_origins=("https://a.example",)) as service:
        for origin in ("http://{host}", "https://{host}", "https://a.example"):  # a proxy may speak TLS
            assert await lets_in(service, origin), origin
        for origin in (
            *("https://{host}.evil.example", "https://{host}@evil.example", "https://evil.example@{host}"),
            *("http://a.example", "ftp://{host}", "{host}", "http://127.0.0.1", "null", "", "http://["),
        ):
            assert not await lets_in(service, origin), origin
    with limited(cors_origins=("*",)) as service:
        assert await lets_in(service, "https://any.example")


# Operations


async def test_a_completed_subscription_receives_no_more_events(service: LiveService) -> None:
    async with initialised(service.url) as client:
        await client.ask("1", EVENTS)
        await service.has_subscriptions(1)
        service.store(*(f"us{number}" for number in range(100)))
        assert await client.event("1") == "us0"
        await client.send_message("complete", id="1")
        await client.send_message("ping", payload={"last": True})

        heard = [await client.next_message()]
        while heard[-1]["type"] != "pong":
            heard.append(await client.next_message())
        service.store("nc1")

        assert {message["type"] for message in heard[:-1]} <= {"next"}  # that were sent before it was known
        await client.quiet()


async def test_operations_of_one_connection_do_not_wait_for_each_other(service: LiveService) -> None:
    async with initialised(service.url, bearer()) as client:
        await client.ask("all", EVENTS)
        await client.ask("strong", "subscription { events(filter: {minMagnitude: 6}) { node { eventId } } }")
        await service.has_subscriptions(2)
        assert await answered(client, "query") == {"events": {"totalCount": 0}}

        service.store("us1", mag=5)
        service.store("us2", mag=6)

        heard = [await client.next_message() for _ in range(3)]
        told = sorted((each["id"], each["payload"]["data"]["events"]["node"]["eventId"]) for each in heard)
        assert told == [("all", "us1"), ("all", "us2"), ("strong", "us2")]


async def test_an_id_that_is_in_use_ends_the_connection_with_a_reason_that_fits(service: LiveService) -> None:
    for id_, shown in (("1", "1 already exists"), ("ü" * 256, "ü" * 54)):
        async with initialised(service.url) as client:
            await client.ask(id_, EVENTS)
            await client.ask(id_, TOTAL)
            assert await client.end() == (4409, f"Subscriber for {shown}")
    await service.has_subscriptions(0)


async def test_an_id_can_be_used_again_once_its_operation_is_over(service: LiveService) -> None:
    unknown = {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}
    async with initialised(service.url) as client:
        await client.send_message("complete", id="never")  # which does nothing
        two = "query A { events { totalCount } } query B { __typename }"
        assert await answered(client, "1", two, operationName="A") == {"events": {"totalCount": 0}}
        await client.send_message("complete", id="1")
        await client.ask("1", '{ a: event(eventId: "us1") { mag } events(after: "x") { totalCount } }')
        message = await client.next_message()
        assert (message["type"], message["payload"]["data"]) == ("next", {"a": None, "events": None})
        assert message["payload"]["errors"][0]["extensions"]["code"] == "INVALID_CURSOR"
        assert await client.next_message() == {"type": "complete", "id": "1"}
        await client.ask("1", "{ nothing }")
        assert await client.codes("1") == ["GRAPHQL_VALIDATION_FAILED"]
        await client.send_message("subscribe", id="1", payload={"extensions": unknown})
        assert await client.codes("1") == ["PERSISTED_QUERY_NOT_FOUND"]
        await client.quiet()
        for _ in range(50):
            await client.ask("1", EVENTS)
            await client.send_message("complete", id="1")
        assert await answered(client, "1") == {"events": {"totalCount": 0}}
        await service.has_subscriptions(0)


async def test_an_unexpected_error_reveals_nothing_internal(
    service: LiveService, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise RuntimeError("the password is swordfish")

    async with initialised(service.url) as client:
        service.change(rates=SimpleNamespace(spend=broken))
        await client.quiet()  # the connection has the state that it began with
    async with initialised(service.url) as client:
        await client.ask("1", EVENTS)
        message = await client.next_message()
        await client.quiet()

    (error,) = message["payload"]
    assert (message["type"], error["extensions"]) == ("error", {"code": "INTERNAL_SERVER_ERROR"})
    assert "swordfish" not in orjson.dumps(message).decode()

    service.change(authenticate=broken)
    async with socket_to(service.url) as client:
        await client.send_message("connection_init")
        assert await client.end() == (4500, "Internal server error")
    await service.has_no_socket()


# How much


async def test_a_connection_has_a_limit_of_operations(limited: Limited) -> None:
    with limited(max_socket_operations=2) as service:
        async with initialised(service.url) as client:
            await client.ask("1", EVENTS)
            await client.ask("2", EVENTS)
            await service.has_subscriptions(2)
            await client.ask("3", TOTAL)
            assert await client.codes("3") == ["TOO_MANY_SUBSCRIPTIONS"]

            await client.send_message("complete", id="1")
            assert await answered(client, "3") == {"events": {"totalCount": 0}}
        async with initialised(service.url) as client:
            await asyncio.gather(*[client.ask(str(number), EVENTS) for number in range(4)])
            refused = [await client.next_message() for _ in range(2)]
            assert sorted(message["id"] for message in refused) == ["2", "3"]  # the last ones of the burst
            assert {message["payload"][0]["extensions"]["code"] for message in refused} == {"TOO_MANY_SUBSCRIPTIONS"}


async def test_an_address_has_so_many_connections(limited: Limited, caplog: pytest.LogCaptureFixture) -> None:
    with limited(max_subscriptions=2) as service:
        async with initialised(service.url), initialised(service.url, bearer()) as second:
            with pytest.raises(InvalidStatus) as refusal:
                async with socket_to(service.url):
                    pass
            assert refusal.value.response.status_code == 429
            body = orjson.loads(refusal.value.response.body or b"")
            assert body["errors"][0]["extensions"] == {"code": "TOO_MANY_SUBSCRIPTIONS"}
            assert service.http.get("/healthz").status_code == 200
            await second.connection.close()
            async with initialised(service.url) as third:
                assert await answered(third, "1") == {"events": {"totalCount": 0}}
    assert caplog.records == []


async def test_a_replay_waits_for_what_its_caller_may_spend(limited: Limited) -> None:
    with limited(rate_limit=400) as service:
        service.store(*[f"us{number:03}" for number in range(161)])
        async with initialised(service.url) as client:
            await client.ask("1", EVENTS, variables={"after": an_event("us000", NOON).cursor})
            # 6 for the document, 160 for what is read, and 5 for each that is told, until half of all is left.
            assert [await client.event("1") for _ in range(6)] == [f"us{number:03}" for number in range(1, 7)]
            assert await answered(client, "2") == {"events": {"totalCount": 161}}
            await client.quiet()
            await service.has_subscriptions(1)


async def test_a_caller_has_so_many_subscriptions_on_all_connections(limited: Limited) -> None:
    with limited(max_subscriptions=3) as service:
        for leave in ("complete", "close", "vanish"):
            async with initialised(service.url) as first, initialised(service.url) as second:
                for _ in range(4):  # one that is refused takes no room
                    await first.ask("1", EVENTS, variables={"after": "x"})
                    assert await first.codes("1") == ["INVALID_CURSOR"]
                await first.ask("1", EVENTS)
                await first.ask("2", EVENTS)
                await second.ask("1", EVENTS)
                await service.has_subscriptions(3)
                await second.ask("2", EVENTS)
                assert await second.codes("2") == ["TOO_MANY_SUBSCRIPTIONS"]
                async with initialised(service.url, bearer(EVENTS_READ)) as another:
                    await another.ask("1", EVENTS)
                    await service.has_subscriptions(4)
                await service.has_subscriptions(3)

                match leave:
                    case "complete":
                        await first.send_message("complete", id="1")
                        await first.send_message("complete", id="2")
                    case "close":
                        await first.connection.close()
                    case _:
                        first.abort()
                await service.has_subscriptions(1)
                await second.ask("2", EVENTS)
                await second.ask("3", EVENTS)
                await service.has_subscriptions(3)
                await second.ask("4", EVENTS)
                assert await second.codes("4") == ["TOO_MANY_SUBSCRIPTIONS"]
            await service.has_subscriptions(0)


async def test_clients_that_leave_at_any_moment_leave_no_error_in_the_log(
    service: LiveService, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        "GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
    )
    url = urlsplit(service.url)
    with caplog.at_level(logging.WARNING):
        for _ in range(10):
            _, writer = await asyncio.open_connection(url.hostname, url.port)
            writer.write(head.encode())
            await writer.drain()
            writer.transport.abort()
        for _ in range(10):
            async with initialised(service.url) as client:
                for number in range(5):
                    await client.ask(str(number), EVENTS)
                client.abort()
        await service.has_no_socket()
        await service.has_subscriptions(0)

    assert caplog.records == []


async def test_each_operation_is_charged(limited: Limited) -> None:
    with limited(rate_limit=10) as service:
        async with initialised(service.url) as client:
            for number in range(20):
                await client.ask(str(number), "{ nothing }")
            codes = [await client.next_message() for _ in range(20)]

            counted = [message["payload"][0]["extensions"]["code"] for message in codes]
            assert sorted(counted) == ["GRAPHQL_VALIDATION_FAILED"] * 10 + ["RATE_LIMITED"] * 10
            await client.ask("s", EVENTS)
            assert await client.codes("s") == ["RATE_LIMITED"]
        async with initialised(service.url) as client:
            await client.ask("s", EVENTS)
            assert await client.codes("s") == ["RATE_LIMITED"]


async def test_no_message_is_read_from_a_client_that_reads_no_answers(tmp_path: Path, usgs: UsgsServer) -> None:
    with live_service(settings(tmp_path / "live.db", usgs, request_timeout=600), SocketLimits(2)) as service:
        service.store(*[f"us{number:03}" for number in range(100)], place="x" * 512)
        large = f"{{ events(first: 100) {{ nodes {{ {' '.join(f'p{n}: place' for n in range(14))} }} }} }}"
        async with initialised(service.url, max_queue=1) as client:
            (socket,) = [one for one in service.server.server_state.connections if isinstance(one, ClientSocket)]
            asked = 0
            while socket.transport.get_write_buffer_size() == 0:  # the system's buffers take the first answers
                await client.ask(str(asked), large)
                asked += 1
                await asyncio.sleep(0.01)
            for _ in range(20):  # which wait, unread
                await client.ask(str(asked), large)
                asked += 1
                await asyncio.sleep(0.01)
                assert sum("_operate" in repr(task.get_coro()) for task in asyncio.all_tasks(socket.loop)) <= 4

            ended: set[str] = set()
            while len(ended) < asked:
                message = await client.next_message()
                if message["type"] in ("complete", "error"):
                    ended.add(message["id"])


# What a client does wrong


async def test_a_message_that_is_too_large_during_a_replay_is_not_logged(
    service: LiveService, caplog: pytest.LogCaptureFixture
) -> None:
    service.store(*[f"us{number:03}" for number in range(900)])
    with caplog.at_level(logging.WARNING):
        async with initialised(service.url) as client:
            await client.ask("1", EVENTS, variables={"after": an_event("us000", NOON).cursor})
            await client.event("1")
            await client.connection.send("x" * (MOST_BODY_BYTES + 1))
            with suppress(ConnectionClosed):
                while True:
                    await client.next_message()
            assert client.connection.close_code == 1009
        await service.has_no_socket()
    assert caplog.records == []
