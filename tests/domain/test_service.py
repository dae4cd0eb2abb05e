"""A domain or a part that is switched off has nothing in a real service."""

from pathlib import Path
from typing import Any

from graph.api.relay import global_id
from graph.domain import Domain, switched_on
from graph.domains import DOMAINS
from graph.opening import settings_of
from graph.settings import Settings as CoreSettings
from tests.observability.scraping import scraped
from tests.service import running
from tests.store.samples import HeldClock

EVENT = '{eventId: "us1", eventTsMs: 0, mag: 4.5, lat: 35.6, lon: -117.6}'
INGEST = f"mutation {{ ingestEvents(input: {{events: [{EVENT}]}}) {{ upserted }} }}"


def settings(folder: Path, of: tuple[Domain, ...] = DOMAINS, **others: Any) -> CoreSettings:
    return settings_of(of)(store=f"sqlite:///{folder}/domains.db", **others)


def test_a_domain_that_is_off_has_no_node_and_stores_nothing(tmp_path: Path) -> None:
    """`tests.domain.test_example_domain` has what else it lacks."""
    clock = HeldClock()
    names = ("earthquakes",)
    with running(settings(tmp_path, switched_on(DOMAINS, names), domains=names), clock=clock) as service:
        log = global_id("RequestLog", "1700000000000#0b7d8a1e-6f0e-4b0b-9a66-0b3a6d1c2f10")
        assert service.codes(f'{{ node(id: "{log}") {{ id }} }}') == ["BAD_USER_INPUT"]
        assert service.http.get("/readyz").json()["polling"]["status"] == "off"
        assert service.ask(INGEST) == {"ingestEvents": {"upserted": 1}}
        counts = scraped(service.url).all("quakegraph_fields_total")
        assert counts["OK", "Mutation.ingestEvents"] == 1
    with running(settings(tmp_path), clock=clock) as service:
        assert service.ask("{ requestLogs { nodes { route } } }") == {"requestLogs": {"nodes": []}}
        assert service.ask('{ event(eventId: "us1") { mag } }') == {"event": {"mag": 4.5}}


def test_parts_that_are_off_take_all_that_is_theirs_with_them(tmp_path: Path) -> None:
    """The hosts and what the web pages take have no routes, metrics, settings or parts of pages of the others."""
    pages = {"dashboard", "statistics", "export"}
    off = [domain for domain in DOMAINS if domain.part_of and domain.name not in pages]
    on = tuple(domain for domain in DOMAINS if domain not in off)
    chosen = settings(tmp_path, on, domains=tuple(f"-{domain.name}" for domain in off))
    with running(chosen) as service:
        assert service.ask(INGEST) == {"ingestEvents": {"upserted": 1}}
        assert service.http.get("/readyz").json()["status"] == "ok"
        paths = ("/v1/logs", "/api/v1/lineage", "/fdsnws/event/1/version")
        assert {service.http.post(path).status_code for path in paths} == {404}
        assert "own_logs" not in scraped(service.url).text
        page = service.http.get("/").text
    assert [name for name in ("sightings", "felt", "watches", "fdsn") if f" data-{name}" in page] == ["sightings"]
    assert not {"own_logs", "max_watches", "sighting_watches"} & {*type(chosen).model_fields}
