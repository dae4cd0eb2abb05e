"""`/metrics`: exact counts after exact requests, of one process and of several, and who may read them."""

import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import generate_latest
from starlette.requests import ClientDisconnect

from graph import __version__
from graph.app import create_app
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogBudget
from graph.domains.request_logs.buffer import LogBuffer, measure_buffer
from graph.observability.metrics import Metrics
from graph.observability.requests import timed_requests
from graph.store.contract import Put
from graph.store.dynamodb.retry_policy import CONNECTIONS
from graph.store.metrics import StoreMetrics
from graph.store.query import Query
from tests.domains.earthquakes.builders import NOON
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, collection, status, week_features
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import MIDNIGHT, a_log, now
from tests.observability.scraping import Scrape, parsed, scraped
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import empty_database, make_tables, open_dynamodb
from tests.store.samples import SAMPLE, key, sample
from tests.transport.processes import a_process, an_exchange

QUIET = ("earthquakes", "request_logs")  # domains whose background work reads nothing meanwhile

EVENT = '{ event(eventId: "us1") { mag } }'
INGEST = "mutation I($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
RECENT = "mutation { ingestRecent { upserted } }"


def ingested(*event_ids: str, lat: float = 35.6) -> dict[str, Any]:
    """Variables of `INGEST`."""
    about = {"eventTsMs": NOON, "mag": 4.5, "lat": lat, "lon": -117.6}
    return {"events": [{"eventId": event_id, **about} for event_id in event_ids]}


def read(metrics: Metrics) -> Scrape:
    """What a scrape of these metrics answers."""
    metrics.sample()
    return parsed(generate_latest(metrics.registry).decode())


def test_requests_and_root_fields_are_counted_by_operation_field_and_first_error(service: Service) -> None:
    before = scraped(service.url)
    for operation in ("query", "mutation"):
        assert before.value("quakegraph_requests_total", operation=operation, code="OK") == 0
    for name in ("request_logs_lost", "upstream_retries"):
        assert before.value(f"quakegraph_{name}_total") == 0
    service.ask(EVENT)
    service.ask('query Sesame { sesame: event(eventId: "sesame") { mag } two: event(eventId: "us2") { mag } }')
    service.ask("{ events { totalCount } }")
    service.ask(INGEST, ingested("us1"))
    assert service.codes("{ event") == ["GRAPHQL_PARSE_FAILED"]
    assert service.codes("{ event(eventId: 7.5) { mag } }") == ["GRAPHQL_VALIDATION_FAILED"]
    assert service.codes('{ events(after: "x") { nodes { mag } } }') == ["INVALID_CURSOR"]

    scrape = scraped(service.url)

    assert "sesame" not in scrape.text.lower()  # what clients choose is no label
    assert scrape.all("quakegraph_requests_total") == {
        ("OK", "query"): 3,
        ("INVALID_CURSOR", "query"): 1,
        ("OK", "mutation"): 1,
        ("OK", "subscription"): 0,
        ("GRAPHQL_PARSE_FAILED", "none"): 1,
        ("GRAPHQL_VALIDATION_FAILED", "none"): 1,
    }
    assert scrape.all("quakegraph_request_seconds_count") == {("query",): 4, ("mutation",): 1, ("none",): 2}
    fields = {("OK", "event"): 3, ("OK", "events"): 1, ("INVALID_CURSOR", "events"): 1}
    assert scrape.all("quakegraph_fields_total") == {**fields, ("OK", "Mutation.ingestEvents"): 1}
    seconds = {("event",): 3, ("events",): 2, ("Mutation.ingestEvents",): 1}
    assert scrape.all("quakegraph_field_seconds_count") == seconds
    assert scrape.all("quakegraph_store_pool_size") == {("readers",): 2, ("writer",): 1}
    assert scrape.value("quakegraph_store_pool_busy", pool="readers") == 0
    assert scrape.value("quakegraph_store_pool_waiting", pool="readers") == 0
    assert scrape.value("quakegraph_build_info", version=__version__) == 1
    assert (scrape.value("process_resident_memory_bytes") or 0) > 1_000_000
    assert (scrape.value("process_open_fds") or 0) > 0
    assert scrape.value("python_gc_collections_total", generation="2") is not None


