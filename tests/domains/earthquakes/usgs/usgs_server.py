"""A USGS server for tests: real HTTP on a free port of this machine, with the real week of 2023-08-03.

It answers FDSN queries, FDSN counts and the summary feeds from that week, or from the events that a test passes to
`hold`, with a limit of the test's choice. `answer_next` sets other answers for the next requests. An
answer is any ASGI application. Those below fail as USGS and the network do. The server runs in its own
thread, so it can also serve tests that block or run their own event loop.
"""

import asyncio
import gzip
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from functools import cache
from hashlib import sha256
from importlib.resources import files
from threading import Event
from typing import Any
from urllib.parse import parse_qsl

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.processes import TIMEOUT_S
from tests.server_thread import in_thread

FDSN_QUERY = "/fdsnws/event/1/query"
FDSN_COUNT = "/fdsnws/event/1/count"
ALL_WEEK = "/earthquakes/feed/v1.0/summary/all_week.geojson"

_GEOJSON = "application/geo+json"
PERIODS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}


@dataclass(frozen=True)
class Received:
    """A request that the server received."""

    path: str
    query: str  # as sent, percent-encoded
    headers: Headers

    @property
    def window(self) -> tuple[int, int]:
        """Its start and end in epoch milliseconds. The request must have both."""
        asked = dict(parse_qsl(self.query))
        return epoch_ms(asked["starttime"]), epoch_ms(asked["endtime"])


@dataclass
class Holdings:
    """The events of the server, and the maximum number in one answer."""

    features: list[dict[str, Any]]
    limit: int = 20_000
    cuts: bool = False  # answers with the latest events within the limit, instead of refusing
    deleted: Sequence[int] = ()  # epoch milliseconds of events that USGS deleted
    arriving: deque[list[dict[str, Any]]] = field(default_factory=deque)  # added after each count within the limit
    given: list[int] = field(default_factory=list)  # events in each answer
    refused: int = 0  # queries that too much matched

    @property
    def generated_ms(self) -> int:
        """The time of the answers, epoch milliseconds."""
        return _generated_ms()

    def held(self) -> list[dict[str, Any]]:
        """The events that it has now."""
        return self.features

    def admits(self, feature: dict[str, Any], asked: Mapping[str, str]) -> bool:
        """Whether an event fulfils the conditions beside time and magnitude."""
        return True

    @property
    def application(self) -> ASGIApp:
        """The server."""
        return Starlette(
            routes=[
                Route(FDSN_QUERY, self.query),
                Route(FDSN_COUNT, self.count),
                Route("/earthquakes/feed/v1.0/summary/{name}", self.feed),
            ]
        )

    async def query(self, request: Request) -> Response:
        """Answer a query."""
        limit = int(request.query_params.get("limit", str(self.limit)))
        if not 1 <= limit <= self.limit or request.query_params.get("format") != "geojson":
            return PlainTextResponse("Error 400: Bad Request", status_code=400)
        start_ms, end_ms, found = self._matching(request)
        if not found and any(start_ms <= time <= end_ms for time in self.deleted):
            return PlainTextResponse("Error 409: Conflict\n\nThe requested event has been deleted.", status_code=409)
        if len(found) > self.limit and not self.cuts:
            self.refused += 1
            why = f"{len(found)} matching events exceeds search limit of {self.limit}."
            text = f"Error 400: Bad Request\n\n{why} Modify the search to match fewer events.\n"
            return PlainTextResponse(text, status_code=400)
        self.given.append(len(found[:limit]))
        return collection(found[:limit])

    async def count(self, request: Request) -> Response:
        """Answer a count."""
        _, _, found = self._matching(request)
        if self.arriving and 0 < len(found) < self.limit:
            self.features = self.features + self.arriving.popleft()
        return JSONResponse({"count": len(found), "maxAllowed": self.limit})

    async def feed(self, request: Request) -> Response:
        """Answer with a summary feed."""
        name = request.path_params["name"]
        match = re.fullmatch(r"(all|1\.0|2\.5|4\.5|significant)_(hour|day|week|month)\.geojson", name)
        if match is None:
            return PlainTextResponse("Not Found", status_code=404)
        if name == "all_week.geojson" and self.held() is week_features():
            return versioned(request, Response(week(), media_type=_GEOJSON))
        level, period = match.groups()
        key, floor = ("sig", 600.0) if level == "significant" else ("mag", float("nan" if level == "all" else level))
        start_ms = self.generated_ms - PERIODS[period] // timedelta(milliseconds=1)
        found = [
            feature
            for feature in self.held()
            if time_ms(feature) >= start_ms
            and (level == "all" or feature["properties"][key] >= floor)
            and self.admits(feature, {})
        ]
        return versioned(request, collection(found))

    def _matching(self, request: Request) -> tuple[int, int, list[dict[str, Any]]]:
        """The window of a request, and its events, latest first."""
        asked, now = request.query_params, self.generated_ms
        start_ms = epoch_ms(asked["starttime"]) if "starttime" in asked else now - 30 * 86_400_000
        end_ms = epoch_ms(asked["endtime"]) if "endtime" in asked else now
        floor = float(asked.get("minmagnitude", "-inf"))
        found = [
            feature
            for feature in self.held()
            if start_ms <= time_ms(feature) <= end_ms
            and (feature["properties"]["mag"] or 0) >= floor
            and self.admits(feature, asked)
        ]
        return start_ms, end_ms, sorted(found, key=time_ms, reverse=True)


