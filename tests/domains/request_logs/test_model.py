"""The record of a request log, and its item as documented."""

from typing import Any

import pytest

from graph.api.recording import RecordedWork
from graph.domains.request_logs.buffer import log_of
from graph.domains.request_logs.entities import LOG, key_of
from graph.domains.request_logs.model import LogType, RequestLog
from tests.domains.earthquakes.builders import at
from tests.domains.entities import documented
from tests.domains.request_logs.builders import a_log, log_with

STARTED = at("2023-08-03T23:59:59.999")
REQUEST_ID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # pragma: allowlist secret

NAMES = {
    "log_type": "logType",
    "latency_ms": "latencyMs",
    "upstream_size": "upstreamSize",
    "upstream_hash": "upstreamHash",
    "page_size": "pageSize",
    "result_count": "resultCount",
    "has_next_token": "hasNextToken",
    "buckets_scanned": "bucketsScanned",
}
"""Attributes that the document names otherwise."""

COUNTS: dict[str, Any] = {"fetched": 4, "upserted": 2, "skipped": 1, "rejected": 1, "retries": 3}
FAILED: dict[str, Any] = {"route": "/ingest/recent", "status": 502, "error": "INVALID_UPSTREAM_RESPONSE"}
INGEST: dict[str, Any] = {
    "log_type": LogType.INGEST,
    "latency_ms": 1200,
    "upstream_size": 5_000_000_000,
    "upstream_hash": HASH,
    **COUNTS,
    **FAILED,
}
QUERY: dict[str, Any] = {
    "log_type": LogType.QUERY,
    "route": "/earthquakes",
    "status": 200,
    "latency_ms": 0,
    "starttime": -1,
    "endtime": STARTED,
    "minmagnitude": 4.5,
    "page_size": 50,
    "result_count": 0,
    "has_next_token": False,
    "buckets_scanned": 7,
}


NO_MORE: dict[str, Any] = {"log_type": LogType.QUERY, "route": "/node", "status": 200, "latency_ms": 3}


@pytest.mark.parametrize("values", [INGEST, QUERY, NO_MORE], ids=["ingest", "query", "no more"])
def test_an_item_has_the_documented_attributes_and_is_read_as_the_log_that_was_written(values: dict[str, Any]) -> None:
    log = log_with(request_id=REQUEST_ID, timestamp=STARTED, **values)

    assert documented(LOG, log.item) == {
        "pk": "LOG#20230803",
        "sk": f"{STARTED}#{REQUEST_ID}",
        "entity": "LOG",
        "requestId": REQUEST_ID,
        "timestamp": STARTED,
        "ttl": at("2023-08-10T23:59:59") // 1000,
        **{NAMES.get(name, name): getattr(value, "value", value) for name, value in values.items()},
    }
    assert RequestLog(log.item) == log
    assert key_of(log.identity[1]) == LOG.key_of(log.item)


def test_a_number_that_no_item_can_hold_is_dropped() -> None:
    """It is what a client asked for, and must not keep the log from being written."""
    for number in (1e400, -1e400, 1e200, 1e-200):
        assert a_log(STARTED, minmagnitude=number) == a_log(STARTED)


def test_storable_facts_of_a_domain_are_kept_together() -> None:
    def facts_of(**facts: Any) -> RequestLog:
        of_request: dict[str, Any] = {"request_id": REQUEST_ID, "timestamp": STARTED, "route": "/node", "status": 200}
        return log_of(RecordedWork(writes=False, latency_ms=3, facts=facts, **of_request))

    for unstorable in (None, 1e200, float("nan"), 2**200, object(), {1, 2}):
        log = facts_of(page_size=50, station="GSC", strange=unstorable)
        assert (documented(LOG, log.item)["pageSize"], log.facts) == (50, {"station": "GSC"})
        assert facts_of(strange=unstorable) == facts_of()


def test_a_key_that_no_log_has_is_no_position() -> None:
    for key in ("", "#", "1#", "#a", "a#b", "-1#b", "1.0#b", "²#b", "١#b", "10000000000000#b", "1#" + 65 * "b"):
        assert key_of(key) is None, key
