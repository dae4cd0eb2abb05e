"""A USGS to test against: real HTTP on a free port of this machine, holding the real week of 2023-08-03.

It answers the FDSN query and the summary feeds from that week. `answer_next` puts other answers
before that, one a request; an answer is any ASGI application, and those below misbehave as USGS
and the network between do. The server runs in a thread of its own, so that code which blocks,
or runs its own event loop, can be tested against it as well.
"""

import asyncio
import gzip
import re
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from functools import cache
from hashlib import sha256
from importlib.resources import files
from threading import Thread
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

FDSN_QUERY = "/fdsnws/event/1/query"
ALL_WEEK = "/earthquakes/feed/v1.0/summary/all_week.geojson"

_GEOJSON = "application/geo+json"
_PERIODS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}


@dataclass(frozen=True)
class Received:
    """A request as it came in."""

    path: str
    query: str  # as sent, percent-encoded
    headers: Headers


@dataclass
class UsgsServer:
    """What the server was asked, and what it is to answer."""

    url: str
    requests: list[Received] = field(default_factory=list)
    _answers: deque[ASGIApp] = field(default_factory=deque)

    def answer_next(self, *answers: ASGIApp) -> None:
        """Answer the next requests so, each answer once, and from the week again after them."""
        self._answers.extend(answers)

    def forget(self) -> None:
        """Drop what was asked and what was to be answered, for another test."""
        self.requests.clear()
        self._answers.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one request."""
        self.requests.append(Received(scope["path"], scope["query_string"].decode("ascii"), Headers(scope=scope)))
        answer = self._answers.popleft() if self._answers else _CATALOGUE
        await answer(scope, receive, send)


@contextmanager
def running_usgs() -> Iterator[UsgsServer]:
    """The server, from listening to stopped."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        usgs = UsgsServer(f"http://127.0.0.1:{listener.getsockname()[1]}")
        server = uvicorn.Server(uvicorn.Config(usgs, lifespan="off", ws="none", log_config=None, log_level="critical"))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()  # no need to wait: a connection made before it accepts stands in the listener's queue
        try:
            yield usgs
        finally:
            server.should_exit = server.force_exit = True
            thread.join()


# The real week


@cache
def week() -> bytes:
    """The feed of all earthquakes of the week, as USGS sent it."""
    sample = files("graph.earthquakes") / "sample" / "usgs_all_week_2023-08-03.geojson.gz"
    return gzip.decompress(sample.read_bytes())


@cache
def week_features() -> list[dict[str, Any]]:
    """Its 2,124 features, latest first."""
    features: list[dict[str, Any]] = orjson.loads(week())["features"]
    return sorted(features, key=_time_ms, reverse=True)


@cache
def _generated_ms() -> int:
    generated: int = orjson.loads(week())["metadata"]["generated"]
    return generated


def _time_ms(feature: dict[str, Any]) -> int:
    time: int = feature["properties"]["time"]
    return time


async def _query(request: Request) -> Response:
    asked = request.query_params
    limit = int(asked.get("limit", "20000"))
    if not 1 <= limit <= 20_000 or asked.get("format") != "geojson":
        return PlainTextResponse("Error 400: Bad Request", status_code=400)
    start_ms = _epoch_ms(asked["starttime"]) if "starttime" in asked else _generated_ms() - 30 * 86_400_000
    end_ms = _epoch_ms(asked["endtime"]) if "endtime" in asked else _generated_ms()
    floor = float(asked.get("minmagnitude", "-inf"))
    found = _select(lambda feature: start_ms <= _time_ms(feature) <= end_ms and feature["properties"]["mag"] >= floor)
    return collection(found[:limit])


def _epoch_ms(text: str) -> int:
    time = datetime.fromisoformat(text)
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


async def _feed(request: Request) -> Response:
    name = request.path_params["name"]
    match = re.fullmatch(r"(all|1\.0|2\.5|4\.5|significant)_(hour|day|week|month)\.geojson", name)
    if match is None:
        return PlainTextResponse("Not Found", status_code=404)
    if name == "all_week.geojson":
        return versioned(request, Response(week(), media_type=_GEOJSON))
    level, period = match.groups()
    start_ms = _generated_ms() - _PERIODS[period] // timedelta(milliseconds=1)
    if level == "significant":
        found = _select(lambda feature: _time_ms(feature) >= start_ms and feature["properties"]["sig"] >= 600)
    else:
        floor = float("-inf" if level == "all" else level)
        found = _select(lambda feature: _time_ms(feature) >= start_ms and feature["properties"]["mag"] >= floor)
    return versioned(request, collection(found))


def versioned(request: Request, answer: Response) -> Response:
    """The answer with validators, or 304 where the request names this version: an ETag goes before a date."""
    etag, modified = f'"{sha256(answer.body).hexdigest()[:16]}"', formatdate(_generated_ms() / 1000, usegmt=True)
    version = {"etag": etag, "last-modified": modified, "cache-control": "public, max-age=60"}
    asked = request.headers
    unchanged = (
        asked["if-none-match"] == etag if "if-none-match" in asked else asked.get("if-modified-since") == modified
    )
    if unchanged:
        return Response(status_code=304, headers=version)
    answer.headers.update(version)
    return answer


def _select(matches: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    return [feature for feature in week_features() if matches(feature)]


_CATALOGUE = Starlette(routes=[Route(FDSN_QUERY, _query), Route("/earthquakes/feed/v1.0/summary/{name}", _feed)])


# Other answers


def collection(features: Sequence[Any]) -> Response:
    """A catalogue of these features."""
    metadata = {"generated": _generated_ms(), "status": 200, "count": len(features)}
    body = {"type": "FeatureCollection", "metadata": metadata, "features": features}
    return Response(orjson.dumps(body), media_type=_GEOJSON)


def body(content: bytes, **headers: str) -> Response:
    """Status 200 with any body; a header's name is written with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(content, headers={"content-type": _GEOJSON} | named)


def status(code: int, *, retry_after: str | None = None) -> Response:
    """A status without a catalogue."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Response(status_code=code, headers=headers)


def html() -> Response:
    """Status 200 with a page for people, as when a service is down for maintenance."""
    return HTMLResponse("<!DOCTYPE html><html><title>Down for maintenance</title></html>")


def cut_json() -> Response:
    """A catalogue that breaks off, in an answer that HTTP takes for complete."""
    return body(week()[:100_000])


def redirect(path: str) -> Response:
    """A redirect to that path of this server."""
    return RedirectResponse(path)


async def cut_connection(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer whose connection is closed before its announced end."""
    await _begin(send, content_length=len(week()))
    await send({"type": "http.response.body", "body": week()[:100_000]})


async def stall(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer that begins, and never goes on."""
    await _begin(send)
    await send({"type": "http.response.body", "body": week()[:1000], "more_body": True})
    await _hung_up(receive)


async def drip(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer that goes on for ever, a byte at a time, each soon enough after the one before."""
    await _begin(send)
    hung_up = asyncio.ensure_future(_hung_up(receive))
    while not hung_up.done():
        await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.wait([hung_up], timeout=0.01)


async def _begin(send: Send, *, content_length: int | None = None) -> None:
    headers = [(b"content-type", _GEOJSON.encode())]
    if content_length is not None:
        headers.append((b"content-length", str(content_length).encode()))
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
