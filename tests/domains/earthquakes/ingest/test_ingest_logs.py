"""The request log of an ingest: it is in the store before the ingest answers, however that went."""

import logging
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from typing import Any

import orjson
import pytest

from graph.core.errors import (
    BadUserInput,
    DatabaseUnavailable,
    GraphError,
    InvalidUpstreamResponse,
    UpstreamUnavailable,
)
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from graph.store.contract import Action, Database, Put
from graph.store.entity import Item
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    TODAYS_LOGS,
    TTL,
    Station,
    a_feature,
    events_in,
    file_of,
    logs_in,
)
from tests.domains.earthquakes.usgs.usgs_server import collection, cut_connection, cut_json, html, status
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import everything_in

FEATURES = [a_feature("us1"), a_feature("us2"), a_feature("us1"), a_feature("us3", mag=None)]
BODY = bytes(collection(FEATURES).body)


def a_log(route: str, request_id: str, **attributes: Any) -> Item:
    """The item of an ingest's log; what is not given is as for an ingest of nothing."""
    return {
        "pk": TODAYS_LOGS,
        "sk": f"{NOW}#{request_id}",
        "entity": "LOG",
        "logType": "INGEST",
        "requestId": request_id,
        "timestamp": NOW,
        "route": route,
        "status": 200,
        "latencyMs": 0,
        "ttl": TTL,
        **dict.fromkeys(("fetched", "upserted", "revised", "skipped", "rejected", "retries"), 0),
        **attributes,
    }


async def the_log(station: Station) -> tuple[Item, str]:
    """The one log, and its request id."""
    (log,) = await logs_in(station.database)
    return log, log["requestId"]


def given(event_id: str, **values: Any) -> dict[str, Any]:
    """An event as the graph hands it on."""
    event = {"event_id": event_id, "event_ts_ms": NOW, "mag": 4.5, "place": None, "lat": 35.6, "lon": -117.6}
    return {**event, "depth": None, "source": "USGS", **values}


def fingerprint(content: bytes) -> dict[str, Any]:
    return {"upstreamSize": len(content), "upstreamHash": sha256(content).hexdigest()}


async def test_an_ingest_from_usgs_logs_its_counts_and_what_usgs_sent(station: Station) -> None:
    station.usgs.answer_next(status(500), collection(FEATURES))

    report = await station.ingest.recent(RecentEvents())

    counts = {"fetched": 4, "upserted": 2, "revised": 0, "skipped": 1, "rejected": 1, "retries": 1}
    assert await logs_in(station.database) == [
        a_log("/ingest/recent", report.request_id, **counts, **fingerprint(BODY)),
    ]


async def test_an_ingest_of_given_events_logs_its_counts_alone(station: Station) -> None:
    report = await station.ingest.events([given("us1"), given("us1"), given("us2", lat=91.0)])

    counts = {"fetched": 3, "upserted": 1, "revised": 0, "skipped": 1, "rejected": 1}
    assert await logs_in(station.database) == [a_log("/ingest/events", report.request_id, **counts)]


async def test_an_ingest_of_a_file_logs_its_counts_and_the_file(station: Station) -> None:
    file = file_of(FEATURES)

    report = await station.ingest.file(file)

    counts = {"fetched": 4, "upserted": 2, "revised": 0, "skipped": 1, "rejected": 1}
    assert await logs_in(station.database) == [
        a_log("/ingest/files", report.request_id, **counts, **fingerprint(file.getvalue())),
    ]


@pytest.mark.parametrize(
    ("answer", "error", "known"),
    [
        pytest.param(status(503), UpstreamUnavailable, {}, id="out of order"),
        pytest.param(cut_connection, UpstreamUnavailable, {}, id="connection cut"),
        pytest.param(html(), InvalidUpstreamResponse, fingerprint(bytes(html().body)), id="HTML"),
        pytest.param(cut_json(), InvalidUpstreamResponse, fingerprint(bytes(cut_json().body)), id="truncated JSON"),
    ],
)
async def test_a_failure_of_usgs_is_logged_with_its_retries_and_its_last_answer(
    station: Station, answer: Any, error: type[GraphError], known: dict[str, Any]
) -> None:
    station.usgs.answer_next(*[answer] * 4)

    with pytest.raises(error):
        await station.ingest.recent(RecentEvents())

    log, request_id = await the_log(station)
    assert log == a_log("/ingest/recent", request_id, status=error.status, error=error.code, retries=3, **known)
    assert await events_in(station.database) == {}


async def test_a_refusal_of_usgs_is_logged_without_a_retry(station: Station) -> None:
    station.usgs.answer_next(status(400))

    with pytest.raises(InvalidUpstreamResponse):
        await station.ingest.recent(RecentEvents())

    log, request_id = await the_log(station)
    assert log == a_log("/ingest/recent", request_id, status=502, error="INVALID_UPSTREAM_RESPONSE")


