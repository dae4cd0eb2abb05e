"""Fetching from USGS, against a real HTTP server that holds the real week and misbehaves on demand."""

import asyncio
import gzip
import hashlib
import socket
import threading
from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from graph import __version__
from graph.core.errors import (
    BadUserInput,
    InvalidUpstreamResponse,
    UpstreamFailure,
    UpstreamUnavailable,
)
from graph.domains.earthquakes.usgs.answers import MAX_DETAIL_BYTES, UsgsCount, UsgsEvent, Validators
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.earthquakes.usgs.geojson import UnreadableFeature
from graph.domains.earthquakes.usgs.requests import EventQuery, UsgsFeed, UsgsRequest, changes_since
from tests.domains.earthquakes.usgs.usgs_server import (
    ALL_WEEK,
    FDSN_COUNT,
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

NOW = 1_691_118_537_000  # 2023-08-04T03:08:57Z, when USGS generated the sample
MINUTE = 60.0  # long enough for any attempt that is to succeed
EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # pragma: allowlist secret


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as http:
        yield http


@pytest.fixture
def pauses() -> list[float]:
    """Seconds that the client would have slept between attempts."""
    return []


@pytest.fixture
def client(usgs: UsgsServer, http: httpx.AsyncClient, pauses: list[float]) -> UsgsClient:
    return a_client(http, usgs.url, pauses)


def a_client(http: httpx.AsyncClient, url: str, pauses: list[float], **options: Any) -> UsgsClient:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    usual: dict[str, Any] = {
        "timeout_s": MINUTE,
        "clock": lambda: NOW,
        "sleep": sleep,
        "jitter": lambda low, high: (low + high) / 2,
    }
    return UsgsClient(http, url, **(usual | options))


# What is asked


@pytest.mark.parametrize(
    ("request_", "asked"),
    [
        (EventQuery(), f"{FDSN_QUERY}?format=geojson&orderby=time&limit=100"),
        (EventQuery(limit=20_000), f"{FDSN_QUERY}?format=geojson&orderby=time&limit=20000"),
        (
            EventQuery(limit=5, start_ms=1_690_934_400_000, end_ms=1_691_020_799_999, min_magnitude=2.5),
            f"{FDSN_QUERY}?format=geojson&orderby=time&limit=5&starttime=2023-08-02T00%3A00%3A00.000Z"
            "&endtime=2023-08-02T23%3A59%3A59.999Z&minmagnitude=2.5",
        ),
        (
            EventQuery(start_ms=-1, min_magnitude=0),
            f"{FDSN_QUERY}?format=geojson&orderby=time&limit=100&starttime=1969-12-31T23%3A59%3A59.999Z&minmagnitude=0",
        ),
        (
            EventQuery(start_ms=0, updated_after=NOW, include_deleted=True),
            f"{FDSN_QUERY}?format=geojson&orderby=time&limit=100&starttime=1970-01-01T00%3A00%3A00.000Z"
            "&updatedafter=2023-08-04T03%3A08%3A57.000Z&includedeleted=true",
        ),
        (
            changes_since(NOW),
            f"{FDSN_QUERY}?format=geojson&orderby=time&limit=20000&starttime=1000-01-01T00%3A00%3A00.000Z"
            "&updatedafter=2023-08-04T03%3A08%3A57.000Z&includedeleted=true",
        ),
        (UsgsFeed.ALL_WEEK, f"{ALL_WEEK}?"),
        (UsgsFeed.M1_0_HOUR, "/earthquakes/feed/v1.0/summary/1.0_hour.geojson?"),
        (UsgsFeed.SIGNIFICANT_MONTH, "/earthquakes/feed/v1.0/summary/significant_month.geojson?"),
    ],
)
async def test_a_request_has_the_path_and_parameters_of_usgs(
    client: UsgsClient, usgs: UsgsServer, request_: UsgsRequest, asked: str
) -> None:
    await client.fetch(request_)

    (received,) = usgs.requests
    assert f"{received.path}?{received.query}" == asked
    assert received.headers["user-agent"] == f"quakegraph/{__version__}"


def test_the_feeds_are_five_levels_in_four_periods() -> None:
    levels = ("all", "1.0", "2.5", "4.5", "significant")
    periods = ("hour", "day", "week", "month")

    assert [feed.value for feed in UsgsFeed] == [f"{level}_{period}" for level in levels for period in periods]
    assert [feed.name for feed in UsgsFeed] == [
        f"{level}_{period}"
        for level in ("ALL", "M1_0", "M2_5", "M4_5", "SIGNIFICANT")
        for period in ("HOUR", "DAY", "WEEK", "MONTH")
    ]


@pytest.mark.parametrize("limit", [-1, 0, 20_001])
def test_a_limit_beyond_what_usgs_answers_at_once_is_refused(limit: int) -> None:
    with pytest.raises(BadUserInput, match=r"`limit` must be from 1 to 20,000\."):
        EventQuery(limit=limit)


def test_a_window_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(BadUserInput, match="`startTime` must not be later than `endTime`"):
        EventQuery(start_ms=NOW, end_ms=NOW - 1)

    assert EventQuery(start_ms=NOW, end_ms=NOW).parameters["starttime"] == "2023-08-04T03:08:57.000Z"


async def test_a_count_has_the_conditions_of_its_query(client: UsgsClient, usgs: UsgsServer) -> None:
    start_ms, end_ms = 1_690_934_400_000, 1_691_020_799_999
    query = EventQuery(limit=5, start_ms=start_ms, end_ms=end_ms, min_magnitude=4.5)

    assert await client.count(query) == UsgsCount(events=9, most_at_once=20_000)

    (received,) = usgs.requests
    assert f"{received.path}?{received.query}" == (
        f"{FDSN_COUNT}?format=geojson&starttime=2023-08-02T00%3A00%3A00.000Z"
        "&endtime=2023-08-02T23%3A59%3A59.999Z&minmagnitude=4.5"
    )


# What is answered


async def test_the_default_query_answers_the_hundred_latest_events(client: UsgsClient) -> None:
    answer = await client.fetch(EventQuery())

    assert answer.features == week_features()[:100]
    assert answer.retries == 0


async def test_a_window_with_a_magnitude_floor_answers_what_lies_within(client: UsgsClient) -> None:
    start_ms, end_ms = 1_690_934_400_000, 1_691_020_799_999

    answer = await client.fetch(EventQuery(limit=20_000, start_ms=start_ms, end_ms=end_ms, min_magnitude=4.5))

    assert answer.features == [
        feature
        for feature in week_features()
        if start_ms <= feature["properties"]["time"] <= end_ms and feature["properties"]["mag"] >= 4.5
    ]
    assert len(answer.features) == 9


async def test_a_feed_answers_every_feature_with_the_size_and_hash_of_its_body(client: UsgsClient) -> None:
    answer = await client.fetch(UsgsFeed.ALL_WEEK)

    assert len(answer.features) == 2124
    assert answer.size == 1_502_447
    assert answer.sha256 == hashlib.sha256(week()).hexdigest()


async def test_a_compressed_answer_is_sized_and_hashed_decompressed(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(body(gzip.compress(week()), content_encoding="gzip"))

    answer = await client.fetch(UsgsFeed.ALL_WEEK)

    assert (len(answer.features), answer.size) == (2124, len(week()))
    assert answer.sha256 == hashlib.sha256(week()).hexdigest()


async def test_numbers_stay_whole_or_become_floats_and_null_stays_null(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(body(b'{"features": [{"time": -1690934400000, "mag": 2.0, "felt": null, "gap": 1e2}]}'))

    (feature,) = (await client.fetch(EventQuery())).features

    assert repr(feature) == "{'time': -1690934400000, 'mag': 2.0, 'felt': None, 'gap': 100.0}"


async def test_an_unreadable_feature_keeps_its_place(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(collection([{"id": "us1"}, None, {"id": "us2"}]))

    answer = await client.fetch(EventQuery())

    assert answer.features == [{"id": "us1"}, UnreadableFeature(2, "not a JSON object"), {"id": "us2"}]


@pytest.mark.parametrize("answer", [collection([]), status(204)])
async def test_no_events_are_an_answer(client: UsgsClient, usgs: UsgsServer, answer: Any) -> None:
    usgs.answer_next(answer)

    assert (await client.fetch(EventQuery())).features == []
    assert len(usgs.requests) == 1


async def test_an_answer_without_a_body_has_the_hash_of_nothing(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(status(204))

    answer = await client.fetch(EventQuery())

    assert (answer.size, answer.sha256) == (0, EMPTY_HASH)


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


@pytest.mark.parametrize(
    "passing", [status(429), status(500), status(502), status(503), html(), cut_json(), cut_connection]
)
async def test_temporary_failures_are_retried(client: UsgsClient, usgs: UsgsServer, passing: Any) -> None:
    usgs.answer_next(passing)

    answer = await client.fetch(EventQuery())

    assert (len(answer.features), answer.retries) == (100, 1)
    assert [request.query for request in usgs.requests] == ["format=geojson&orderby=time&limit=100"] * 2


async def test_pauses_grow_and_are_drawn_from_their_upper_half(
    usgs: UsgsServer, http: httpx.AsyncClient, pauses: list[float]
) -> None:
    drawn: list[tuple[float, float]] = []

    def jitter(low: float, high: float) -> float:
        drawn.append((low, high))
        return high

    usgs.answer_next(status(500), status(500), status(500))
    answer = await a_client(http, usgs.url, pauses, jitter=jitter).fetch(EventQuery())

    assert answer.retries == 3
    assert drawn == [(0.25, 0.5), (0.5, 1.0), (1.0, 2.0)]
    assert pauses == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        ("7", 7.0),
        ("60", 60.0),
        ("0", 0.375),  # nothing asked for, so the pause is ours
        ("Fri, 04 Aug 2023 03:09:27 GMT", 30.0),
        ("Fri, 04 Aug 2023 03:09:27 -0000", 30.0),
        ("Fri, 04 Aug 2023 03:00:00 GMT", 0.375),
        ("soon", 0.375),
    ],
)
@pytest.mark.parametrize("code", [429, 503])
async def test_retry_after_is_obeyed(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float], code: int, retry_after: str, pause: float
) -> None:
    usgs.answer_next(status(code, retry_after=retry_after))

    await client.fetch(EventQuery())

    assert pauses == [pause]


@pytest.mark.parametrize("retry_after", ["61", "Fri, 04 Aug 2023 03:09:58 GMT"])
async def test_a_retry_after_beyond_a_minute_ends_the_fetch_at_once(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float], retry_after: str
) -> None:
    usgs.answer_next(status(429, retry_after=retry_after))

    with pytest.raises(UpstreamUnavailable) as caught:
        await client.fetch(EventQuery())

    assert str(caught.value) == "USGS is overloaded (status 429): try again in 61 seconds, as it asks."
    assert caught.value.retries == 0
    assert pauses == []
    assert len(usgs.requests) == 1


async def test_a_version_is_named_and_is_not_sent_again(client: UsgsClient, usgs: UsgsServer) -> None:
    first = await client.fetch(UsgsFeed.ALL_DAY)
    again = await client.fetch(UsgsFeed.ALL_DAY, known=first.validators)
    by_date = await client.fetch(UsgsFeed.ALL_DAY, known=Validators(last_modified=first.validators.last_modified))

    assert [len(answer.features) for answer in (first, again, by_date)] == [228, 0, 0]
    assert (again.size, again.validators) == (0, first.validators)
    named = [{name for name in request.headers if name.startswith("if-")} for request in usgs.requests]
    assert named == [set(), {"if-none-match", "if-modified-since"}, {"if-modified-since"}]


async def test_status_304_is_invalid_for_a_request_without_validators(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(status(304))

    with pytest.raises(InvalidUpstreamResponse, match="USGS refused the request with status 304"):
        await client.fetch(UsgsFeed.ALL_DAY)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (status(429), UpstreamUnavailable, "USGS is overloaded or out of order (status 429): try again later."),
        (status(500), UpstreamUnavailable, "USGS is overloaded or out of order (status 500): try again later."),
        (cut_connection, UpstreamUnavailable, "USGS cannot be reached: try again later."),
        (html(), InvalidUpstreamResponse, "USGS answered with something else than a catalogue: try again later."),
        (cut_json(), InvalidUpstreamResponse, "USGS answered with something else than a catalogue: try again later."),
        (
            body(b"no gzip", content_encoding="gzip"),
            InvalidUpstreamResponse,
            "USGS answered with something else than a catalogue: try again later.",
        ),
    ],
)
async def test_a_lasting_failure_is_given_up_after_three_retries(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float], answer: Any, error: type[UpstreamFailure], message: str
) -> None:
    usgs.answer_next(answer, answer, answer, answer)

    with pytest.raises(error) as caught:
        await client.fetch(EventQuery())

    assert str(caught.value) == message
    assert caught.value.retries == 3
    assert pauses == [0.375, 0.75, 1.5]
    assert len(usgs.requests) == 4


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"features": 3}', b'{"features": {"item": {}}}', b'{"features": []} {}', week()[:-1]],
)
async def test_a_broken_body_is_sized_and_hashed_to_its_end(
    client: UsgsClient, usgs: UsgsServer, content: bytes
) -> None:
    usgs.answer_next(*[body(content)] * 4)

    with pytest.raises(InvalidUpstreamResponse) as caught:
        await client.fetch(EventQuery())

    assert (caught.value.size, caught.value.sha256) == (len(content), hashlib.sha256(content).hexdigest())


