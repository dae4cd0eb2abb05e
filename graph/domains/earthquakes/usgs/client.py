"""Fetches from USGS, and retries what may succeed later.

Each attempt has a deadline for the whole answer, and a body has a maximum size, so every fetch
ends. Temporary failures (429, 5xx, the network, a broken body) are retried, with growing pauses.
Any other status would be the same again, so it is not retried. No message names a host or an address.

Source: https://earthquake.usgs.gov/fdsnws/event/1/ and
https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
"""

import asyncio
import hashlib
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, TypeVar

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
from graph.domains.earthquakes.usgs.feature_json import UnreadableFeature, read_feature
from graph.domains.earthquakes.usgs.geojson import CHUNK_BYTES, FeatureParser, InvalidGeoJson, RawFeature
from graph.domains.earthquakes.usgs.redirects import may_follow
from graph.domains.earthquakes.usgs.refusals import MAX_RETRY_AFTER_S, refusal
from graph.domains.earthquakes.usgs.requests import MAX_EVENTS, EventCount, EventLookUp, EventQuery, UsgsRequest

T = TypeVar("T")

MAX_RETRIES = 3
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 64 * 1024 * 1024  # 20,000 events of USGS take about 15 MB
MAX_COUNT_BYTES = 64 * 1024  # a count takes about 200
MAX_DETAIL_BYTES = 16 * 1024 * 1024  # a looked-up event has all its products: of a great earthquake, about 1 MB
FIRST_PAUSE_S = 0.5  # before the first retry, doubled before each further one

_SUCCESS = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT})
_OF_AN_EVENT = _SUCCESS | {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}  # unknown to USGS, or deleted

_VALIDATOR = re.compile(r"[\x20-\x7e]{1,200}")  # a longer one, or one that is not ASCII, is dropped

_INVALID_LOCATION = "Invalid URL in location header"  # httpx's message, which has no error class of its own

_HEADERS = {"User-Agent": f"quakegraph/{__version__}", "Accept": "application/geo+json, application/json"}


@dataclass(frozen=True, slots=True)
class Validators:
    """What identifies a version of an answer. A request that carries them is answered only with another version.

    Source: RFC 9110 sections 8.8 and 13.1
    """

    etag: str | None = None
    last_modified: str | None = None

    @classmethod
    def of(cls, response: httpx.Response) -> "Validators":
        """The validators of an answer, without those that cannot be sent back."""
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
    """The features of an answer, with the size and hash of its body."""

    features: list[RawFeature]  # empty if the version that the caller has is still the latest
    size: int  # bytes of the body, decompressed
    sha256: str  # of the decompressed body, in hexadecimal digits
    retries: int = 0  # attempts made after the first
    validators: Validators = NO_VALIDATORS


@dataclass(frozen=True, slots=True)
class UsgsCount:
    """How many events match a query, and how many of them USGS sends in one answer."""

    events: int
    most_at_once: int  # 20,000, unless USGS names a lower limit
    retries: int = 0  # attempts made after the first


@dataclass(frozen=True, slots=True)
class UsgsEvent:
    """What USGS says of an id: it names an event, names one that was deleted, or is unknown."""

    feature: Mapping[str, Any] | None = None  # without its products; None if the event is deleted or unknown
    deleted: bool = False
    retries: int = 0  # attempts made after the first


