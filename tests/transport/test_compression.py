"""Answers are compressed for clients that accept it: which ones, how, and what their heads say."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import httpx
import pytest
import zstandard
from starlette.types import Message

from graph.pages import dashboard
from graph.transport.compression import LEAST_BYTES, PIECE_BYTES, Compression
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings

PAGE = "{ events(first: 300) { nodes { eventId time mag place } } }"
OF_JSON = {"Content-Type": "application/json"}
DECODERS = {
    "zstd": lambda body: zstandard.ZstdDecompressor().decompressobj().decompress(body),
    "br": brotli.decompress,
    "gzip": gzip.decompress,
}


def asked(service: Service, method: str, path: str, encodings: str | None, **headers: str) -> tuple[Any, bytes]:
    """The head of an answer, and its body as it was sent."""
    given = {"Accept-Encoding": encodings} if encodings is not None else {}
    request = service.http.build_request(method, path, headers={**given, **headers})
    if encodings is None:
        del request.headers["Accept-Encoding"]
    answer = service.http.send(request, stream=True)
    try:
        return answer, b"".join(answer.iter_raw())
    finally:
        answer.close()


def varies(answer: httpx.Response) -> set[str]:
    return {each.strip() for each in answer.headers.get("Vary", "").split(",")} - {""}


ENCODINGS = {
    "gzip, deflate, br, zstd": "zstd",
    "gzip, deflate, br": "br",
    "gzip": "gzip",
    "gzip;q=0, br;q=0.1": "br",
    "*": "zstd",
}


@pytest.mark.parametrize(
    "path",
    [
        f"/graphql?query={PAGE}",
        "/export/events.geojson",
        "/export/events.csv",
        "/export/events.ndjson",
        "/fdsnws/event/1/query?format=xml&limit=50",
        "/fdsnws/event/1/query?format=text&limit=50",
        "/",
    ],
)
def test_an_answer_is_compressed_as_its_client_accepts(week: Service, path: str) -> None:
    plain, whole = asked(week, "GET", path, None, **OF_JSON)
    assert "Content-Encoding" not in plain.headers
    for accepted, encoding in ENCODINGS.items():
        answer, body = asked(week, "GET", path, accepted, **OF_JSON)
        if "json" in plain.headers["Content-Type"]:
            encoding = encoding.replace("zstd", "br")

        assert (answer.status_code, answer.headers["Content-Encoding"]) == (200, encoding)
        assert answer.headers["Content-Type"] == plain.headers["Content-Type"]
        assert DECODERS[encoding](body) == whole or "X-As-Of" in plain.headers
        assert len(body) < len(whole) / 2
        assert "Accept-Encoding" in varies(answer) & varies(plain)
        assert int(answer.headers.get("Content-Length", len(body))) == len(body)


def test_an_answer_stays_as_it_is_if_its_client_accepts_no_known_encoding_or_it_is_short(week: Service) -> None:
    for accepted in (None, "", "identity", "gzip;q=0", "compress", "gzip;q=x"):
        answer, body = asked(week, "GET", f"/graphql?query={PAGE}", accepted, **OF_JSON)
        assert (answer.status_code, len(body)) == (200, int(answer.headers["Content-Length"])), accepted
        assert "Content-Encoding" not in answer.headers, accepted
    answer, _ = asked(week, "GET", "/graphql?query={__typename}", "gzip, br, zstd", **OF_JSON)
    assert (answer.status_code, "Content-Encoding" in answer.headers) == (200, False)


def test_a_stream_of_events_is_never_compressed(week: Service) -> None:
    query = "subscription { events { cursor } }"
    headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip, br, zstd"}
    with week.http.stream("POST", "/graphql", json={"query": query}, headers=headers) as answer:
        first = next(answer.iter_raw())

    assert "Content-Encoding" not in answer.headers
    assert first == b":\n\n"


@pytest.mark.parametrize("accepted", ["gzip, br, zstd", "gzip", "identity"])
@pytest.mark.parametrize("path", [f"/graphql?query={PAGE}", "/graphql?query={__typename}", "/", "file"])
def test_a_head_says_nothing_that_is_wrong_of_the_body(week: Service, path: str, accepted: str) -> None:
    path = f"{dashboard.PATH}/{dashboard.VERSION}/main.js" if path == "file" else path
    got, body = asked(week, "GET", path, accepted, **OF_JSON)
    head, nothing = asked(week, "HEAD", path, accepted, **OF_JSON)

    assert (head.status_code, nothing) == (got.status_code, b"") == (200, b"")
    assert int(head.headers.get("Content-Length", len(body))) == len(body)
    assert varies(got) <= varies(head)
    for name in ("Content-Type", "Cache-Control", "ETag"):
        assert head.headers.get(name) == got.headers.get(name)


def test_a_tag_is_weak_where_the_body_may_be_compressed(week: Service) -> None:
    plain, _ = asked(week, "GET", "/", None)
    compressed, _ = asked(week, "GET", "/", "br")
    tag = plain.headers["ETag"]

    assert compressed.headers["ETag"] == f"W/{tag}"
    for accepted, known in (("br", f"W/{tag}"), ("gzip", tag), (None, tag)):
        confirmed, body = asked(week, "GET", "/", accepted, **{"If-None-Match": known})
        assert (confirmed.status_code, body) == (304, b"")
        assert confirmed.headers["ETag"] == (f"W/{tag}" if accepted else tag)
        assert "Accept-Encoding" in varies(confirmed)


def test_ranges_are_offered_only_of_a_body_without_compression(week: Service) -> None:
    path = f"{dashboard.PATH}/{dashboard.VERSION}/main.js"

    assert "Accept-Ranges" not in asked(week, "GET", path, "gzip")[0].headers
    part, body = asked(week, "GET", path, "gzip", Range="bytes=0-1499")
    assert (part.status_code, len(body)) in ((206, 1500), (200, len(body)))
    assert ("Content-Encoding" in part.headers) == (part.status_code == 200)


def test_compression_can_be_switched_off(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "events.db", usgs, compression=False)) as service:
        answer, body = asked(service, "GET", "/", "gzip, br, zstd")

    assert len(body) > LEAST_BYTES
    assert "Content-Encoding" not in answer.headers
    assert not answer.headers["ETag"].startswith("W/")


async def sent(messages: list[Message], accepted: bytes = b"gzip") -> list[Message]:
    """What the middleware sends for these messages of an application."""
    found: list[Message] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    async def receive() -> Message:
        raise AssertionError("nothing is received")

    async def send(message: Message) -> None:
        found.append(message)

    scope = {"type": "http", "method": "GET", "headers": [(b"accept-encoding", accepted)]}
    await Compression(app)(scope, receive, send)
    return found


def start(media_type: bytes = b"text/plain") -> Message:
    return {"type": "http.response.start", "status": 200, "headers": [(b"content-type", media_type)]}


def pieces(sizes: list[int]) -> Iterator[Message]:
    for at, size in enumerate(sizes, start=1):
        more = at < len(sizes)
        yield {"type": "http.response.body", "body": bytes(size), "more_body": more}


async def test_a_body_of_any_size_arrives_whole() -> None:
    for size in (0, LEAST_BYTES - 1, LEAST_BYTES, PIECE_BYTES, 3 * PIECE_BYTES + 1):
        head, *rest = await sent([start(), *pieces([size])])

        body = b"".join(message["body"] for message in rest)
        is_compressed = size >= LEAST_BYTES
        assert (b"content-encoding" in dict(head["headers"])) == is_compressed
        assert (gzip.decompress(body) if is_compressed else body) == bytes(size)
        assert [message.get("more_body", False) for message in rest][-1] is False


async def test_a_stream_stays_a_stream() -> None:
    """The first piece has left long before the last one comes, and nothing is kept."""
    _, *rest = await sent([start(), *pieces([PIECE_BYTES] * 20 + [0])])

    assert len(rest) > 2
    decoder = zlib.decompressobj(31)
    assert b"".join(decoder.decompress(message["body"]) for message in rest) == bytes(20 * PIECE_BYTES)
    assert decoder.eof


async def test_a_long_body_comes_in_pieces_whatever_its_type() -> None:
    _, *rest = await sent([start(b"image/png"), *pieces([2 * PIECE_BYTES + 5])])

    assert [(len(message["body"]), message["more_body"]) for message in rest] == [
        (PIECE_BYTES, True),
        (PIECE_BYTES, True),
        (5, False),
    ]