async def test_a_refused_connection_is_retried_and_given_up(http: httpx.AsyncClient, pauses: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(UpstreamUnavailable) as caught:
        await a_client(http, f"http://127.0.0.1:{port}", pauses).fetch(EventQuery())

    assert str(caught.value) == "USGS cannot be reached: try again later."
    assert (caught.value.retries, caught.value.size, caught.value.sha256) == (3, None, None)


@pytest.mark.parametrize("answer", [stall, drip])
async def test_an_answer_that_does_not_end_is_cut_at_the_deadline(
    usgs: UsgsServer, http: httpx.AsyncClient, pauses: list[float], answer: Any
) -> None:
    usgs.answer_next(answer, answer, answer, answer)

    with pytest.raises(UpstreamUnavailable) as caught:
        await a_client(http, usgs.url, pauses, timeout_s=0.1).fetch(EventQuery())

    assert str(caught.value) == "USGS did not answer in time: try again later."
    assert caught.value.retries == 3


# What is not tried again


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            400,
            "USGS refused the request with status 400: narrow the window, raise `minMagnitude` or lower `limit`, "
            "since too many events may match.",
        ),
        (
            403,
            "USGS refused the request with status 403: tell the operator of this service: USGS may have blocked it.",
        ),
        (
            404,
            "USGS refused the request with status 404: tell the operator of this service: "
            "what it requests is no longer there.",
        ),
        (413, "USGS refused the request with status 413: narrow the window, raise `minMagnitude` or lower `limit`."),
        (499, "USGS refused the request with status 499: change the request, or tell the operator of this service."),
        (304, "USGS refused the request with status 304: change the request, or tell the operator of this service."),
    ],
)
async def test_a_refusal_is_raised_at_once_and_says_what_to_do(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float], code: int, message: str
) -> None:
    usgs.answer_next(status(code))

    with pytest.raises(InvalidUpstreamResponse) as caught:
        await client.fetch(EventQuery())

    assert str(caught.value) == message
    assert caught.value.retries == 0
    assert pauses == []
    assert len(usgs.requests) == 1