class UsgsClient:
    """Fetches from USGS. The caller opens and closes the HTTP client."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        *,
        timeout_s: float,  # of one attempt, from connecting to the last byte
        max_body_bytes: int = MAX_BODY_BYTES,
        clock: Clock = now_ms,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[float, float], float] = random.uniform,  # picks a pause between two bounds
    ) -> None:
        self._http = http
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._max_body_bytes = max_body_bytes
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    async def fetch(
        self, request: UsgsRequest, *, known: Validators = NO_VALIDATORS, retries: int = MAX_RETRIES
    ) -> UsgsAnswer:
        """Fetch the events of a request, in four attempts at most unless `retries` says otherwise.

        Args:
            known: validators of the version that the caller has. While it is the latest, no features are sent.
            retries: maximum number of attempts after the first.

        Raises:
            UpstreamUnavailable: USGS does not answer, is overloaded, or asks for a wait longer
                than `MAX_RETRY_AFTER_S`.
            InvalidUpstreamResponse: USGS refuses the request, or its answer is not a FeatureCollection.
        """

        async def read(response: httpx.Response) -> UsgsAnswer:
            if response.status_code == HTTPStatus.NOT_MODIFIED:
                return replace(_empty_answer(), validators=known)
            return replace(await self._read_features(response), validators=Validators.of(response))

        answer, retried = await self._send_with_retries(request, read, known=known, retries=retries)
        return replace(answer, retries=retried)

    async def count(self, query: EventQuery) -> UsgsCount:
        """Count the events that match a query's conditions, in four attempts at most.

        Raises:
            UpstreamUnavailable: As `fetch`.
            InvalidUpstreamResponse: USGS refuses the conditions, or its answer is not a count.
        """
        count, retried = await self._send_with_retries(EventCount(query), self._read_count)
        return replace(count, retries=retried)

    async def look_up(self, event_id: str) -> UsgsEvent:
        """Look up one event by any of its ids, in four attempts at most.

        Raises:
            UpstreamUnavailable: As `fetch`.
            InvalidUpstreamResponse: USGS refuses the request, or its answer is not a feature.
        """
        event, retried = await self._send_with_retries(EventLookUp(event_id), self._read_event, expected=_OF_AN_EVENT)
        return replace(event, retries=retried)

    async def _send_with_retries(
        self,
        request: UsgsRequest | EventCount | EventLookUp,
        read: Callable[[httpx.Response], Awaitable[T]],
        *,
        known: Validators = NO_VALIDATORS,
        retries: int = MAX_RETRIES,
        expected: Collection[int] = _SUCCESS,
    ) -> tuple[T, int]:
        """Returns what `read` returned, and the number of attempts after the first."""
        retrying = AsyncRetrying(
            retry=retry_if_exception(self._is_temporary),
            stop=stop_after_attempt(1 + retries),
            wait=self._pause_s,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            answer: T = await retrying(self._attempt, request, read, known, expected)
        except UpstreamFailure as failure:
            failure.retries = retrying.statistics["attempt_number"] - 1
            raise
        return answer, retrying.statistics["attempt_number"] - 1

    def _pause_s(self, state: RetryCallState) -> float:
        """An exponential pause with jitter, so that clients do not all retry at once; or `Retry-After`, if longer."""
        longest = FIRST_PAUSE_S * 2 ** (state.attempt_number - 1)
        failure = state.outcome and state.outcome.exception()
        retry_after_s = failure.retry_after_s if isinstance(failure, UpstreamFailure) else None
        return max(self._jitter(longest / 2, longest), retry_after_s or 0)

    @staticmethod
    def _is_temporary(error: BaseException) -> bool:
        """Whether a retry may succeed soon."""
        return (
            isinstance(error, UpstreamFailure)
            and error.retry_after_s is not None
            and error.retry_after_s <= MAX_RETRY_AFTER_S
        )

    async def _attempt(
        self,
        request: UsgsRequest | EventCount | EventLookUp,
        read: Callable[[httpx.Response], Awaitable[T]],
        known: Validators,
        expected: Collection[int],
    ) -> T:
        if known.conditions:
            expected = {*expected, HTTPStatus.NOT_MODIFIED}
        try:
            async with asyncio.timeout(self._timeout_s), self._response(request, known) as response:
                if response.status_code not in expected:
                    raise refusal(response, now=self._clock())
                return await read(response)
        except TimeoutError as error:
            raise UpstreamUnavailable("USGS did not answer in time: try again later.", retry_after_s=0) from error
        except httpx.InvalidURL as error:
            raise InvalidUpstreamResponse(_INVALID_REDIRECT) from error
        except httpx.DecodingError as error:
            raise InvalidUpstreamResponse(_NOT_A_CATALOGUE, retry_after_s=0) from error
        except httpx.HTTPError as error:
            raise UpstreamUnavailable("USGS cannot be reached: try again later.", retry_after_s=0) from error

    @asynccontextmanager
    async def _response(
        self, request: UsgsRequest | EventCount | EventLookUp, known: Validators
    ) -> AsyncIterator[httpx.Response]:
        """Send the request, follow redirects within the origin of USGS, and yield the answer with its body unread."""
        url = self._base_url + request.path
        headers = {**_HEADERS, **known.conditions}
        # httpx's timeouts are for single steps. The deadline of the whole attempt replaces them.
        outgoing = self._http.build_request("GET", url, params=request.parameters, headers=headers, timeout=None)
        original = outgoing.url
        for _ in range(1 + MAX_REDIRECTS):
            if not may_follow(outgoing.url, original):
                raise InvalidUpstreamResponse(_OTHER_SERVER)
            try:
                response = await self._http.send(outgoing, stream=True, follow_redirects=False)
            except httpx.RemoteProtocolError as error:
                if _INVALID_LOCATION in str(error):
                    raise InvalidUpstreamResponse(_INVALID_REDIRECT) from error
                raise
            try:
                if response.next_request is None:
                    yield response
                    return
                outgoing = response.next_request
            finally:
                await response.aclose()
        raise InvalidUpstreamResponse(_INVALID_REDIRECT)

    async def _read_features(self, response: httpx.Response) -> UsgsAnswer:
        """Parse the body as it arrives. The whole body is hashed, even if it cannot be parsed."""
        if response.status_code == HTTPStatus.NO_CONTENT:
            return _empty_answer()
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
            await asyncio.sleep(0)  # gives way to other work: a chunk takes milliseconds to parse
        try:
            if damage is not None:
                raise damage
            parser.close()
        except InvalidGeoJson as error:
            raise InvalidUpstreamResponse(
                _NOT_A_CATALOGUE, retry_after_s=0, size=size, sha256=digest.hexdigest()
            ) from error
        return UsgsAnswer(features=parser.take(), size=size, sha256=digest.hexdigest())

    async def _read_count(self, response: httpx.Response) -> UsgsCount:
        try:
            answer = orjson.loads(await _read_body(response, MAX_COUNT_BYTES, _NOT_A_COUNT))
            events, most_at_once = answer["count"], answer["maxAllowed"]
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InvalidUpstreamResponse(_NOT_A_COUNT, retry_after_s=0) from error
        if type(events) is not int or type(most_at_once) is not int or events < 0 or most_at_once < 1:
            raise InvalidUpstreamResponse(_NOT_A_COUNT, retry_after_s=0)
        return UsgsCount(events, min(most_at_once, MAX_EVENTS))

    async def _read_event(self, response: httpx.Response) -> UsgsEvent:
        """Read the summary of an event; its products are dropped."""
        if response.status_code != HTTPStatus.OK:
            return UsgsEvent(deleted=response.status_code == HTTPStatus.CONFLICT)
        feature = read_feature(await _read_body(response, MAX_DETAIL_BYTES, _NOT_AN_EVENT), 1)
        if isinstance(feature, UnreadableFeature) or type(properties := feature.get("properties")) is not dict:
            raise InvalidUpstreamResponse(_NOT_AN_EVENT, retry_after_s=0)
        properties.pop("products", None)
        return UsgsEvent(feature)


async def _read_body(response: httpx.Response, longest: int, refusal: str) -> bytes:
    """The whole body. A longer one is an error with this message, and may be shorter at the next attempt."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > longest:
            raise InvalidUpstreamResponse(refusal, retry_after_s=0)
    return bytes(body)


def _empty_answer() -> UsgsAnswer:
    """An answer without a body."""
    return UsgsAnswer(features=[], size=0, sha256=hashlib.sha256().hexdigest())


_INVALID_REDIRECT = "USGS redirects in a circle or to nowhere: tell the operator of this service."
_OTHER_SERVER = (
    "USGS redirects to another server, which is not followed: ask the operator to check the address of USGS."
)
_NOT_A_CATALOGUE = "USGS answered with something else than a catalogue: try again later."
_NOT_AN_EVENT = "USGS answered with something else than an event: try again later."
_NOT_A_COUNT = "USGS answered with something else than a count of events: try again later."
