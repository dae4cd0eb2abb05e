"""Results as server-sent events: what the stream says byte by byte, who may open one, and when it ends.

Source: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
"""

import asyncio
import logging
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import jwt
import orjson
import pytest

from graph.domains.earthquakes.revisions.live import EventBroadcast
from tests.bearers import SECRET, bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import TIMEOUT_S
from tests.service import settings
from tests.subscribers import EVENTS, LiveService, event_stream, eventually, live_service
from tests.transport.conftest import Limited

STREAM, JSON, GRAPHQL_JSON = "text/event-stream", "application/json", "application/graphql-response+json"
TOTAL = "{ events { totalCount } }"
HEART_BEAT = b":"
COMPLETE = b"event: complete\ndata:\n\n"
EVENT_SOURCE = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)", "Accept": STREAM, "Cache-Control": "no-cache"}


def refused(answer: httpx.Response, media_type: str = JSON) -> tuple[int, list[str]]:
    """Status and codes of an answer that is no stream."""
    assert answer.headers["Content-Type"] == f"{media_type}; charset=utf-8"
    body = answer.json()
    assert body.keys() == {"errors"}
    return answer.status_code, [error["extensions"]["code"] for error in body["errors"]]


# What is sent


async def test_a_stream_opens_with_its_head_and_a_heart_beat(service: LiveService) -> None:
    async with event_stream(service.url) as stream:
        assert await stream.block() == HEART_BEAT  # before anything is stored
        headers = stream.answer.headers

    assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Accel-Buffering"] == "no"
    assert headers["Vary"] == "Accept"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "X-Request-Id" in headers
    assert "Content-Length" not in headers


async def test_each_result_is_an_event_of_one_line(service: LiveService) -> None:
    place = "a\n\nb\r\nevent: complete\rc\u2028d"
    async with event_stream(service.url, "subscription { events { node { place } } }") as stream:
        assert await stream.block() == HEART_BEAT
        await service.has_subscriptions(1)
        service.store("us1", place=place)

        block = await stream.block()

        assert block.startswith(b'event: next\ndata: {"data":{"events":{"node":{"place":"a')
        assert (block.count(b"\n"), block.count(b"\r")) == (1, 0)
        told = orjson.loads(block.partition(b"data: ")[2])
        assert told["data"]["events"]["node"]["place"] == place


async def test_a_query_is_one_result_and_the_end(service: LiveService) -> None:
    async with event_stream(service.url, TOTAL) as stream:
        assert await stream.block() == HEART_BEAT
        assert await stream.block() == b'event: next\ndata: {"data":{"events":{"totalCount":0}}}'
        assert await stream.end() == COMPLETE
    async with event_stream(service.url, '{ events(after: "x") { totalCount } }') as stream:
        await stream.block()
        block = await stream.block()
        assert block.startswith(b'event: next\ndata: {"data":{"events":null},"errors":[{')
        assert b'"INVALID_CURSOR"' in block
        assert await stream.end() == COMPLETE


async def test_a_silent_stream_has_a_heart_beat(tmp_path: Path, usgs: UsgsServer) -> None:
    with live_service(settings(tmp_path / "live.db", usgs), heart_beat_s=0.05) as service:
        async with event_stream(service.url) as stream:
            assert [await stream.block() for _ in range(5)] == [HEART_BEAT] * 5
            await service.has_subscriptions(1)
            service.store("us1")
            block = HEART_BEAT
            while block == HEART_BEAT:
                block = await stream.block()
            assert b'"eventId":"us1"' in block


async def test_a_stream_ends_with_its_token(limited: Limited) -> None:
    with limited(jwt_leeway=0) as service:
        live: EventBroadcast = service.process.services.of(EventBroadcast)
        subscribed = False
        for seconds in (2, 4, 8, 16, 32):  # a busy machine may need more than the first to subscribe
            expires = int(time.time()) + seconds
            claims = {"sub": "ada", "scope": "events:read", "exp": expires}
            token = {"Authorization": f"Bearer {jwt.encode(claims, SECRET, algorithm='HS256')}"}
            async with event_stream(service.url, headers=token) as stream:
                await eventually(lambda: live.subscriptions == 1 or time.time() > expires)  # noqa: B023
                subscribed = live.subscriptions == 1
                ended = await stream.end()
            if subscribed:
                break
        assert subscribed
        assert ended == b":\n\n" + COMPLETE
        await service.has_subscriptions(0)


async def test_the_connection_of_a_stream_that_has_ended_answers_on(service: LiveService) -> None:
    async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=TIMEOUT_S) as http:
        for _ in range(3):
            answer = await http.post("/graphql", json={"query": TOTAL}, headers={"Accept": STREAM})
            assert answer.content.endswith(COMPLETE)
            answer = await http.post("/graphql", json={"query": TOTAL})
            assert answer.json() == {"data": {"events": {"totalCount": 0}}}


async def test_an_unexpected_error_reveals_nothing_internal(service: LiveService) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the password is swordfish")

    service.change(rates=SimpleNamespace(spend=broken))
    answer = service.http.post("/graphql", json={"query": EVENTS}, headers={"Accept": STREAM})

    assert refused(answer) == (500, ["INTERNAL_SERVER_ERROR"])
    assert "swordfish" not in answer.text


# Which of several types


