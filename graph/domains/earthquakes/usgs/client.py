"""Fetches from USGS, and retries what may succeed later.

Each attempt has a deadline for the whole answer, and a body has a maximum size, so every fetch
ends. Temporary failures (429, 5xx, the network, a broken body) are retried, with growing pauses.
Any other status would be the same again, so it is not retried. No message names a host or an address.

Source: https://earthquake.usgs.gov/fdsnws/event/1/ and
https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TypeVar

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from graph import __version__
from graph.core.clock import Clock, now_ms
from graph.core.retry_after import seconds_to_wait
from graph.domains.earthquakes.usgs.answers import (
    NO_BODY,
    NO_VALIDATORS,
    NOT_A_CATALOGUE,
    UsgsAnswer,
    UsgsCount,
    UsgsEvent,
    Validators,
    read_answer,
    read_count,
    read_event,
)
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse, UpstreamFailure, UpstreamUnavailable
from graph.domains.earthquakes.usgs.requests import (
    EventQuery,
    UsgsQuestion,
    UsgsRequest,
    count_of,
    look_up_of,
    public_url,
)

T = TypeVar("T")

MAX_RETRIES = 3
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 64 * 1024 * 1024  # 20,000 events of USGS take about 15 MB
FIRST_PAUSE_S = 0.5  # before the first retry, doubled before each further one
MAX_RETRY_AFTER_S = 60.0  # the longest wait for one retry; if USGS asks for a longer one, the fetch fails

_SUCCESS = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT})
_OF_AN_EVENT = _SUCCESS | {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}  # unknown to USGS, or deleted

_INVALID_LOCATION = "Invalid URL in location header"  # httpx's message, which has no error class of its own

_HEADERS = {"User-Agent": f"quakegraph/{__version__}", "Accept": "application/geo+json, application/json"}


@dataclass(slots=True, eq=False)
class UsgsClient:
    """Fetches from USGS. The caller opens and closes the HTTP client."""

    http: httpx.AsyncClient
    base_url: str
    timeout_s: float  # of one attempt, from connecting to the last byte
    max_body_bytes: int = MAX_BODY_BYTES
    copies: bool = False  # whether an answer has its body, too
    clock: Clock = now_ms
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[float, float], float] = random.uniform  # picks a pause between two bounds

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
                return replace(NO_BODY, validators=known)
            return await read_answer(response, longest=self.max_body_bytes, copies=self.copies)

        answer, retried = await self._send_with_retries(request, read, known=known, retries=retries)
        return replace(answer, retries=retried, url=public_url(request))

    async def count(self, query: EventQuery) -> UsgsCount:
        """Count the events that match a query's conditions, in four attempts at most.

        Raises:
            UpstreamUnavailable: As `fetch`.
            InvalidUpstreamResponse: USGS refuses the conditions, or its answer is not a count.
        """
        count, retried = await self._send_with_retries(count_of(query), read_count)
        return replace(count, retries=retried)

    async def look_up(self, event_id: str) -> UsgsEvent:
        """Look up one event by any of its ids, in four attempts at most.

        Raises:
            UpstreamUnavailable: As `fetch`.
            InvalidUpstreamResponse: USGS refuses the request, or its answer is not a feature.
        """
        event, retried = await self._send_with_retries(look_up_of(event_id), read_event, expected=_OF_AN_EVENT)
        return replace(event, retries=retried)

    async def _send_with_retries(
        self,
        request: UsgsRequest | UsgsQuestion,
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
            sleep=self.sleep,
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
        return max(self.jitter(longest / 2, longest), retry_after_s or 0)

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
        request: UsgsRequest | UsgsQuestion,
        read: Callable[[httpx.Response], Awaitable[T]],
        known: Validators,
        expected: Collection[int],
    ) -> T:
        if known.conditions:
            expected = {*expected, HTTPStatus.NOT_MODIFIED}
        try:
            async with asyncio.timeout(self.timeout_s), self._response(request, known) as response:
                if response.status_code not in expected:
                    raise _refusal(response, now=self.clock())
                return await read(response)
        except TimeoutError as error:
            raise UpstreamUnavailable("USGS did not answer in time: try again later.", retry_after_s=0) from error
        except httpx.InvalidURL as error:
            raise InvalidUpstreamResponse(_INVALID_REDIRECT) from error
        except httpx.DecodingError as error:
            raise InvalidUpstreamResponse(NOT_A_CATALOGUE, retry_after_s=0) from error
        except httpx.HTTPError as error:
            raise UpstreamUnavailable("USGS cannot be reached: try again later.", retry_after_s=0) from error

    @asynccontextmanager
    async def _response(self, request: UsgsRequest | UsgsQuestion, known: Validators) -> AsyncIterator[httpx.Response]:
        """Send the request, follow redirects within the origin of USGS, and yield the answer with its body unread."""
        url = self.base_url.rstrip("/") + request.path
        headers = {**_HEADERS, **known.conditions}
        # httpx's timeouts are for single steps. The deadline of the whole attempt replaces them.
        outgoing = self.http.build_request("GET", url, params=request.parameters, headers=headers, timeout=None)
        original = outgoing.url
        for _ in range(1 + MAX_REDIRECTS):
            if not may_follow(outgoing.url, original):
                raise InvalidUpstreamResponse(_OTHER_SERVER)
            try:
                response = await self.http.send(outgoing, stream=True, follow_redirects=False)
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


_INVALID_REDIRECT = "USGS redirects in a circle or to nowhere: tell the operator of this service."
_OTHER_SERVER = (
    "USGS redirects to another server, which is not followed: ask the operator to check the address of USGS."
)


_DEFAULT_PORTS = {"http": 80, "https": 443}


def may_follow(target: httpx.URL, original: httpx.URL) -> bool:
    """Whether `target` has the origin of the original URL, or that origin upgraded from HTTP to HTTPS.

    A redirect to any other server could make this process send requests inside its own network.
    """
    scheme, host, port = _origin(original)
    if _origin(target) == (scheme, host, port):
        return True
    return (scheme, port) == ("http", 80) and _origin(target) == ("https", host, 443)


def _origin(url: httpx.URL) -> tuple[str, bytes, int | None]:
    """Scheme, host and port, as RFC 6454 compares them."""
    return url.scheme, url.raw_host, url.port or _DEFAULT_PORTS.get(url.scheme)


_ADVICE: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "narrow the window, raise `minMagnitude` or lower `limit`, since too many events may match",
    HTTPStatus.FORBIDDEN: "tell the operator of this service: USGS may have blocked it",
    HTTPStatus.NOT_FOUND: "tell the operator of this service: what it requests is no longer there",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "narrow the window, raise `minMagnitude` or lower `limit`",
}


def _refusal(response: httpx.Response, *, now: int) -> UpstreamFailure:
    """The error for an answer with an unexpected status; `now` in epoch milliseconds."""
    status = response.status_code
    if status != HTTPStatus.TOO_MANY_REQUESTS and not response.is_server_error:
        advice = _ADVICE.get(status, "change the request, or tell the operator of this service")
        message = f"USGS refused the request with status {status}: {advice}."
        return InvalidUpstreamResponse(message, refused_with=status)
    wait_s = seconds_to_wait(response.headers.get("Retry-After", ""), now=now) or 0.0
    if wait_s > MAX_RETRY_AFTER_S:
        message = f"USGS is overloaded (status {status}): try again in {wait_s:.0f} seconds, as it asks."
    else:
        message = f"USGS is overloaded or out of order (status {status}): try again later."
    return UpstreamUnavailable(message, retry_after_s=wait_s)
