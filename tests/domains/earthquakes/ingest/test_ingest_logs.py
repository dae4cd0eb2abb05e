"""The request log of an ingest: it is in the store before the ingest answers, however that went."""

import logging
from hashlib import sha256
from io import BytesIO
from typing import Any

import orjson
import pytest

from graph.core.errors import BadUserInput, DatabaseUnavailable, GraphError
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse, UpstreamUnavailable
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from graph.store.entity import Item
from tests.domains.earthquakes.ingest.guarded import Guard, GuardedDatabase, failing
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
from tests.domains.earthquakes.usgs.usgs_server import collection, cut_connection, html, status

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


async def test_an_ingest_logs_its_counts_and_what_it_was_sent(station: Station) -> None:
    """Given events were sent by the caller, whose request has a log of its own."""
    file, counts = file_of(FEATURES), {"fetched": 4, "upserted": 2, "revised": 0, "skipped": 1, "rejected": 1}
    station.usgs.answer_next(status(500), collection(FEATURES))

    recent = await station.ingest.recent(RecentEvents())
    from_file = await station.ingest.file(file)
    called = await station.ingest.events([given("us4"), given("us4"), given("us5", lat=91.0)])

    again = {**counts, "upserted": 0, "skipped": 3}
    assert sorted(await logs_in(station.database), key=lambda log: str(log["route"])) == [
        a_log("/ingest/events", called.request_id, fetched=3, upserted=1, skipped=1, rejected=1),
        a_log("/ingest/files", from_file.request_id, **again, **fingerprint(file.getvalue())),
        a_log("/ingest/recent", recent.request_id, **counts, retries=1, **fingerprint(BODY)),
    ]


@pytest.mark.parametrize(
    ("answer", "error", "retries", "known"),
    [
        pytest.param(cut_connection, UpstreamUnavailable, 3, {}, id="cut"),
        pytest.param(html(), InvalidUpstreamResponse, 3, fingerprint(bytes(html().body)), id="html"),
        pytest.param(status(400), InvalidUpstreamResponse, 0, {}, id="refused"),
    ],
)
async def test_a_failure_of_usgs_is_logged_with_its_retries_and_its_last_answer(
    station: Station, answer: Any, error: type[GraphError], retries: int, known: dict[str, Any]
) -> None:
    station.usgs.answer_next(*[answer] * 4)

    with pytest.raises(error):
        await station.ingest.recent(RecentEvents())

    log, request_id = await the_log(station)
    assert log == a_log("/ingest/recent", request_id, status=error.status, error=error.code, retries=retries, **known)
    assert await events_in(station.database) == {}


async def test_contradictory_and_too_many_arguments_are_logged_and_not_sent_to_usgs(station: Station) -> None:
    for asked in (
        RecentEvents(feed=UsgsFeed.ALL_DAY, limit=5),
        RecentEvents(feed=UsgsFeed.ALL_DAY, min_magnitude=2.5),
        RecentEvents(limit=0),
        RecentEvents(limit=20_001),
        RecentEvents(start_ms=NOW, end_ms=NOW - 1),
    ):
        with pytest.raises(BadUserInput):
            await station.ingest.recent(asked)
    with pytest.raises(BadUserInput):
        await station.ingest.events([{}] * 1001)

    logs = sorted(await logs_in(station.database), key=lambda log: str(log["route"]))
    routes, refused = ["/ingest/events", *["/ingest/recent"] * 5], {"status": 400, "error": "BAD_USER_INPUT"}
    assert logs == [a_log(route, log["requestId"], **refused) for route, log in zip(routes, logs, strict=True)]
    assert station.usgs.requests == []


async def test_a_truncated_file_is_logged_with_the_events_stored(station: Station) -> None:
    content = orjson.dumps({"type": "FeatureCollection", "features": FEATURES})[:-1]

    with pytest.raises(InvalidUpstreamResponse, match=r"The JSON breaks off before its end\."):
        await station.ingest.file(BytesIO(content))

    log, request_id = await the_log(station)
    known = {"fetched": 4, "upserted": 2, "revised": 0, "skipped": 1, "rejected": 1, **fingerprint(content)}
    assert log == a_log("/ingest/files", request_id, status=502, error="INVALID_UPSTREAM_RESPONSE", **known)


def full_after(transactions: int, *, all_writes: bool = False) -> Guard:
    """Takes so many transactions, and none after them; with `all_writes` no single item either."""
    left = list(range(transactions))

    def is_refused(name: str, about: Any) -> bool:
        return (all_writes and name == "put") or (name == "transact" and (not left or left.pop() < 0))

    return failing(DatabaseUnavailable("the disk is full"), when=is_refused)


async def test_a_failure_of_the_store_is_logged_with_all_that_was_known_by_then(station: Station) -> None:
    days = [a_feature(f"us{n}", time=NOW - n // 600 * 86_400_000) for n in range(1200)]
    station.usgs.answer_next(status(429, retry_after="3"), collection([a_feature("x", mag=None), *days]))

    with pytest.raises(DatabaseUnavailable):
        await station.ingest_into(GuardedDatabase(station.database, full_after(1))).recent(RecentEvents())

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


async def test_an_ingest_whose_log_cannot_be_stored_fails_with_its_own_failure_if_it_has_one(
    station: Station, caplog: pytest.LogCaptureFixture
) -> None:
    ingest = station.ingest_into(GuardedDatabase(station.database, full_after(9, all_writes=True)))
    station.usgs.answer_next(status(404))

    with pytest.raises(DatabaseUnavailable, match="The store does not answer"):
        await ingest.events([given("us1")])
    with caplog.at_level(logging.ERROR), pytest.raises(InvalidUpstreamResponse):
        await ingest.recent(RecentEvents())

    assert await logs_in(station.database) == []
    assert list(await events_in(station.database)) == ["us1"]
    assert "A request log could not be written" in [
        record.getMessage() for record in caplog.records if record.name == "graph.api.recording"
    ]


async def test_an_ingest_of_a_window_that_usgs_cut_logs_it(station: Station) -> None:
    station.usgs.hold([a_feature(f"us{number}") for number in range(4)])

    for limit in (3, 4):
        await station.ingest.recent(RecentEvents(limit=limit, start_ms=NOW - 1000))

    facts = {log["fetched"]: log.get("facts") for log in await logs_in(station.database)}
    assert facts == {3: {"truncated": True}, 4: None}
