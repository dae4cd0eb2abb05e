"""The client for other services decodes only what it has asked for."""

import gzip

import brotli
import httpx
import pytest
import zstandard

from graph.core.http_client import http_client
from tests.service import serving

TEXT = b"earthquake " * 1000


def answering(body: bytes, encoding: str, asked: list[str]) -> object:
    async def app(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        asked.append(dict(scope["headers"])[b"accept-encoding"].decode())
        headers = [(b"content-encoding", encoding.encode())] if encoding else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(gzip.compress(TEXT), "gzip"), (TEXT, "identity"), (TEXT, "")],
    ids=["gzip", "identity", "no encoding"],
)
async def test_an_answer_in_a_requested_encoding_is_decoded(body: bytes, encoding: str) -> None:
    asked: list[str] = []
    with serving(answering(body, encoding, asked)) as url:  # type: ignore[arg-type]
        async with http_client() as http:
            assert (await http.get(url)).content == TEXT

    assert asked == ["gzip, identity"]


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(zstandard.compress(TEXT), "zstd"), (brotli.compress(TEXT), "BR"), (gzip.compress(TEXT), "gzip, zstd")],
    ids=["zstd", "brotli", "gzip and zstd"],
)
async def test_an_answer_in_another_encoding_is_an_error_before_its_body_is_read(body: bytes, encoding: str) -> None:
    with serving(answering(body, encoding, [])) as url:  # type: ignore[arg-type]
        async with http_client() as http:
            with pytest.raises(httpx.DecodingError, match="not asked for"):
                await http.send(http.build_request("GET", url), stream=True)