async def test_a_refusal_after_a_retry_counts_the_retry(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(status(503), status(400))

    with pytest.raises(InvalidUpstreamResponse) as caught:
        await client.fetch(EventQuery())

    assert caught.value.retries == 1


async def test_a_body_past_the_bound_is_not_read_on(
    usgs: UsgsServer, http: httpx.AsyncClient, pauses: list[float]
) -> None:
    size = len(week())
    exactly = a_client(http, usgs.url, pauses, max_body_bytes=size)
    one_less = a_client(http, usgs.url, pauses, max_body_bytes=size - 1)

    assert (await exactly.fetch(UsgsFeed.ALL_WEEK)).size == size
    with pytest.raises(InvalidUpstreamResponse) as caught:
        await one_less.fetch(UsgsFeed.ALL_WEEK)

    assert str(caught.value) == "USGS answered with too much: lower `limit`, or narrow the window."
    assert pauses == []
    assert len(usgs.requests) == 2


# Redirects


async def test_five_redirects_are_followed(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(*[redirect(ALL_WEEK)] * 5)

    answer = await client.fetch(EventQuery())

    assert (len(answer.features), answer.retries) == (2124, 0)
    assert [request.path for request in usgs.requests] == [FDSN_QUERY] + [ALL_WEEK] * 5


async def test_a_sixth_redirect_is_an_invalid_answer(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(*[redirect(ALL_WEEK)] * 6)

    with pytest.raises(InvalidUpstreamResponse) as caught:
        await client.fetch(EventQuery())

    assert str(caught.value) == "USGS redirects in a circle or to nowhere: tell the operator of this service."
    assert caught.value.retries == 0
    assert len(usgs.requests) == 6


# What a message does not say


@pytest.mark.parametrize(
    "answer", [status(400), status(503), html(), cut_connection, redirect("http://["), redirect("x:y")]
)
async def test_no_message_names_an_address(client: UsgsClient, usgs: UsgsServer, answer: Any) -> None:
    usgs.answer_next(answer, answer, answer, answer)

    with pytest.raises(UpstreamFailure) as caught:
        await client.fetch(EventQuery())

    assert "127.0.0.1" not in str(caught.value)
    assert "http" not in str(caught.value)


async def test_a_cancelled_fetch_is_not_tried_again(client: UsgsClient, usgs: UsgsServer, pauses: list[float]) -> None:
    asked = threading.Event()

    async def note_and_stall(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await stall(scope, receive, send)

    usgs.answer_next(note_and_stall)
    fetching = asyncio.ensure_future(client.fetch(EventQuery()))
    await asyncio.to_thread(asked.wait)

    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching

    assert pauses == []
    assert len(usgs.requests) == 1


@pytest.mark.parametrize("endless", [float("inf"), float("-inf"), float("nan")])
def test_a_least_magnitude_without_end_is_the_callers_mistake(endless: float) -> None:
    with pytest.raises(BadUserInput):
        EventQuery(min_magnitude=endless)


# Counts


@pytest.mark.parametrize(
    ("answer", "most_at_once"),
    [
        (b'{"count": 7, "maxAllowed": 50}', 50),
        (b'{"count": 7, "maxAllowed": 100000}', 20_000),
        (b'{"count": 7, "maxAllowed": 5, "error": "7 matching events exceeds search limit of 5."}', 5),
    ],
)
async def test_a_count_has_the_limit_of_usgs_and_never_a_higher_one(
    client: UsgsClient, usgs: UsgsServer, answer: bytes, most_at_once: int
) -> None:
    usgs.answer_next(body(answer))

    assert await client.count(EventQuery()) == UsgsCount(7, most_at_once)


@pytest.mark.parametrize(
    "broken",
    [
        status(204),
        status(500),
        status(429, retry_after="1"),
        html(),
        cut_connection,
        cut_json(),
        body(b""),
        body(b"7"),
        body(b"[7]"),
        body(b'{"count": 7}'),
        body(b'{"count": "7", "maxAllowed": 20000}'),
        body(b'{"count": true, "maxAllowed": 20000}'),
        body(b'{"count": -1, "maxAllowed": 20000}'),
        body(b'{"count": 7, "maxAllowed": 0}'),
        body(b'{"count": 7, "maxAllowed": 20000}' + b" " * 100_000),
    ],
)
async def test_an_invalid_count_is_retried(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float], broken: ASGIApp
) -> None:
    usgs.answer_next(broken, broken)

    assert await client.count(EventQuery(start_ms=0, end_ms=NOW)) == UsgsCount(2124, 20_000, retries=2)
    assert len(pauses) == 2


async def test_a_refused_count_is_not_retried(client: UsgsClient, usgs: UsgsServer) -> None:
    usgs.answer_next(status(400))

    with pytest.raises(InvalidUpstreamResponse, match="refused the request with status 400") as refused:
        await client.count(EventQuery())

    assert (refused.value.retries, refused.value.refused_with, len(usgs.requests)) == (0, 400, 1)


# One event


PRODUCTS = {"products": {"origin": [{"id": "urn:usgs-product:us:origin:us1:1", "status": "UPDATE"}]}}


async def test_an_event_is_found_by_any_id_and_has_no_products(client: UsgsClient, usgs: UsgsServer) -> None:
    detail = a_detail()
    usgs.answer_next(body(orjson.dumps(detail)))

    found = await client.look_up("nc1&format=csv")

    del detail["properties"]["products"]
    assert found == UsgsEvent(detail)
    (received,) = usgs.requests
    assert f"{received.path}?{received.query}" == f"{FDSN_QUERY}?format=geojson&eventid=nc1%26format%3Dcsv"


def a_detail() -> dict[str, Any]:
    """An event as USGS answers a query for its id."""
    feature = week_features()[0]
    return {**feature, "properties": {**feature["properties"], **PRODUCTS}}


@pytest.mark.parametrize(
    ("answer", "event"),
    [
        (status(409), UsgsEvent(deleted=True)),
        (status(404), UsgsEvent()),
        (status(204), UsgsEvent()),
    ],
)
async def test_a_deleted_event_is_not_an_unknown_one(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float], answer: ASGIApp, event: UsgsEvent
) -> None:
    usgs.answer_next(answer)

    assert await client.look_up("us1") == event
    assert pauses == []


@pytest.mark.parametrize(
    "broken",
    [
        *(status(500), status(429, retry_after="1"), html(), cut_connection, cut_json()),
        *(body(b""), body(b"7"), body(b"[7]"), body(b"{}"), body(b'{"properties": null}')),
        body(b'{"properties": {"time": 123456789012345678901234567890}}'),
        body(b'{"properties": {}}' + b" " * MAX_DETAIL_BYTES),
    ],
)
async def test_an_invalid_answer_to_a_look_up_is_retried(
    client: UsgsClient, usgs: UsgsServer, pauses: list[float], broken: ASGIApp
) -> None:
    usgs.answer_next(broken, broken, status(409))

    assert await client.look_up("us1") == UsgsEvent(deleted=True, retries=2)
    assert len(pauses) == 2


@pytest.mark.parametrize("code", [304, 400, 403])
async def test_a_refused_look_up_says_nothing_of_the_event(client: UsgsClient, usgs: UsgsServer, code: int) -> None:
    usgs.answer_next(status(code))

    with pytest.raises(InvalidUpstreamResponse) as refused:
        await client.look_up("us1")

    assert (refused.value.retries, refused.value.refused_with, len(usgs.requests)) == (0, code, 1)
