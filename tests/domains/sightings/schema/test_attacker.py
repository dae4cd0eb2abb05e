"""An attacker who reports from guessed positions learns no more of a reporter than the cell of 10 km, which is public.

The victim reports from one home, and in another service from another home, 6 km away in the same cell. The attacker
does the same in both. Whatever is answered must be the same, too.
"""

import re
from pathlib import Path
from typing import Any

from graph.domains.sightings.grid import KM1, KM10
from tests.bearers import bearer
from tests.domains.sightings.in_store import held_clock
from tests.service import Service, running
from tests.settings import Settings

HOMES = ((35.5712, -117.5812), (35.6201, -117.5598))
AREAS = "slug,name,lat,lon\n" + "".join(f"town{n},Town {n},{lat},{lon}\n" for n, (lat, lon) in enumerate(HOMES))
FELT = {"felt": 1, "motion": 3}
SIGHTED = """sightingId category area text reportedAt expiresAt confirmations freshness reporterTier own
  position { lat lon precisionKm } confidence { total } candidates { distanceKm }"""
REPORT = f"""mutation ($input: ReportSightingInput!) {{
  reportSighting(input: $input) {{ created confirmed sighting {{ {SIGHTED} }} }} }}"""
ALL_THAT_IS_PUBLIC = f"""{{
  sightings(first: 50) {{ nodes {{ {SIGHTED} }} }}
  trending {{ category count sightings(first: 50) {{ nodes {{ sightingId }} }} }}
  areas(first: 50) {{ nodes {{ slug name lat lon lastExpiresAt }} }}
  profile {{ reports confirmations confirmationsReceived }}
  event(eventId: "us1") {{
    feltIntensity {{ reports cdi cells {{ reports intensity expected outlier position {{ lat lon precisionKm }} }} }}
  }}
}}"""
INGEST = "mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"


def reported(service: Service, subject: str, **given: Any) -> str:
    """The answer to a report."""
    variables = {"input": {"category": "SHAKING", **given}}
    return service.http.post(
        "/graphql", json={"query": REPORT, "variables": variables}, headers=bearer(subject=subject)
    ).text


def at(lat: float, lon: float) -> dict[str, float]:
    return {"lat": lat, "lon": lon}


def seen_by_an_attacker(folder: Path, home: tuple[float, float]) -> list[str]:
    """All answers to an attacker, if the victim reports from this home. Ids are numbered as they come."""
    clock = held_clock()
    (folder / "areas.csv").write_text(AREAS)
    settings = Settings(
        store=f"sqlite:///{folder}/{home[0]}.db", sighting_areas=folder / "areas.csv", sighting_reports=100
    )
    answers: list[str] = []
    with running(settings, clock=clock) as service:
        event = {"eventId": "us1", "eventTsMs": clock.now - 60_000, "mag": 6.1, **at(35.7, -117.5), "place": "near"}
        service.ask(INGEST, {"events": [event]})
        for victim in ({}, {"text": "It shook."}, {"area": "Home"}, {"eventId": "us1"}):
            reported(service, "victim", **at(*home), questionnaire=FELT, **victim)
            clock.now += 1000  # so that the order of sightings follows from their times
        for number, (lat, lon) in enumerate((*HOMES, (35.6, -117.57))):
            guess = at(lat + 0.00005, lon)
            for words in ({}, {"text": "It shook."}, {"area": "Home"}, {"area": f"New {number}"}, {"eventId": "us1"}):
                answers.append(reported(service, "attacker", **guess, questionnaire=FELT, **words))
                answers.append(str(service.ask(ALL_THAT_IS_PUBLIC)))
                clock.now += 1000
        clock.now += 300_000
        answers.append(str(service.ask(ALL_THAT_IS_PUBLIC)))
    ids: dict[str, str] = {}
    return [re.sub(r"[0-9a-f-]{36}", lambda found: ids.setdefault(found[0], f"id{len(ids)}"), each) for each in answers]


def test_guessed_positions_tell_an_attacker_nothing_of_where_a_reporter_is(tmp_path: Path) -> None:
    assert KM10.cell(*HOMES[0]) == KM10.cell(*HOMES[1])
    first, second = (seen_by_an_attacker(tmp_path, home) for home in HOMES)
    assert first == second
    assert "'precisionKm': 10.0" in first[-1]
    assert "errors" not in "".join(first)


def test_one_person_is_not_three_people_by_answering_in_several_ways(tmp_path: Path) -> None:
    clock = held_clock()
    with running(Settings(store=f"sqlite:///{tmp_path}/people.db"), clock=clock) as service:
        event = {"eventId": "us1", "eventTsMs": clock.now - 60_000, "mag": 6.1, **at(35.7, -117.5), "place": "near"}
        service.ask(INGEST, {"events": [event]})

        def fine_cells() -> list[int]:
            cells = service.ask(ALL_THAT_IS_PUBLIC)["event"]["feltIntensity"]["cells"]
            return [each["reports"] for each in cells if each["position"]["precisionKm"] == 1]

        for user, named in (("victim", {}), ("attacker", {}), ("attacker", {"eventId": "us1"})):
            reported(service, user, **at(*HOMES[0]), text=f"{user} {named}", questionnaire=FELT, **named)
        clock.now += 300_000
        assert fine_cells() == []
        for user in ("cara", "dora"):
            assert '"confirmed":true' in reported(service, user, **at(*HOMES[0]), questionnaire=FELT)
        clock.now += 300_000
        assert fine_cells() == [5]
        assert KM1.cell(*HOMES[0]) != KM1.cell(*HOMES[1])
