"""Domains on a real service: one that is added has everything, and one that is switched off has nothing."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from graph import cli
from graph.api.relay import global_id
from graph.domain import Domain
from graph.domains import DOMAINS
from graph.domains.request_logs.scopes import LOGS_READ
from graph.opening import settings_of
from graph.settings import Settings as CoreSettings
from tests.bearers import SCOPES, bearer
from tests.domain.reports import REPORTS, REPORTS_WRITE
from tests.observability.scraping import scraped
from tests.processes import quakegraph, serving
from tests.service import Service, running
from tests.store.samples import HeldClock

ALL = (*DOMAINS, REPORTS)
LOGS = """query ($route: String) {
  requestLogs(filter: {route: $route}) { nodes { route logType status error resultCount } }
}"""
EVENT = '{eventId: "us1", eventTsMs: 0, mag: 4.5, lat: 35.6, lon: -117.6}'
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


def test_an_added_domain_has_everything(tmp_path: Path) -> None:
    with running(settings(tmp_path, ALL), domains=ALL) as service:
        service.ask(INGEST)
        assert service.ask('mutation { fileReport(eventId: "us1") }') == {"fileReport": 1}
        assert service.ask('{ reportCount event(eventId: "us1") { mag reports } }') == {
            "reportCount": 1,
            "event": {"mag": 4.5, "reports": 1},
        }
        assert service.http.get("/reports").json() == ["us1"]
        assert service.http.get("/readyz").json()["reports"] == {"watched": True}
        assert tabs(service)[-1] == "Reports"
        assert scraped(service.url).value("quakegraph_reports_total") == 1


def test_a_route_of_a_domain_knows_its_callers(tmp_path: Path) -> None:
    with running(settings(tmp_path, ALL), domains=ALL) as service:
        for headers, status, code in (
            ({"Authorization": ""}, 401, "UNAUTHENTICATED"),
            (bearer(LOGS_READ), 403, "FORBIDDEN"),
            ({"Authorization": "Bearer x"}, 401, "UNAUTHENTICATED"),
        ):
            answer = service.http.get("/reports", headers=headers)
            assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (status, code)
        assert service.http.get("/reports", headers=bearer(REPORTS_WRITE)).json() == []
        assert service.http.post("/reports").status_code == 405


def test_a_domain_has_its_setting(tmp_path: Path) -> None:
    with running(settings(tmp_path, ALL, most_reports=1), domains=ALL) as service:
        service.ask('mutation { fileReport(eventId: "us1") }')
        assert service.codes('mutation { fileReport(eventId: "us1") }') == ["BAD_USER_INPUT"]


def test_a_domain_has_its_command(tmp_path: Path) -> None:
    line, store = cli.build(ALL), ("--store", f"sqlite:///{tmp_path}/domains.db")
    runner = CliRunner()

    assert runner.invoke(line, ["count-reports", *store], env={"GRAPH_MOST_REPORTS": "7"}).stdout == "7\n"
    wrong = runner.invoke(line, ["count-reports", *store], env={"GRAPH_MOST_REPORTS": "0"})
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "Error: GRAPH_MOST_REPORTS: Input should be greater than or equal to 1\n",
    )
    assert "reports:write" in runner.invoke(line, ["token", "--help"]).stdout
    assert "count-reports" not in cli.main.commands
    assert runner.invoke(line, ["count-reports"], env={"GRAPH_DOMAINS": "earthquakes"}).exit_code == 2


# How fields are recorded


def test_every_root_field_of_a_domain_is_logged_without_code_of_its_own(tmp_path: Path) -> None:
    with running(settings(tmp_path, ALL), domains=ALL) as service:
        service.ask("{ reportCount }")
        with service.http.stream(
            "POST",
            "/graphql",
            json={"query": "subscription { reportsCounted }"},
            headers={"Accept": "text/event-stream"},
        ) as stream:
            stream.read()
    with running(settings(tmp_path, ALL), domains=ALL) as service:
        for route in ("/report-count", "/reports-counted"):
            assert logs(service, route) == [
                {"route": route, "logType": "QUERY", "status": 200, "error": None, "resultCount": None}
            ]


def test_a_mutation_is_logged_before_it_is_answered_with_the_facts_of_its_field(tmp_path: Path) -> None:
    mutation = {"route": "/file-report", "logType": "INGEST", "error": None}
    with running(settings(tmp_path, ALL, most_reports=1), domains=ALL) as service:
        service.ask('mutation { fileReport(eventId: "us1") }')
        assert logs(service, "/file-report") == [mutation | {"status": 200, "resultCount": 1}]
        service.answer('mutation { fileReport(eventId: "us2") }')
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


@pytest.fixture
def alone(tmp_path: Path) -> CoreSettings:
    """Settings of a service without request logs."""
    return settings(tmp_path, DOMAINS[:1], domains=("earthquakes",))


def test_a_domain_that_is_off_has_no_field_type_scope_tab_metric_or_node(alone: CoreSettings) -> None:
    with running(alone) as service:
        assert service.codes("{ requestLogs { nodes { id } } }") == ["GRAPHQL_VALIDATION_FAILED"]
        types = service.ask("{ __schema { types { name } } }")["__schema"]["types"]
        assert not {"RequestLog", "LogType", "PopularFilters"} & {each["name"] for each in types}
        log = global_id("RequestLog", "1700000000000#0b7d8a1e-6f0e-4b0b-9a66-0b3a6d1c2f10")
        assert service.codes(f'{{ node(id: "{log}") {{ id }} }}') == ["BAD_USER_INPUT"]
        assert "RequestLogs" not in tabs(service)
        assert "quakegraph_request_logs" not in scraped(service.url).text
        assert service.http.get("/readyz").json()["polling"]["status"] == "off"


def test_nothing_is_logged_if_request_logs_are_off(alone: CoreSettings, tmp_path: Path) -> None:
    clock = HeldClock()
    with running(alone, clock=clock) as service:
        assert service.ask(INGEST) == {"ingestEvents": {"upserted": 1}}
        assert service.ask('{ event(eventId: "us1") { mag } }') == {"event": {"mag": 4.5}}
        assert scraped(service.url).all("quakegraph_fields_total") == {
            ("OK", "event"): 1,
            ("OK", "Mutation.ingestEvents"): 1,
        }
    with running(settings(tmp_path), clock=clock) as service:
        assert logs(service) == []
        assert service.ask('{ event(eventId: "us1") { mag } }') == {"event": {"mag": 4.5}}


def test_a_domain_that_is_off_has_no_route(tmp_path: Path) -> None:
    names = tuple(domain.name for domain in DOMAINS)
    with running(settings(tmp_path, domains=names), domains=ALL) as service:
        assert service.http.get("/reports").status_code == 404
        assert "reports" not in service.http.get("/readyz").json()


def test_the_command_line_knows_the_domains_that_are_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
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


def test_several_processes_serve_the_domains_that_are_on(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path, settings={"GRAPH_DOMAINS": "earthquakes"}) as server:
        answer = server.ask("{ events { totalCount } __schema { types { name } } }").json()["data"]

    assert answer["events"] == {"totalCount": 0}
    assert "RequestLog" not in {each["name"] for each in answer["__schema"]["types"]}
