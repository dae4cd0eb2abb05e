"""The client for other services decodes only what it has asked for."""

import gzip

import brotli
import httpx
import pytest
import zstandard
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graph.core.http_client import http_client
from tests.service import serving

TEXT = b"earthquake " * 1000


def answering(body: bytes, encoding: str, asked: list[str]) -> Starlette:
    async def answer(request: Request) -> Response:
        asked.append(request.headers["accept-encoding"])
        return Response(body, headers={"content-encoding": encoding} if encoding else {})

    return Starlette(routes=[Route("/", answer)])


async def test_an_answer_in_a_requested_encoding_is_decoded() -> None:
    asked: list[str] = []
    for body, encoding in ((gzip.compress(TEXT), "gzip"), (TEXT, "identity"), (TEXT, "")):
        with serving(answering(body, encoding, asked)) as url:
            async with http_client() as http:
                assert (await http.get(url)).content == TEXT

    assert asked == ["gzip, identity"] * 3


async def test_an_answer_in_another_encoding_is_an_error_before_its_body_is_read() -> None:
    others = {"zstd": zstandard.compress(TEXT), "BR": brotli.compress(TEXT), "gzip, zstd": gzip.compress(TEXT)}
    for encoding, body in others.items():
        with serving(answering(body, encoding, [])) as url:
            async with http_client() as http:
                with pytest.raises(httpx.DecodingError, match="not asked for"):
                    await http.send(http.build_request("GET", url), stream=True)
