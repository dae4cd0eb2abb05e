"""What clients report and ask for is bounded. `tests.domains.sightings.test_reporting` has the other bounds."""

from pathlib import Path
from typing import Any

from graph.api.relay import global_id
from tests.domains.sightings.in_store import held_clock
from tests.service import Service, running
from tests.settings import Settings

REPORT = "mutation ($input: ReportSightingInput!) { reportSighting(input: $input) { created sighting { sightingId } } }"
FILTERED = "query ($areas: [String!]) { sightings(filter: {areas: $areas}) { nodes { id } } }"

INGEST = "mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
NAMING = "query ($ids: [ID!]) { sightings(filter: {eventIds: $ids}) { nodes { eventId } } }"


def report(**given: Any) -> dict[str, Any]:
    """The variables of a report."""
    return {"input": {"category": "FIRE", **given}}


def refusal(service: Service, query: str, variables: dict[str, Any], code: str = "BAD_USER_INPUT") -> str:
    (error,) = service.answer(query, variables)["errors"]
    assert error["extensions"]["code"] == code
    message: str = error["message"]
    return message


def test_areas_of_a_filter_and_reports_of_an_hour_have_a_bound(tmp_path: Path) -> None:
    position = {"lat": 1.0, "lon": 2.0}
    with running(Settings(store=f"sqlite:///{tmp_path}/reports.db", sighting_reports=1), clock=held_clock()) as service:
        for name in ("x" * 129, "—!—", "<b>town</b>", "x" * 1_000_000, ""):
            assert refusal(service, FILTERED, {"areas": ["Ridgecrest", name]}).startswith("`areas` must")
        areas = [f"Town {number}" for number in range(101)]
        assert service.ask(FILTERED, {"areas": areas[:100]}) == {"sightings": {"nodes": []}}
        assert refusal(service, FILTERED, {"areas": areas}) == "`areas` takes at most 100 areas."
        assert service.ask(REPORT, report(**position, questionnaire={"felt": 0}))["reportSighting"]["created"]
        again = refusal(service, REPORT, report(**position, category="OTHER"), "RATE_LIMITED")
        assert "try again in 3600 s" in again


def test_sightings_are_found_by_global_and_own_ids_of_several_earthquakes(tmp_path: Path) -> None:
    clock = held_clock()
    with running(Settings(store=f"sqlite:///{tmp_path}/reports.db"), clock=clock) as service:
        event = {"eventTsMs": clock.now, "mag": 5, "lat": 1, "lon": 2}
        service.ask(INGEST, {"events": [{**event, "eventId": f"us{number}"} for number in range(4)]})
        for number in range(3):
            service.ask(
                REPORT, report(area=f"Town {number}", eventId=(global_id("Event", "us0"), "us1", "us2")[number])
            )

        def named(*ids: str) -> set[str]:
            return {each["eventId"] for each in service.ask(NAMING, {"ids": ids})["sightings"]["nodes"]}

        assert named(global_id("Event", "us1"), "us0", "us3", "us1", "none") == {"us0", "us1"}
        assert named() == set()
        assert refusal(service, NAMING, {"ids": ["us0"] * 21}) == "`eventIds` takes at most 20 events."
        other = global_id("Sighting", "us0")
        message = "`eventIds` is an id of the type Sighting: pass one of the type Event."
        assert refusal(service, NAMING, {"ids": [other]}) == message
