"""What clients report and ask for is bounded. `tests.domains.sightings.test_reporting` has the other bounds."""

from pathlib import Path
from typing import Any

from tests.domains.sightings.in_store import held_clock
from tests.service import Service, running
from tests.settings import Settings

REPORT = "mutation ($input: ReportSightingInput!) { reportSighting(input: $input) { created sighting { sightingId } } }"
FILTERED = "query ($areas: [String!]) { sightings(filter: {areas: $areas}) { nodes { id } } }"


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
