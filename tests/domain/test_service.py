"""Domains on a real service: one that is added has everything, and one that is switched off has nothing."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from graph.api.relay import global_id
from graph.domain import Domain
from graph.domains import DOMAINS
from graph.opening import settings_of
from graph.settings import Settings as CoreSettings
from tests.bearers import SCOPES
from tests.domain.reports import REPORTS
from tests.observability.scraping import scraped
from tests.processes import quakegraph
from tests.service import Service, running
from tests.store.samples import HeldClock

ALL = (*DOMAINS, REPORTS)
LOGS = """query ($route: String) {
  requestLogs(filter: {route: $route}) { nodes { route logType status error resultCount } }
}"""
EVENT = '{eventId: "us1", eventTsMs: 0, mag: 4.5, lat: 35.6, lon: -117.6}'
FILE = 'mutation { fileReport(eventId: "us1") }'
INGEST = f"mutation {{ ingestEvents(input: {{events: [{EVENT}]}}) {{ upserted }} }}"


def settings(folder: Path, of: tuple[Domain, ...] = DOMAINS, **others: Any) -> CoreSettings:
    return settings_of(of)(store=f"sqlite:///{folder}/domains.db", **others)


def logs(service: Service, route: str | None = None) -> list[dict[str, Any]]:
    """The logs of a route, those that are written by now."""
    nodes: list[dict[str, Any]] = service.ask(LOGS, {"route": route})["requestLogs"]["nodes"]
    return nodes


def tabs(service: Service) -> list[str]:
    """The operations that GraphiQL opens with."""
    page = service.http.get("/graphql", headers={"Accept": "text/html"}).text
    examples = json.loads(unescape(page.split('data-examples="')[1].split('"')[0]))
    found = [re.search(r"^(?:query|mutation|subscription) (\w+)", each["query"], re.MULTILINE) for each in examples]
    return [match[1] for match in found if match]


# A domain that is added


def test_a_domain_adds_a_field_to_a_type_of_another_and_tells_whether_it_is_ready(tmp_path: Path) -> None:
    with running(settings(tmp_path, ALL), domains=ALL) as service:
        service.ask(INGEST)
        assert service.ask(FILE) == {"fileReport": 1}
        assert service.ask('{ event(eventId: "us1") { mag reports } }') == {"event": {"mag": 4.5, "reports": 1}}
        assert service.http.get("/readyz").json()["reports"] == {"filed": 1}


def test_a_mutation_is_logged_before_it_is_answered_with_the_facts_of_its_field(tmp_path: Path) -> None:
    mutation = {"route": "/file-report", "logType": "INGEST", "error": None}
    with running(settings(tmp_path, ALL), domains=ALL) as service:
        service.ask(FILE)
        assert logs(service, "/file-report") == [mutation | {"status": 200, "resultCount": 1}]
        service.answer(FILE)
        failed = mutation | {"status": 400, "error": "BAD_USER_INPUT", "resultCount": None}
        assert failed in logs(service, "/file-report")
        counts = scraped(service.url).all("quakegraph_fields_total")
    assert (counts["OK", "Mutation.fileReport"], counts["BAD_USER_INPUT", "Mutation.fileReport"]) == (1, 1)


def test_an_ingest_is_logged_once_even_if_it_never_begins(tmp_path: Path) -> None:
    with running(settings(tmp_path)) as service:
        service.ask(INGEST)
        assert service.codes("mutation { ingestRecent(input: {limit: 0}) { fetched } }") == ["BAD_USER_INPUT"]
        assert [log["status"] for log in logs(service, "/ingest/events")] == [200]
        assert [log["status"] for log in logs(service, "/ingest/recent")] == [400]


# A domain that is switched off


def test_a_domain_that_is_off_has_no_field_tab_metric_node_or_log(tmp_path: Path) -> None:
    clock = HeldClock()
    with running(settings(tmp_path, DOMAINS[:1], domains=("earthquakes",)), clock=clock) as service:
        assert service.codes("{ requestLogs { nodes { id } } }") == ["GRAPHQL_VALIDATION_FAILED"]
        log = global_id("RequestLog", "1700000000000#0b7d8a1e-6f0e-4b0b-9a66-0b3a6d1c2f10")
        assert service.codes(f'{{ node(id: "{log}") {{ id }} }}') == ["BAD_USER_INPUT"]
        assert "RequestLogs" not in tabs(service)
        assert "quakegraph_request_logs" not in scraped(service.url).text
        assert service.http.get("/readyz").json()["polling"]["status"] == "off"
        assert service.ask(INGEST) == {"ingestEvents": {"upserted": 1}}
        assert service.ask('{ event(eventId: "us1") { mag } }') == {"event": {"mag": 4.5}}
        counts = scraped(service.url).all("quakegraph_fields_total")
        assert (counts["OK", "event"], counts["OK", "Mutation.ingestEvents"]) == (1, 1)
    with running(settings(tmp_path), clock=clock) as service:
        assert logs(service) == []
        assert service.ask('{ event(eventId: "us1") { mag } }') == {"event": {"mag": 4.5}}


@pytest.mark.usefixtures("folder")
def test_the_command_line_knows_the_domains_that_are_on() -> None:
    off = {"GRAPH_DOMAINS": "earthquakes"}

    assert f"commas: {', '.join(SCOPES)}." in " ".join(quakegraph("token", "--help").stdout.split())
    assert "commas: events:read, events:write." in " ".join(quakegraph("token", "--help", settings=off).stdout.split())
    assert "RequestLog" not in quakegraph("schema", settings=off).stdout
    wrong = quakegraph("serve", settings={"GRAPH_DOMAINS": "earthquakes,volcanoes"})
    names = ", ".join(domain.name for domain in DOMAINS)
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        f"Error: GRAPH_DOMAINS: there is no domain 'volcanoes'; these are: {names}\n",
    )
