"""Fetching from USGS, against a real HTTP server that holds the real week and misbehaves on demand."""

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

import httpx
import orjson
import pytest
from starlette.types import ASGIApp

from graph.core.errors import BadUserInput
from graph.core.geojson.reading import MAX_DETAIL_BYTES
from graph.domains.earthquakes.usgs.answers import UsgsCount, UsgsEvent
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse, UpstreamFailure, UpstreamUnavailable
from graph.domains.earthquakes.usgs.requests import EventQuery, UsgsFeed
from tests.domains.earthquakes.ingest.ingests import NOW, plain_http
from tests.domains.earthquakes.usgs.usgs_server import (
    ALL_WEEK,
    FDSN_QUERY,
    UsgsServer,
    body,
    collection,
    cut_connection,
    cut_json,
    drip,
    html,
    redirect,
    stall,
    status,
    week,
    week_features,
)

MINUTE = 60.0  # long enough for any attempt that is to succeed
EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # pragma: allowlist secret


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with plain_http() as http:
        yield http


@pytest.fixture
def pauses() -> list[float]:
    """Seconds that the client would have slept between attempts."""
    return []


@pytest.fixture
def client(usgs: UsgsServer, http: httpx.AsyncClient, pauses: list[float]) -> UsgsClient:
    return a_client(http, usgs.url, pauses)


E = TypeVar("E", bound=UpstreamFailure)


async def failure(work: Awaitable[object], kind: type[E] = InvalidUpstreamResponse) -> E:  # type: ignore[assignment]
    """How some work fails."""
    with pytest.raises(kind) as caught:
        await work
    return caught.value


def a_client(http: httpx.AsyncClient, url: str, pauses: list[float], **options: Any) -> UsgsClient:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    usual: dict[str, Any] = {
        "timeout_s": MINUTE,
        "clock": lambda: NOW,
        "sleep": sleep,
        "jitter": lambda low, high: low + high / 1000,  # which tells both
    }
    return UsgsClient(http, url, **(usual | options))


# What is asked


def test_a_query_that_contradicts_itself_or_usgs_is_refused() -> None:
    for arguments, message in (
        *(({"limit": limit}, r"`limit` must be from 1 to 20,000\.") for limit in (-1, 0, 20_001)),
        *(({"min_magnitude": float(endless)}, "`minMagnitude`") for endless in ("inf", "-inf", "nan")),
        ({"start_ms": NOW, "end_ms": NOW - 1}, "`startTime` must not be later than `endTime`"),
    ):
        with pytest.raises(BadUserInput, match=message):
            EventQuery(**arguments)  # type: ignore[arg-type]

    assert EventQuery(start_ms=NOW, end_ms=NOW).parameters["starttime"] == "2023-08-04T03:08:57.000Z"


# What is answered


async def test_an_answer_has_every_feature_and_the_size_and_hash_of_its_body_decompressed(
    client: UsgsClient, usgs: UsgsServer
) -> None:
    usgs.answer_next(usgs.catalogue, body(gzip.compress(week()), content_encoding="gzip"))

    for _ in range(2):
        answer = await client.fetch(UsgsFeed.ALL_WEEK)

        assert sorted(str(feature) for feature in answer.features) == sorted(map(str, week_features()))
        assert (answer.size, answer.retries) == (1_502_447, 0)
        assert answer.sha256 == hashlib.sha256(week()).hexdigest()


async def test_no_events_are_an_answer(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(collection([]), status(204))

    assert (await client.fetch(EventQuery())).features == []
    without_a_body = await client.fetch(EventQuery())
    assert (without_a_body.features, without_a_body.size, without_a_body.sha256) == ([], 0, EMPTY_HASH)
    assert len(usgs.requests) == 2


async def test_other_tasks_run_while_a_body_is_parsed(client: UsgsClient) -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.ensure_future(take_turns())
    await client.fetch(UsgsFeed.ALL_WEEK)
    other.cancel()

    assert turns >= len(week()) // (64 * 1024)


# What is tried again


async def test_temporary_failures_are_retried(client: UsgsClient, usgs: UsgsServer) -> None:
    for passing in (status(429), status(500), status(502), status(503), html(), cut_json(), cut_connection):
        usgs.requests.clear()
        usgs.answer_next(passing)

        answer = await client.fetch(EventQuery())

        assert (len(answer.features), answer.retries) == (100, 1)
        assert [request.query for request in usgs.requests] == ["format=geojson&orderby=time&limit=100"] * 2


async def test_retry_after_is_obeyed(client: UsgsClient, usgs: UsgsServer, pauses: list[float]) -> None:
    for code, retry_after, pause in (
        (429, "7", 7.0),
        (503, "60", 60.0),
        (429, "0", 0.2505),  # nothing asked for, so the pause is ours
        (503, "Fri, 04 Aug 2023 03:09:27 GMT", 30.0),
        (429, "Fri, 04 Aug 2023 03:09:27 -0000", 30.0),
        (503, "Fri, 04 Aug 2023 03:00:00 GMT", 0.2505),
        (429, "soon", 0.2505),
    ):
        pauses.clear()
        usgs.answer_next(status(code, retry_after=retry_after))

        await client.fetch(EventQuery())

        assert pauses == [pause]


async def test_a_retry_after_beyond_a_minute_ends_the_fetch_at_once(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float]
) -> None:
    for retry_after in ("61", "Fri, 04 Aug 2023 03:09:58 GMT"):
        usgs.requests.clear()
        usgs.answer_next(status(429, retry_after=retry_after))

        failed = await failure(client.fetch(EventQuery()), UpstreamUnavailable)

        assert str(failed) == "USGS is overloaded (status 429): try again in 61 seconds, as it asks."
        assert (failed.retries, pauses, len(usgs.requests)) == (0, [], 1)


