"""Fetching from USGS: the answer to a request, after however many attempts.

An attempt has a deadline from its first byte to its last, and a body has a greatest size, so a
fetch ends. What may pass (429, 5xx, the network, a broken body) is tried again, with growing
pauses; what would fail alike (any other status) is not. No message names a host or an address.

Source: https://earthquake.usgs.gov/fdsnws/event/1/ and
https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
"""

import asyncio
import hashlib
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TypeVar

import httpx
import orjson
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from graph import __version__
from graph.core.clock import Clock, now_ms
from graph.core.errors import (
    InvalidUpstreamResponse,
    UpstreamFailure,
    UpstreamUnavailable,
)
from graph.domains.earthquakes.usgs.geojson import CHUNK_BYTES, FeatureParser, InvalidGeoJson, RawFeature
from graph.domains.earthquakes.usgs.redirects import may_follow
from graph.domains.earthquakes.usgs.requests import MAX_EVENTS, EventCount, EventQuery, UsgsRequest

T = TypeVar("T")

MAX_RETRIES = 3
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 64 * 1024 * 1024  # 20,000 events of USGS take about 15 MB
MAX_COUNT_BYTES = 64 * 1024  # a count takes about 200
FIRST_PAUSE_S = 0.5  # before the first retry, doubled before each further one
MAX_RETRY_AFTER_S = 60.0  # a caller is not held any longer than this for one retry

_VALIDATOR = re.compile(r"[\x20-\x7e]{1,200}")  # what is longer, or no ASCII, is not kept

_INVALID_LOCATION = "Invalid URL in location header"  # what httpx says of one, without an error class of its own

_HEADERS = {"User-Agent": f"quakegraph/{__version__}", "Accept": "application/geo+json, application/json"}


@dataclass(frozen=True, slots=True)
class Validators:
    """By what USGS tells a version of an answer from others; it is asked for a newer one with them.

    Source: RFC 9110 sections 8.8 and 13.1
    """

    etag: str | None = None
    last_modified: str | None = None

    @classmethod
    def of(cls, response: httpx.Response) -> "Validators":
        """Those of an answer, as far as they can be sent back."""
        etag, last_modified = (response.headers.get(name, "") for name in ("ETag", "Last-Modified"))
        return cls(*(value if _VALIDATOR.fullmatch(value) else None for value in (etag, last_modified)))

    @property
    def conditions(self) -> Mapping[str, str]:
        """The headers that ask for an answer only if it is another version."""
        named = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in named.items() if value}


NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class UsgsAnswer:
    """What USGS answered, and what it took."""

    features: list[RawFeature]  # none where the version asked about is still the latest
    size: int  # bytes of the body, decompressed
    sha256: str  # of the same, in hexadecimal digits
    retries: int = 0  # attempts made after the first
    validators: Validators = NO_VALIDATORS


@dataclass(frozen=True, slots=True)
class UsgsCount:
    """How many events USGS has, and how many it gives at once."""

    events: int
    most_at_once: int  # 20,000, unless USGS says that it gives fewer
    retries: int = 0  # attempts made after the first


