"""Logs are whole at ordinary traffic. Of a flood, clients learn that they see a sample, and how much was left out."""

from pathlib import Path
from typing import Any

from graph.core.days import DAY_MS
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.analytics import PopularFilter, popular_filters
from graph.domains.request_logs.budget import NONE, DayCount, LogBudget
from graph.domains.request_logs.buffer import LogBuffer
from graph.domains.request_logs.settings import RequestLogSettings
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import MIDNIGHT, TODAY, a_log, now, stored_logs
from tests.service import Service, running, settings
from tests.store.engines import empty_database
from tests.store.samples import NOON, HeldClock

POPULAR = "{ popularFilters(windowDays: 7) { totalRequests sampled leftOut filters { pageSize hits } } }"
LOGS = """query ($filter: RequestLogFilter) {
  requestLogs(first: 100, filter: $filter) { sampled leftOut nodes { route weight } } }"""


async def test_the_queries_of_a_busy_minute_are_all_counted_by_default() -> None:
    async with empty_database("sqlite", ENTITIES, clock=now) as database:
        logs = RequestLogs(database, now)
        buffer = LogBuffer(logs, LogBudget(RequestLogSettings()))
        for number in range(2500):
            buffer.add(a_log(MIDNIGHT + number * 24, number, page_size=50))
        await buffer.flush()
        found = await popular_filters(logs, TODAY, 1, 10)

    assert (found.total_requests, found.sampled, found.left_out) == (2500, False, 0)
    assert [(each.page_size, each.hits) for each in found.filters] == [(50, 2500)]


async def test_a_log_of_a_sample_counts_for_as_many_queries_as_it_stands_for(engine: str) -> None:
    """So a filter of a flood on the day before is not taken for as seldom as its few logs."""
    flood = [
        a_log(MIDNIGHT - 1, 1, page_size=20, result_count=20, has_next_token=True, weight=64),
        a_log(MIDNIGHT - 1, 2, page_size=20, result_count=10, has_next_token=False, weight=8),
    ]
    quiet = [a_log(MIDNIGHT, 10 + number, page_size=50, status=503) for number in range(3)]
    async with stored_logs(engine, [*flood, *quiet]) as logs:
        await logs.add_count("20240301", DayCount(NONE, 100, 69))
        await logs.add_count("20240301", DayCount(NONE, 1, 1))
        both = await popular_filters(logs, TODAY, 2, 10)
        today = await popular_filters(logs, TODAY, 1, 10)

    assert (both.total_requests, both.sampled, both.left_out) == (75, True, 70)
    assert both.filters == [
        PopularFilter(None, None, None, 20, hits=72, has_next_token_count=64, avg_result_count=(64 * 20 + 8 * 10) / 72),
        PopularFilter(None, None, None, 50, hits=3, has_next_token_count=0, avg_result_count=0.0),
    ]
    assert (today.total_requests, today.sampled, today.left_out) == (3, False, 0)


def test_clients_learn_of_a_sample_and_how_many_logs_were_left_out_also_after_a_restart(
    tmp_path: Path, usgs: UsgsServer
) -> None:
    def asked(service: Service, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return service.ask(POPULAR)["popularFilters"], service.ask(LOGS, {"filter": given})["requestLogs"]

    of_flood = {"routes": ["/earthquakes"], "endTime": "2023-11-14"}
    file, clock = tmp_path / "sampled.db", HeldClock()
    for _ in range(2):
        with running(settings(file, usgs, max_logs_per_minute=20), clock=clock) as service:
            for _ in range(50):
                service.ask("{ events(first: 0) { nodes { id } } }")
                service.ask('{ event(eventId: "us1") { id } }')
        clock.now += 1  # each process has a minute's logs of its own
    clock.now = NOON + DAY_MS
    with running(settings(file, usgs), clock=clock) as service:
        popular, logs = asked(service, **of_flood)
        _, of_today = asked(service, startTime="2023-11-15")

    kept = len(logs["nodes"])
    assert {node["weight"] for node in logs["nodes"]} >= {1}
    assert 20 <= kept < 100
    assert (popular["totalRequests"], popular["sampled"], popular["leftOut"]) == (100, True, 100 - kept)
    assert [each["pageSize"] for each in popular["filters"]] == [0]
    assert popular["filters"][0]["hits"] == sum(node["weight"] for node in logs["nodes"])
    assert logs["sampled"]
    assert 200 - 2 * 23 <= logs["leftOut"] <= 200 - 2 * 20
    assert (of_today["sampled"], of_today["leftOut"]) == (False, 0)
    assert [node["weight"] for node in of_today["nodes"]] == [1] * len(of_today["nodes"])