def test_a_request_whose_client_disconnects_is_counted_as_abandoned() -> None:
    metrics = Metrics()

    with pytest.raises(ClientDisconnect), an_exchange(a_process(requests=timed_requests(metrics))):
        raise ClientDisconnect

    assert read(metrics).value("quakegraph_requests_total", operation="none", code="ABANDONED") == 1


def test_store_calls_are_counted_by_operation(tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path / 'quakes.db'}", domains=QUIET)) as service:

        def calls(operation: str) -> float:
            return scraped(service.url).value("quakegraph_store_calls_total", operation=operation, outcome="OK") or 0

        lookups, reads, transactions = calls("get"), calls("get_many"), calls("transact")
        service.ask(EVENT)
        service.ask(EVENT)
        service.ask(INGEST, ingested("us1", "us2"))

        # An unknown id may be an alias, also one that another ingest has made meanwhile. The first ingest of a process
        # looks up the number of the last change.
        assert (calls("get") - lookups, calls("get_many") - reads, calls("transact") - transactions) == (5, 3, 1)
        scrape = scraped(service.url)
        assert scrape.value("quakegraph_store_call_seconds_count", operation="transact") == transactions + 1


def test_calls_of_a_store_that_fails_are_counted_by_its_code(service: Service, tmp_path: Path) -> None:
    assert service.http.get("/healthz").status_code == 200  # by now it has started
    other = sqlite3.connect(tmp_path / "empty.db")
    other.execute('DROP TABLE "earthquake-events.EVENT"')
    other.close()

    assert service.codes(EVENT) == ["DATABASE_UNAVAILABLE"]

    scrape = scraped(service.url)
    assert scrape.value("quakegraph_store_calls_total", operation="get", outcome="DATABASE_UNAVAILABLE") == 1
    assert scrape.value("quakegraph_fields_total", field="event", code="DATABASE_UNAVAILABLE") == 1
    assert scrape.value("quakegraph_requests_total", operation="query", code="DATABASE_UNAVAILABLE") == 1
    assert scrape.value("quakegraph_request_logs_waiting") == 1


def test_ingests_are_counted_with_the_outcomes_of_their_events(service: Service, usgs: UsgsServer) -> None:
    service.ask(INGEST, ingested("us1", "us2"))
    service.ask(INGEST, ingested("us2", "us3"))
    service.ask(INGEST, ingested("us4", lat=99))
    usgs.answer_next(status(503), collection(week_features()[:5]))
    service.ask(RECENT)
    usgs.answer_next(status(400))
    assert service.codes(RECENT) == ["INVALID_UPSTREAM_RESPONSE"]

    scrape = scraped(service.url)

    assert scrape.all("quakegraph_ingests_total") == {
        ("OK", "/ingest/events"): 3,
        ("OK", "/ingest/recent"): 1,
        ("INVALID_UPSTREAM_RESPONSE", "/ingest/recent"): 1,
    }
    assert scrape.all("quakegraph_ingest_events_total") == {
        ("upserted", "/ingest/events"): 3,
        ("revised", "/ingest/events"): 0,
        ("skipped", "/ingest/events"): 1,
        ("rejected", "/ingest/events"): 1,
        ("upserted", "/ingest/recent"): 5,
        ("revised", "/ingest/recent"): 0,
        ("skipped", "/ingest/recent"): 0,
        ("rejected", "/ingest/recent"): 0,
    }
    assert scrape.all("quakegraph_ingest_seconds_count") == {("/ingest/events",): 3, ("/ingest/recent",): 2}
    assert scrape.value("quakegraph_upstream_retries_total") == 1