async def test_accept_decides_when_an_operation_is_answered_by_a_stream(service: LiveService) -> None:
    for accept, of_a_query in {
        STREAM: STREAM,
        f"{GRAPHQL_JSON}, {JSON}, {STREAM}": GRAPHQL_JSON,
        f"{STREAM}, {JSON}": JSON,
        f"{STREAM}, */*": JSON,
        f"{STREAM};q=0.5, {JSON};q=1": JSON,
        "Text/Event-Stream": STREAM,
    }.items():
        for query, media_type in ((TOTAL, of_a_query), (EVENTS, STREAM)):
            async with event_stream(service.url, query, accept=accept) as stream:
                assert stream.answer.headers["Content-Type"] == f"{media_type}; charset=utf-8", accept


async def test_a_subscription_without_event_stream_in_accept_is_refused(service: LiveService) -> None:
    for accept in (JSON, GRAPHQL_JSON, "*/*", f"{JSON}, {STREAM};q=0"):
        answer = service.http.post("/graphql", json={"query": EVENTS}, headers={"Accept": accept})

        assert refused(answer, GRAPHQL_JSON if accept == GRAPHQL_JSON else JSON) == (406, ["BAD_REQUEST"])
        assert answer.json()["errors"][0]["message"] == (
            "A subscription is answered in text/event-stream, or over a WebSocket."
        )
    await service.has_subscriptions(0)


# Who is refused


async def test_another_refusal_is_an_ordinary_answer(service: LiveService) -> None:
    async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=TIMEOUT_S) as http:
        for payload, outcome in (
            ({"query": "{ requestLogs { nodes { route } } }"}, (401, ["UNAUTHENTICATED"])),
            ({"query": 7}, (400, ["BAD_REQUEST"])),
        ):
            answer = await http.post("/graphql", json=payload, headers={"Accept": STREAM})
            assert refused(answer) == outcome
    mutation = {"query": "mutation { ingestEvents(input: {events: []}) { fetched } }"}
    by_get = service.http.get("/graphql", params=mutation, headers={"Accept": STREAM})
    assert refused(by_get) == (405, ["BAD_REQUEST"])
    for query in (TOTAL, "subscription { events { dropped } }"):
        head = service.http.head("/graphql", params={"query": query}, headers={"Accept": STREAM})
        assert (head.status_code, head.headers["Allow"]) == (405, "GET, POST")
        assert service.http.get("/healthz").json() == {"status": "ok"}  # on the same connection
    await service.has_subscriptions(0)


async def test_a_client_that_leaves_is_noticed_also_where_its_next_request_waits(
    tmp_path: Path, usgs: UsgsServer, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        live_service(settings(tmp_path / "live.db", usgs), heart_beat_s=0.1) as service,
        caplog.at_level(logging.WARNING, "uvicorn.error"),
    ):
        address = urlsplit(service.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        body = orjson.dumps({"query": EVENTS})
        head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nAccept: {STREAM}\r\nContent-Type: {JSON}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        for _ in range(2):
            await reader.readuntil(HEART_BEAT + b"\n\n")

        writer.close()

        await service.has_subscriptions(0)
        await eventually(lambda: not service.server.server_state.tasks)
    assert caplog.records == []


async def test_a_caller_has_so_many_subscriptions(limited: Limited) -> None:
    with limited(max_subscriptions=2) as service:
        for _ in range(3):
            async with event_stream(service.url) as first, event_stream(service.url) as second:
                assert await first.block() == await second.block() == HEART_BEAT
                async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=TIMEOUT_S) as http:
                    answer = await http.post("/graphql", json={"query": EVENTS}, headers={"Accept": STREAM})
                assert refused(answer) == (429, ["TOO_MANY_SUBSCRIPTIONS"])
            await service.has_subscriptions(0)


async def test_a_subscription_that_is_refused_is_charged(limited: Limited) -> None:
    with limited(rate_limit=10) as service:
        answer = service.http.post("/graphql", json={"query": EVENTS}, headers={"Accept": JSON})
        assert refused(answer) == (406, ["BAD_REQUEST"])
        while answer.status_code != 429:
            answer = service.http.post("/graphql", json={"query": EVENTS}, headers={"Accept": JSON})
        assert refused(answer) == (429, ["RATE_LIMITED"])
        assert int(answer.headers["Retry-After"]) > 0


# By GET


OPENS: list[tuple[dict[str, str], bool]] = [
    ({"Accept": STREAM}, True),  # no browser
    (EVENT_SOURCE, True),  # one that does not say where it comes from
    ({**EVENT_SOURCE, "Origin": "https://evil.example"}, False),  # which is all that a site without TLS is told
    ({**EVENT_SOURCE, "Sec-Fetch-Site": "same-origin"}, True),
    ({**EVENT_SOURCE, "Sec-Fetch-Site": "cross-site"}, False),
    ({**EVENT_SOURCE, "Sec-Fetch-Site": "cross-site", **bearer()}, True),
]


async def test_a_page_may_open_a_stream_of_its_own_origin(service: LiveService) -> None:
    parameters = {"query": "subscription { events { dropped } }"}
    async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=TIMEOUT_S) as http:
        for headers, opens in OPENS:
            async with http.stream("GET", "/graphql", params=parameters, headers=headers) as answer:
                if opens:
                    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
                    await service.has_subscriptions(1)
                else:
                    await answer.aread()
                    assert refused(answer) == (400, ["CSRF_PREVENTION"]), headers
            await service.has_subscriptions(0)
