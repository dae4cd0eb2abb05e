"""What a receiver gets, and what is kept of its answer."""

import asyncio
import json
from base64 import b64encode

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from graph import __version__
from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.sending.sender import MOST_BYTES
from tests.domains.triggers.sending.receivers import (
    BODY,
    FIRST,
    OK,
    SECOND,
    names,
    outbound,
    receiving,
    saying,
    status,
    then_close,
)

NOW = 1_691_031_133_999  # 2023-08-03T02:52:13.999Z
DATE = "Thu, 03 Aug 2023 02:53:13 GMT"  # 59.001 s later


async def test_a_receiver_verifies_the_message_with_each_secret() -> None:
    async with receiving() as receiver, outbound() as ours:
        for secrets in ((FIRST,), (FIRST, SECOND)):
            answer = await ours.send(receiver.url(), secrets=secrets)

            assert (answer.status, answer.error, answer.excerpt, answer.retry_after_s) == (200, None, "ok", None)
            request = receiver.requests[-1]
            assert request.body == BODY.encode()
            for secret in secrets:
                assert Webhook(secret).verify(request.body, dict(request.headers)) == json.loads(BODY)
            with pytest.raises(WebhookVerificationError):
                Webhook("whsec_" + b64encode(b"of someone else").decode()).verify(request.body, dict(request.headers))


async def test_each_attempt_has_these_headers_and_no_others_and_a_timestamp_of_its_own_on_the_same_connection() -> None:
    times = iter([NOW, NOW + 5000])
    cookies = ("set-cookie: session=1; Path=/", 'set-cookie: x="\\001"; Domain=127.0.0.1')  # none comes back
    async with receiving(status(200, *cookies)) as receiver, outbound(clock=lambda: next(times)) as ours:
        for _ in range(2):
            await ours.send(receiver.url())

    signatures = set()
    for request, second in zip(receiver.requests, (NOW // 1000, NOW // 1000 + 5), strict=True):
        assert request.line == "POST /hook?x=1 HTTP/1.1"
        headers = dict(request.headers)
        signatures.add(headers.pop("webhook-signature"))
        assert headers == {
            "host": f"127.0.0.1:{receiver.port}",
            "accept": "*/*",
            "accept-encoding": "identity",
            "content-length": str(len(BODY.encode())),
            "content-type": "application/json",
            "user-agent": f"quakegraph/{__version__}",
            "webhook-id": "msg_1",
            "webhook-timestamp": str(second),
        }
    assert [signature.startswith("v1,") for signature in signatures] == [True, True]
    assert receiver.connections == 1


async def test_a_connection_that_the_receiver_ends_is_not_used_again_and_none_to_nobody_is_made() -> None:
    async with outbound() as ours:
        async with receiving(then_close(status(200, "connection: close"))) as receiver:
            statuses = [(await ours.send(receiver.url())).status for _ in range(3)]
        nobody_listens = await ours.send(receiver.url())

    assert (statuses, receiver.connections) == ([200] * 3, 3)
    assert (nobody_listens.status, nobody_listens.error) == (None, Failure.CONNECTION_FAILED)


async def test_many_messages_are_sent_at_once() -> None:
    """The first answer comes only when all have arrived, so none waits for another."""
    arrived = asyncio.Barrier(100)

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await arrived.wait()
        await OK(reader, writer)

    async with receiving(reply) as receiver, outbound(look_up=names(hook_example="127.0.0.1")) as ours:
        url = receiver.url("hook.example")
        answers = await asyncio.gather(*[ours.send(url, webhook_id=f"msg_{at}") for at in range(100)])

    assert [answer.status for answer in answers] == [200] * 100
    assert {request.headers["webhook-id"] for request in receiver.requests} == {f"msg_{at}" for at in range(100)}


INTERIM = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"
ANSWERS = [
    *[(status(code), code, None) for code in (204, 299, 400, 404, 410, 500, 999)],
    (status(429, "retry-after: 120"), 429, 120),
    (status(429, f"Retry-After: {DATE}"), 429, 59.001),
    (status(429, "retry-after: -1"), 429, 0),
    (status(503, "retry-after: soon"), 503, None),
    (saying(INTERIM + b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n"), 201, None),
]


async def test_the_status_and_the_wait_of_an_answer_are_kept() -> None:
    for reply, code, retry_after_s in ANSWERS:
        async with receiving(reply) as receiver, outbound(clock=lambda: NOW) as ours:
            answer = await ours.send(receiver.url())

        assert (answer.status, answer.error) == (code, None)
        assert answer.retry_after_s == (None if retry_after_s is None else pytest.approx(retry_after_s))
        assert answer.latency_ms >= 0


EXCERPTS = [
    (b"", ""),
    ("Überhitzt\r\n\tsehr\u00a0heiß".encode(), "Überhitzt\r\n\tsehr\u00a0heiß"),
    (b"a\x00b\x1b[31mc\x7f", "a\ufffdb\ufffd[31mc\ufffd"),
    ("\u202egpj.exe\u2028".encode(), "\ufffdgpj.exe\ufffd"),  # would be shown from right to left
    (b"\xed\xa0\x80", "\ufffd" * 3),  # a lone surrogate
    (b"\xff\xfe", "\ufffd\ufffd"),
    (b"a" * 1001, "a" * 1000),
    (b"a" * 999 + "é".encode(), "a" * 999 + "\ufffd"),
    (b"a" * MOST_BYTES, "a" * 1000),
]


async def test_an_excerpt_of_the_body_is_kept_as_harmless_text() -> None:
    for body, excerpt in EXCERPTS:
        async with receiving(status(200, body=body)) as receiver, outbound() as ours:
            answer = await ours.send(receiver.url())
            await ours.send(receiver.url())

        assert (answer.status, answer.excerpt) == (200, excerpt)
        json.dumps(answer.excerpt).encode()
        assert receiver.connections == 1  # each was read to its end


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as proxy, receiving() as receiver, outbound() as ours:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        answer = await ours.send(receiver.url())

    assert (answer.status, len(receiver.requests), proxy.connections) == (200, 1, 0)


async def test_a_cancelled_attempt_ends() -> None:
    arrived = asyncio.Event()

    async def reply(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        arrived.set()
        await reader.read()  # until the sender goes away

    async with receiving(reply) as receiver, outbound() as ours:
        task = asyncio.create_task(ours.send(receiver.url()))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