SOMETHING_ELSE = "USGS answered with something else than a catalogue: try again later."


async def test_a_lasting_failure_is_given_up_after_three_retries(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float]
) -> None:
    failures: list[tuple[ASGIApp, type[UpstreamFailure], str]] = [
        (body(b"no gzip", content_encoding="gzip"), InvalidUpstreamResponse, SOMETHING_ELSE),
        *(
            (status(code), UpstreamUnavailable, f"USGS is overloaded or out of order (status {code}): try again later.")
            for code in (429, 500)
        ),
        (cut_connection, UpstreamUnavailable, "USGS cannot be reached: try again later."),
        (html(), InvalidUpstreamResponse, SOMETHING_ELSE),
        (cut_json(), InvalidUpstreamResponse, SOMETHING_ELSE),
    ]
    for answer, error, message in failures:
        pauses.clear()
        usgs.requests.clear()
        usgs.answer_next(answer, answer, answer, answer)

        failed = await failure(client.fetch(EventQuery()), error)

        assert (str(failed), failed.retries) == (message, 3)
        assert pauses == [0.2505, 0.501, 1.002]
        assert len(usgs.requests) == 4


async def test_a_broken_body_is_sized_and_hashed_to_its_end(client: UsgsClient, usgs: UsgsServer) -> None:
    for content in (b"", b"[]", b'{"features": {"item": {}}}', b'{"features": []} {}', week()[:-1]):
        usgs.answer_next(*[body(content)] * 4)

        failed: InvalidUpstreamResponse = await failure(client.fetch(EventQuery()))

        assert (failed.size, failed.sha256) == (len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("answer", [stall, drip])
async def test_an_answer_that_does_not_end_is_cut_at_the_deadline(
    usgs: UsgsServer, http: httpx.AsyncClient, pauses: list[float], answer: Any
) -> None:
    usgs.answer_next(answer, answer, answer, answer)

    failed = await failure(a_client(http, usgs.url, pauses, timeout_s=0.1).fetch(EventQuery()), UpstreamUnavailable)

    assert str(failed) == "USGS did not answer in time: try again later."
    assert failed.retries == 3


# What is not tried again


TELL = "tell the operator of this service:"
REFUSALS = {
    400: "narrow the window, raise `minMagnitude` or lower `limit`, since too many events may match.",
    403: f"{TELL} USGS may have blocked it.",
    404: f"{TELL} what it requests is no longer there.",
    413: "narrow the window, raise `minMagnitude` or lower `limit`.",
    499: "change the request, or tell the operator of this service.",
    304: "change the request, or tell the operator of this service.",
}


async def test_a_refusal_is_raised_at_once_and_says_what_to_do(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float]
) -> None:
    for code, message in REFUSALS.items():
        usgs.requests.clear()
        usgs.answer_next(status(code))

        failed: InvalidUpstreamResponse = await failure(client.fetch(EventQuery()))

        assert str(failed) == f"USGS refused the request with status {code}: {message}"
        assert (failed.retries, pauses, len(usgs.requests)) == (0, [], 1)

    usgs.answer_next(status(503), status(400))
    failed = await failure(client.fetch(EventQuery()))
    assert failed.retries == 1


async def test_a_body_past_the_bound_is_not_read_on(
    usgs: UsgsServer, http: httpx.AsyncClient, pauses: list[float]
) -> None:
    size = len(week())
    exactly = a_client(http, usgs.url, pauses, max_body_bytes=size)
    one_less = a_client(http, usgs.url, pauses, max_body_bytes=size - 1)

    assert (await exactly.fetch(UsgsFeed.ALL_WEEK)).size == size
    failed: InvalidUpstreamResponse = await failure(one_less.fetch(UsgsFeed.ALL_WEEK))

    assert str(failed) == "USGS answered with too much: lower `limit`, or narrow the window."
    assert pauses == []
    assert len(usgs.requests) == 2