@pytest.mark.parametrize(
    "asked",
    [
        RecentEvents(feed=UsgsFeed.ALL_DAY, limit=5),
        RecentEvents(feed=UsgsFeed.ALL_DAY, min_magnitude=2.5),
        RecentEvents(limit=0),
        RecentEvents(limit=20_001),
        RecentEvents(start_ms=NOW, end_ms=NOW - 1),
    ],
)
async def test_contradictory_arguments_are_logged_and_not_sent_to_usgs(station: Station, asked: RecentEvents) -> None:
    with pytest.raises(BadUserInput):
        await station.ingest.recent(asked)

    log, request_id = await the_log(station)
    assert log == a_log("/ingest/recent", request_id, status=400, error="BAD_USER_INPUT")
    assert station.usgs.requests == []


async def test_more_than_a_thousand_given_events_are_refused_and_nothing_is_stored(station: Station) -> None:
    with pytest.raises(BadUserInput, match=r"`events` takes at most 1,000 events a call\."):
        await station.ingest.events([given(f"us{n}") for n in range(1001)])

    log, request_id = await the_log(station)
    assert log == a_log("/ingest/events", request_id, status=400, error="BAD_USER_INPUT")
    assert sorted(item["entity"] for item in await everything_in(station.database)) == ["LOG", "LOG_COUNT"]
    assert (await station.ingest.events([given(f"us{n}") for n in range(1000)])).upserted == 1000


async def test_a_truncated_file_is_logged_with_the_events_stored(station: Station) -> None:
    content = orjson.dumps({"type": "FeatureCollection", "features": FEATURES})[:-1]

    with pytest.raises(InvalidUpstreamResponse, match=r"The JSON breaks off before its end\."):
        await station.ingest.file(BytesIO(content))

    log, request_id = await the_log(station)
    known = {"fetched": 4, "upserted": 2, "revised": 0, "skipped": 1, "rejected": 1, **fingerprint(content)}
    assert log == a_log("/ingest/files", request_id, status=502, error="INVALID_UPSTREAM_RESPONSE", **known)


class Failing(WatchedDatabase):
    """Takes so many transactions, and none after them; with `all_writes` no single item either."""

    def __init__(self, database: Database, transactions: int, *, all_writes: bool = False) -> None:
        super().__init__(database)
        self.left = transactions
        self._all_writes = all_writes

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        if not self.left:
            raise DatabaseUnavailable("the disk is full")
        self.left -= 1
        return await super().transact(actions)

    async def put(self, put: Put) -> bool:
        if self._all_writes:
            raise DatabaseUnavailable("the disk is full")
        return await super().put(put)


async def test_a_failure_of_the_store_is_logged_with_all_that_was_known_by_then(station: Station) -> None:
    days = [a_feature(f"us{n}", time=NOW - n // 600 * 86_400_000) for n in range(1200)]
    station.usgs.answer_next(status(429, retry_after="3"), collection([a_feature("x", mag=None), *days]))

    with pytest.raises(DatabaseUnavailable):
        await station.ingest_into(Failing(station.database, transactions=1)).recent(RecentEvents())

    log, request_id = await the_log(station)
    stored = len(await events_in(station.database))
    counts = {"fetched": stored + 1, "upserted": stored, "rejected": 1, "retries": 1}
    body = bytes(collection([a_feature("x", mag=None), *days]).body)
    failure = {"status": 503, "error": "DATABASE_UNAVAILABLE"}
    assert log == a_log("/ingest/recent", request_id, **failure, **counts, **fingerprint(body))
    assert 0 < stored < 1000


async def test_a_defect_is_logged_as_one(station: Station) -> None:
    with pytest.raises(KeyError):
        await station.ingest.events([{"event_id": "us1"}])

    log, request_id = await the_log(station)
    assert log == a_log("/ingest/events", request_id, status=500, error="INTERNAL_SERVER_ERROR")


async def test_an_ingest_whose_log_cannot_be_stored_does_not_succeed(station: Station) -> None:
    ingest = station.ingest_into(Failing(station.database, transactions=9, all_writes=True))

    with pytest.raises(DatabaseUnavailable, match="The store does not answer"):
        await ingest.events([given("us1")])

    assert await logs_in(station.database) == []
    assert list(await events_in(station.database)) == ["us1"]


async def test_a_failure_is_raised_even_if_its_log_cannot_be_stored(
    station: Station, caplog: pytest.LogCaptureFixture
) -> None:
    ingest = station.ingest_into(Failing(station.database, transactions=0, all_writes=True))
    station.usgs.answer_next(status(404))

    with caplog.at_level(logging.ERROR), pytest.raises(InvalidUpstreamResponse):
        await ingest.recent(RecentEvents())

    (record,) = [record for record in caplog.records if record.name == "graph.api.recording"]
    assert record.getMessage() == "A request log could not be written"


@pytest.mark.parametrize(("limit", "facts"), [(3, {"truncated": True}), (4, None)])
async def test_an_ingest_of_a_window_that_usgs_cut_logs_it(station: Station, limit: int, facts: Any) -> None:
    station.usgs.hold([a_feature(f"us{number}") for number in range(4)])

    await station.ingest.recent(RecentEvents(limit=limit, start_ms=NOW - 1000))

    log, _ = await the_log(station)
    assert (log["fetched"], log.get("facts")) == (limit, facts)
