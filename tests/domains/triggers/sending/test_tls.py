"""The certificate of a receiver is checked, for the host that the URL names."""

import asyncio
from dataclasses import replace
from pathlib import Path
from ssl import SSLContext
from typing import Any

import pytest

from graph.domains.triggers.sending.answers import Answer, Failure
from tests.domains.triggers.sending.certificates import authority
from tests.domains.triggers.sending.receivers import OWN_NETWORK, names, outbound, receiving

HOST = "hook.example"
HTTPS_ONLY = replace(OWN_NETWORK, http=False)
LOOK_UP = names(hook_example="127.0.0.1", hook_example_="127.0.0.1")


async def send(url: str, tls: SSLContext | None, **options: Any) -> Answer:
    async with outbound(HTTPS_ONLY, look_up=LOOK_UP, tls=tls, **options) as ours:
        return await ours.send(url)


@pytest.mark.parametrize(
    ("host", "subject"), [(HOST, HOST), (f"{HOST}.", HOST), ("127.0.0.1", "127.0.0.1")], ids=["name", "root", "address"]
)
async def test_a_receiver_with_a_certificate_of_its_host_gets_the_message(
    tmp_path: Path, host: str, subject: str
) -> None:
    ours = authority("ours")
    async with (
        receiving(tls=ours.server(tmp_path, subject)) as receiver,
        outbound(HTTPS_ONLY, look_up=LOOK_UP, tls=ours.client()) as sending,
    ):
        answers = [await sending.send(receiver.url(host, "https")) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert (receiver.connections, len(receiver.requests)) == (1, 2)


@pytest.mark.parametrize(
    ("signer", "host", "days"),
    [("ours", "other.example", 9), ("ours", "127.0.0.1", 9), ("ours", HOST, 1), ("theirs", HOST, 9)],
    ids=["another host", "the address of the host", "expired", "another authority"],
)
async def test_a_certificate_that_is_not_valid_gets_nothing(tmp_path: Path, signer: str, host: str, days: int) -> None:
    async with receiving(tls=authority(signer).server(tmp_path, host, days=days)) as receiver:
        answer = await send(receiver.url(HOST, "https"), authority("ours").client())

        by_the_system = await send(receiver.url(HOST, "https"), None)

    assert (answer.status, answer.error, receiver.requests) == (None, Failure.TLS_FAILED, [])
    assert by_the_system.error is Failure.TLS_FAILED


async def test_a_server_without_tls_gets_nothing() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 This is not HTTPS\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        answer = await send(f"https://{HOST}:{server.sockets[0].getsockname()[1]}/", authority("ours").client())

    assert (answer.status, answer.error) == (None, Failure.TLS_FAILED)


async def test_a_handshake_that_does_not_end_has_a_time_limit() -> None:
    async with receiving() as receiver:  # which waits for the end of a request
        answer = await send(receiver.url(HOST, "https"), authority("ours").client(), timeout_s=0.1)

    assert (answer.status, answer.error, receiver.requests) == (None, Failure.TIMED_OUT, [])
