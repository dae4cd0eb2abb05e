"""The certificate of a receiver is checked, for the host that the URL names."""

import asyncio
from dataclasses import replace
from pathlib import Path
from ssl import SSLContext
from typing import Any

from graph.domains.triggers.sending.answers import Failure, SendResult
from tests.domains.triggers.sending.certificates import EXPIRED, LATER, authority
from tests.domains.triggers.sending.receivers import OWN_NETWORK, names, outbound, receiving

HOST = "hook.example"
HTTPS_ONLY = replace(OWN_NETWORK, http=False)
LOOK_UP = names(hook_example="127.0.0.1", hook_example_="127.0.0.1")


async def send(url: str, tls: SSLContext | None, **options: Any) -> SendResult:
    async with outbound(HTTPS_ONLY, look_up=LOOK_UP, tls=tls, **options) as ours:
        return await ours.send(url)


CERTIFICATES = [
    ("ours", HOST, HOST, LATER, True),
    ("ours", f"{HOST}.", HOST, LATER, True),
    ("ours", "127.0.0.1", "127.0.0.1", LATER, True),
    ("ours", HOST, "other.example", LATER, False),
    ("ours", HOST, "127.0.0.1", LATER, False),
    ("ours", HOST, HOST, EXPIRED, False),
    ("theirs", HOST, HOST, LATER, False),
]
"""Who signed it, the host of the URL, that of the certificate, its end, and whether it is valid."""


async def test_a_message_goes_to_a_receiver_with_a_valid_certificate_of_its_host_alone(tmp_path: Path) -> None:
    for signer, host, subject, until, valid in CERTIFICATES:
        async with (
            receiving(tls=authority(signer).server(tmp_path, subject, until=until)) as receiver,
            outbound(HTTPS_ONLY, look_up=LOOK_UP, tls=authority("ours").client()) as ours,
        ):
            url = receiver.url(host, "https")
            answers = [await ours.send(url) for _ in range(2)]
            by_the_system = await send(url, None)

        outcome = (200, None) if valid else (None, Failure.TLS_FAILED)
        assert [(answer.status, answer.error) for answer in answers] == [outcome] * 2, (signer, host, subject, until)
        assert len(receiver.requests) == 2 * valid
        assert receiver.connections == 1 or not valid
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