@dataclass
class UsgsServer:
    """The server's received requests and its next answers."""

    url: str = ""  # once it runs
    requests: list[Received] = field(default_factory=list)
    _answers: deque[ASGIApp] = field(default_factory=deque)
    _held: ASGIApp | None = None  # None: the week

    def answer_next(self, *answers: ASGIApp) -> None:
        """Set the answers to the next requests, one for each. After them, the catalogue answers again."""
        self._answers.extend(answers)

    def hold(self, features: Sequence[dict[str, Any]], **how: Any) -> Holdings:
        """Replace the week by these events; `how` has further arguments of `Holdings`."""
        holdings = Holdings(list(features), **how)
        self._held = holdings.application
        return holdings

    def stand_in(self, application: ASGIApp) -> None:
        """Replace the week by another catalogue."""
        self._held = application

    async def catalogue(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The catalogue's answer. A test can pass it to `answer_next`."""
        await (self._held or _week_catalogue())(scope, receive, send)

    def forget_answers(self) -> None:
        """Drop the answers that `answer_next` has set."""
        self._answers.clear()

    def forget(self) -> None:
        """Drop all requests, answers and held events, for another test."""
        self.requests.clear()
        self.forget_answers()
        self._held = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record and answer one request."""
        self.requests.append(Received(scope["path"], scope["query_string"].decode("ascii"), Headers(scope=scope)))
        answer = self._answers.popleft() if self._answers else self.catalogue
        await answer(scope, receive, send)


@contextmanager
def running_usgs() -> Iterator[UsgsServer]:
    """Run the server for the time of the `with`."""
    usgs = UsgsServer()
    server = uvicorn.Server(uvicorn.Config(usgs, lifespan="off", ws="none", log_config=None, log_level="critical"))
    with in_thread(server) as usgs.url:
        try:
            yield usgs
        finally:
            server.force_exit = True


# The real week


@cache
def week() -> bytes:
    """The feed of all earthquakes of the week, as USGS sent it."""
    sample = files("graph.domains.earthquakes") / "sample" / "usgs_all_week_2023-08-03.geojson.gz"
    return gzip.decompress(sample.read_bytes())


@cache
def week_features() -> list[dict[str, Any]]:
    """Its 2,124 features, latest first."""
    features: list[dict[str, Any]] = orjson.loads(week())["features"]
    return sorted(features, key=time_ms, reverse=True)


@cache
def _generated_ms() -> int:
    generated: int = orjson.loads(week())["metadata"]["generated"]
    return generated


def time_ms(feature: dict[str, Any]) -> int:
    """Its origin time."""
    time: int = feature["properties"]["time"]
    return time


def epoch_ms(text: str) -> int:
    time = datetime.fromisoformat(text)
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def versioned(request: Request, answer: Response) -> Response:
    """The answer with validators, or 304 if the request names this version. An ETag wins over a date."""
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


@cache
def _week_catalogue() -> ASGIApp:
    return Holdings(week_features()).application


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
    """A truncated catalogue, in a complete HTTP answer."""
    return body(week()[:100_000])


def redirect(path: str) -> Response:
    """A redirect to that path of this server."""
    return RedirectResponse(path)


class Pending:
    """Five events of the week. They are sent when the test calls `released.set()`."""

    def __init__(self) -> None:
        self.asked = Event()
        self.released = Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.set()
        async with asyncio.timeout(TIMEOUT_S):
            while not self.released.is_set():  # noqa: ASYNC110 — by a test in another thread
                await asyncio.sleep(0.01)
        await collection(week_features()[:5])(scope, receive, send)


async def cut_connection(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer whose connection is closed before its announced end."""
    await _begin(send, content_length=len(week()))
    await send({"type": "http.response.body", "body": week()[:100_000]})


async def stall(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer that begins, and never continues."""
    await _begin(send)
    await send({"type": "http.response.body", "body": week()[:1000], "more_body": True})
    await _hung_up(receive)


async def drip(scope: Scope, receive: Receive, send: Send) -> None:
    """An endless answer, one byte at a time. No pause between two bytes is long."""
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