async def test_lost_and_waiting_request_logs_are_metrics() -> None:
    metrics = Metrics()

    def lost_and_waiting() -> list[float | None]:
        return [read(metrics).value(f"quakegraph_request_logs_{name}") for name in ("lost_total", "waiting")]

    async with empty_database("sqlite", ENTITIES, clock=now) as database:
        buffer = LogBuffer(RequestLogs(database, now), LogBudget(Settings()), capacity=3)
        measure_buffer(buffer, metrics)
        for number in range(5):
            buffer.add(a_log(MIDNIGHT + number, number))
        assert lost_and_waiting() == [2, 3]
        await buffer.flush()
        assert lost_and_waiting() == [2, 0]


async def test_units_that_dynamodb_reports_are_counted(dynamodb_endpoint: str) -> None:
    prefix, metrics = make_tables([SAMPLE]), Metrics()

    def units() -> tuple[float | None, ...]:
        scrape = read(metrics)
        return tuple(scrape.value("quakegraph_dynamodb_units_total", kind=kind) for kind in ("read", "write"))

    async with open_dynamodb([SAMPLE], prefix=prefix, meter=StoreMetrics(metrics)) as database:
        assert units() == (0, 0)
        await database.put(Put(SAMPLE, sample("p", "1", text="x" * 9000)))
        assert units() == (0, 9)  # one for each KB
        await database.put_many([Put(SAMPLE, sample("p", "2")), Put(SAMPLE, sample("p", "3"))])
        assert units() == (0, 11)
        await database.transact([Put(SAMPLE, sample("p", "4"))])
        assert units() == (0, 15)  # as the emulator counts; DynamoDB says 2 for it
        await database.get(key("p", "1"))
        assert units() == (3, 15)  # one for 4 KB, since the read is consistent
        await database.get_many([key("p", "1"), key("p", "2")])
        assert units() == (7, 15)
        await database.query(Query(entity=SAMPLE, partitions=[("p",)]))
        await database.count(Query(entity=SAMPLE, partitions=[("p",)]))
        _ = [item async for item in database.scan(SAMPLE)]
        assert units() == (16, 15)


def test_a_service_on_dynamodb_tells_its_units_and_connections(dynamodb_endpoint: str) -> None:
    store = f"dynamodb://{make_tables(ENTITIES)}"
    with running(Settings(store=store, domains=QUIET)) as service:
        service.ask(INGEST, ingested("us1"))
        before = scraped(service.url)
        service.ask(EVENT)
        after = scraped(service.url)

    read = [scrape.value("quakegraph_dynamodb_units_total", kind="read") or 0 for scrape in (before, after)]
    assert read[1] - read[0] == 1  # the logs that are written meanwhile read nothing
    assert after.all("quakegraph_store_pool_size") == {("connections",): CONNECTIONS}
    assert after.value("quakegraph_store_pool_waiting", pool="connections") == 0


# Who may read


async def test_only_an_address_of_a_private_network_may_read_and_no_proxy(tmp_path: Path) -> None:
    """100.64.0.0/10 is shared between a provider's customers, and used by private networks."""
    private = ("127.0.0.1", "10.1.2.3", "192.168.1.9", "100.64.0.7", "::1", "fd00::1", "::ffff:10.1.2.3")
    public = ("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "nowhere")
    app = create_app(Settings(store=f"sqlite:///{tmp_path}/unopened.db"))

    async def read_from(address: str, **headers: str) -> int:
        """The status of an answer to that address."""
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://quakegraph") as client:
            answer = await client.get("/metrics", headers=headers)
        assert ("quakegraph_requests_total" in answer.text) == (answer.status_code == 200)
        return answer.status_code

    assert {await read_from(address) for address in private} == {200}
    assert {await read_from(address) for address in public} == {404}
    for header in ("X-Forwarded-For", "Forwarded"):
        assert await read_from("127.0.0.1", **{header: "for=10.1.2.3"}) == 404