async def test_five_redirects_are_followed_and_a_sixth_is_an_invalid_answer(
    client: UsgsClient, usgs: UsgsServer
) -> None:
    usgs.answer_next(*[redirect(ALL_WEEK)] * 5, usgs.catalogue, *[redirect(ALL_WEEK)] * 6)

    answer = await client.fetch(EventQuery())
    assert (len(answer.features), answer.retries) == (2124, 0)
    assert [request.path for request in usgs.requests] == [FDSN_QUERY] + [ALL_WEEK] * 5

    failed: InvalidUpstreamResponse = await failure(client.fetch(EventQuery()))
    assert str(failed) == "USGS redirects in a circle or to nowhere: tell the operator of this service."
    assert (failed.retries, len(usgs.requests)) == (0, 6 + 6)


# Counts, and one event


async def test_a_count_has_the_limit_of_usgs_and_never_a_higher_one(client: UsgsClient, usgs: UsgsServer) -> None:
    for answer, most_at_once in (
        (b'{"count": 7, "maxAllowed": 50}', 50),
        (b'{"count": 7.0, "maxAllowed": 50.0}', 50),
        (b'{"count": 7, "maxAllowed": 100000}', 20_000),
        (b'{"count": 7, "maxAllowed": 5, "error": "7 matching events exceeds search limit of 5."}', 5),
    ):
        usgs.answer_next(body(answer))

        assert await client.count(EventQuery()) == UsgsCount(7, most_at_once)


BROKEN: list[ASGIApp] = [
    *(status(500), status(429, retry_after="1"), html(), cut_connection, cut_json()),
    *(body(b""), body(b"7"), body(b"[7]")),
]
BROKEN_COUNTS: list[ASGIApp] = [
    status(204),
    body(b'{"count": 7}'),
    body(b'{"count": "7", "maxAllowed": 20000}'),
    body(b'{"count": true, "maxAllowed": 20000}'),
    body(b'{"count": -1, "maxAllowed": 20000}'),
    body(b'{"count": 7, "maxAllowed": 0}'),
    body(b'{"count": 7, "maxAllowed": 20000}' + b" " * 100_000),
]
BROKEN_EVENTS: list[ASGIApp] = [
    *(body(b"{}"), body(b'{"properties": null}')),
    body(b'{"properties": {"time": 123456789012345678901234567890}}'),
    body(b'{"properties": {}}' + b" " * MAX_DETAIL_BYTES),
]


async def test_an_invalid_count_or_event_is_asked_for_again(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float]
) -> None:
    for broken in [*BROKEN, *BROKEN_COUNTS]:
        usgs.answer_next(broken, broken)
        assert await client.count(EventQuery(start_ms=0, end_ms=NOW)) == UsgsCount(2124, 20_000, retries=2)
    for broken in [*BROKEN, *BROKEN_EVENTS]:
        usgs.answer_next(broken, broken, status(409))
        assert await client.look_up("us1") == UsgsEvent(deleted=True, retries=2)

    assert len(pauses) == 2 * (2 * len(BROKEN) + len(BROKEN_COUNTS) + len(BROKEN_EVENTS))


async def test_a_refused_count_or_look_up_says_nothing_of_the_events(client: UsgsClient, usgs: UsgsServer) -> None:
    for code in (304, 400, 403):
        usgs.answer_next(status(code), status(code))
        for asking in (client.count(EventQuery()), client.look_up("us1")):
            with pytest.raises(InvalidUpstreamResponse, match=f"refused the request with status {code}") as refused:
                await asking
            assert (refused.value.retries, refused.value.refused_with) == (0, code)

    assert len(usgs.requests) == 6


PRODUCTS = {"products": {"origin": [{"id": "urn:usgs-product:us:origin:us1:1", "status": "UPDATE"}]}}


async def test_an_event_is_found_by_any_id_and_has_no_products(client: UsgsClient, usgs: UsgsServer) -> None:
    feature = week_features()[0]
    detail = {**feature, "properties": {**feature["properties"], **PRODUCTS}}
    usgs.answer_next(body(orjson.dumps(detail)))

    assert await client.look_up("nc1&format=csv") == UsgsEvent(feature)

    (received,) = usgs.requests
    assert f"{received.path}?{received.query}" == f"{FDSN_QUERY}?format=geojson&eventid=nc1%26format%3Dcsv"