class UsgsClient:
    """Fetches from USGS over HTTP connections that its owner opens and closes."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        *,
        timeout_s: float,  # of one attempt, from connecting to the last byte
        max_body_bytes: int = MAX_BODY_BYTES,
        clock: Clock = now_ms,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        between: Callable[[float, float], float] = random.uniform,  # picks a pause within two bounds
    ) -> None:
        self._http = http
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._max_body_bytes = max_body_bytes
        self._clock = clock
        self._sleep = sleep
        self._between = between

    async def fetch(
        self, request: UsgsRequest, *, known: Validators = NO_VALIDATORS, retries: int = MAX_RETRIES
    ) -> UsgsAnswer:
        """Ask USGS, up to four times unless `retries` says otherwise.

        Args:
            known: of a version that the caller has. While that is the latest, the answer has no features.
            retries: attempts at most after the first.

        Raises:
            UpstreamUnavailable: USGS does not answer, is overloaded, or asks to wait for longer
                than `MAX_RETRY_AFTER_S`.
            InvalidUpstreamResponse: USGS refuses the request, or answers no FeatureCollection.
        """

        async def read(response: httpx.Response) -> UsgsAnswer:
            if response.status_code == HTTPStatus.NOT_MODIFIED:
                return replace(_nothing(), validators=known)
            return replace(await self._read(response), validators=Validators.of(response))

        answer, retried = await self._asked(request, read, known=known, retries=retries)
        return replace(answer, retries=retried)

    async def count(self, query: EventQuery) -> UsgsCount:
        """Ask USGS how many events fulfil a query's conditions, up to four times.

        Raises:
            UpstreamUnavailable: As `fetch`.
            InvalidUpstreamResponse: USGS refuses the conditions, or answers no count.
        """
        counted, retried = await self._asked(EventCount(query), self._read_count)
        return replace(counted, retries=retried)

    async def _asked(
        self,
        request: UsgsRequest | EventCount,
        read: Callable[[httpx.Response], Awaitable[T]],
        *,
        known: Validators = NO_VALIDATORS,
        retries: int = MAX_RETRIES,
    ) -> tuple[T, int]:
        """What was read of the answer, and the attempts that this took after the first."""
        retrying = AsyncRetrying(
            retry=retry_if_exception(self._may_pass),
            stop=stop_after_attempt(1 + retries),
            wait=self._pause_s,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            answer: T = await retrying(self._attempt, request, read, known)
        except UpstreamFailure as failure:
            failure.retries = retrying.statistics["attempt_number"] - 1
            raise
        return answer, retrying.statistics["attempt_number"] - 1

    def _pause_s(self, state: RetryCallState) -> float:
        """Half to all of an exponential pause, so that clients do not come back together, or what USGS asks for."""
        longest = FIRST_PAUSE_S * 2 ** (state.attempt_number - 1)
        failure = state.outcome and state.outcome.exception()
        asked = failure.retry_after_s if isinstance(failure, UpstreamFailure) else None
        return max(self._between(longest / 2, longest), asked or 0)

    @staticmethod
    def _may_pass(error: BaseException) -> bool:
        return (
            isinstance(error, UpstreamFailure)
            and error.retry_after_s is not None
            and error.retry_after_s <= MAX_RETRY_AFTER_S
        )

    async def _attempt(
        self, request: UsgsRequest | EventCount, read: Callable[[httpx.Response], Awaitable[T]], known: Validators
    ) -> T:
        expected = {HTTPStatus.OK, HTTPStatus.NO_CONTENT}
        if known.conditions:
            expected.add(HTTPStatus.NOT_MODIFIED)
        try:
            async with asyncio.timeout(self._timeout_s), self._response(request, known) as response:
                if response.status_code not in expected:
                    raise _refusal(response, now=self._clock())
                return await read(response)
        except TimeoutError as error:
            raise UpstreamUnavailable("USGS did not answer in time: try again later.", retry_after_s=0) from error
        except httpx.InvalidURL as error:
            raise InvalidUpstreamResponse(_ASTRAY) from error
        except httpx.DecodingError as error:
            raise InvalidUpstreamResponse(_NO_CATALOGUE, retry_after_s=0) from error
        except httpx.HTTPError as error:
            raise UpstreamUnavailable("USGS cannot be reached: try again later.", retry_after_s=0) from error

    @asynccontextmanager
    async def _response(self, request: UsgsRequest | EventCount, known: Validators) -> AsyncIterator[httpx.Response]:
        """The head of the answer, its body not yet read, redirects within the origin of USGS followed."""
        url = self._base_url + request.path
        headers = {**_HEADERS, **known.conditions}
        # The deadline of the whole attempt takes the place of httpx's, each of which is for one step.
        outgoing = self._http.build_request("GET", url, params=request.parameters, headers=headers, timeout=None)
        asked = outgoing.url
        for _ in range(1 + MAX_REDIRECTS):
            if not may_follow(outgoing.url, asked):
                raise InvalidUpstreamResponse(_ELSEWHERE)
            try:
                response = await self._http.send(outgoing, stream=True, follow_redirects=False)
            except httpx.RemoteProtocolError as error:
                if _INVALID_LOCATION in str(error):
                    raise InvalidUpstreamResponse(_ASTRAY) from error
                raise
            try:
                if response.next_request is None:
                    yield response
                    return
                outgoing = response.next_request
            finally:
                await response.aclose()
        raise InvalidUpstreamResponse(_ASTRAY)

    async def _read(self, response: httpx.Response) -> UsgsAnswer:
        """Parse the body as it comes, and hash it to its end even where it cannot be parsed."""
        if response.status_code == HTTPStatus.NO_CONTENT:
            return _nothing()
        parser = FeatureParser()
        digest, size = hashlib.sha256(), 0
        damage: InvalidGeoJson | None = None
        async for chunk in response.aiter_bytes(CHUNK_BYTES):
            size += len(chunk)
            if size > self._max_body_bytes:
                raise InvalidUpstreamResponse("USGS answered with too much: lower `limit`, or narrow the window.")
            digest.update(chunk)
            if damage is None:
                try:
                    parser.feed(chunk)
                except InvalidGeoJson as error:
                    damage = error
            await asyncio.sleep(0)  # a chunk takes milliseconds to parse: others have their turn in between
        try:
            if damage is not None:
                raise damage
            parser.close()
        except InvalidGeoJson as error:
            raise InvalidUpstreamResponse(
                _NO_CATALOGUE, retry_after_s=0, size=size, sha256=digest.hexdigest()
            ) from error
        return UsgsAnswer(features=parser.take(), size=size, sha256=digest.hexdigest())

    async def _read_count(self, response: httpx.Response) -> UsgsCount:
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_COUNT_BYTES:
                raise InvalidUpstreamResponse(_NO_COUNT, retry_after_s=0)
        try:
            answer = orjson.loads(body)
            events, most_at_once = answer["count"], answer["maxAllowed"]
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InvalidUpstreamResponse(_NO_COUNT, retry_after_s=0) from error
        if type(events) is not int or type(most_at_once) is not int or events < 0 or most_at_once < 1:
            raise InvalidUpstreamResponse(_NO_COUNT, retry_after_s=0)
        return UsgsCount(events, min(most_at_once, MAX_EVENTS))


def _nothing() -> UsgsAnswer:
    """An answer without a body."""
    return UsgsAnswer(features=[], size=0, sha256=hashlib.sha256().hexdigest())


_ASTRAY = "USGS redirects in a circle or to nowhere: tell the operator of this service."
_ELSEWHERE = "USGS redirects to another server, which is not followed: ask the operator to check the address of USGS."
_NO_CATALOGUE = "USGS answered with something else than a catalogue: try again later."
_NO_COUNT = "USGS answered with something else than a count of events: try again later."

_ADVICE: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "narrow the window, raise `minMagnitude` or lower `limit`, since too many events may match",
    HTTPStatus.FORBIDDEN: "tell the operator of this service: USGS may have blocked it",
    HTTPStatus.NOT_FOUND: "tell the operator of this service: what it requests is no longer there",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "narrow the window, raise `minMagnitude` or lower `limit`",
}


def _refusal(response: httpx.Response, *, now: int) -> UpstreamFailure:
    """The failure that an answer without a catalogue means; `now` in epoch milliseconds."""
    status = response.status_code
    if status != HTTPStatus.TOO_MANY_REQUESTS and not response.is_server_error:
        advice = _ADVICE.get(status, "change the request, or tell the operator of this service")
        message = f"USGS refused the request with status {status}: {advice}."
        return InvalidUpstreamResponse(message, refused_with=status)
    wait_s = _seconds_to_wait(response.headers.get("Retry-After", ""), now=now)
    if wait_s > MAX_RETRY_AFTER_S:
        message = f"USGS is overloaded (status {status}): try again in {wait_s:.0f} seconds, as it asks."
    else:
        message = f"USGS is overloaded or out of order (status {status}): try again later."
    return UpstreamUnavailable(message, retry_after_s=wait_s)


def _seconds_to_wait(retry_after: str, *, now: int) -> float:
    """What the header `Retry-After` asks for, as seconds or as a date; 0 where it makes no sense."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        date = parsedate_to_datetime(retry_after)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now / 1000)
