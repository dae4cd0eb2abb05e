"""Statistics as clients ask for them, over the real week of 2023-08-03."""

from collections import Counter
from itertools import pairwise
from math import log10
from typing import Any

import pytest

from graph.domains.earthquakes.magnitudes import bin_of
from graph.domains.earthquakes.model import Event
from graph.domains.statistics.gutenberg_richter import completeness, gutenberg_richter
from tests.domains.earthquakes.schema.test_queries import stored
from tests.service import Service

STATISTICS = """
query Statistics($filter: EventFilter, $interval: SeriesInterval! = DAY, $corrected: Boolean! = true) {
  catalogueStatistics(filter: $filter) {
    count
    largest { eventId mag }
    series(interval: $interval) { interval startsAt counts }
    magnitudeFrequency { magnitude count cumulative }
    completeness(corrected: $corrected) { magnitude reason }
    gutenbergRichter(corrected: $corrected) { b uncertainty a events reason }
  }
}
"""


def earthquakes() -> list[Event]:
    """The week's earthquakes, without 53 blasts."""
    return [event for event in stored() if event.type == "earthquake"]


def statistics(service: Service, **variables: Any) -> dict[str, Any]:
    found: dict[str, Any] = service.ask(STATISTICS, variables)["catalogueStatistics"]
    return found


def test_the_week_in_numbers(week: Service) -> None:
    found = statistics(week)

    counts = Counter(bin_of(event.mag)[0] for event in earthquakes())
    days = Counter(event.day_bucket for event in earthquakes())
    largest = max(earthquakes(), key=lambda event: (event.mag, event.event_ts_ms))
    assert found["count"] == len(earthquakes()) == 2071
    assert found["largest"] == {"eventId": largest.event_id, "mag": largest.mag}
    assert found["series"] == {
        "interval": "DAY",
        "startsAt": "2023-07-28T00:00:00.000Z",
        "counts": [days[day] for day in sorted(days)],
    }
    assert {
        round(each["magnitude"] * 10): each["count"] for each in found["magnitudeFrequency"] if each["count"]
    } == counts
    assert found["magnitudeFrequency"][0]["cumulative"] == 2071
    assert found["completeness"] == {"magnitude": completeness(counts).magnitude, "reason": None}
    estimated = gutenberg_richter(counts, completeness(counts))
    assert found["gutenbergRichter"]["b"] == estimated.b
    assert found["gutenbergRichter"]["events"] == estimated.events
    plain = statistics(week, corrected=False)
    assert found["completeness"]["magnitude"] == pytest.approx(plain["completeness"]["magnitude"] + 0.2)
    assert found["gutenbergRichter"]["events"] < plain["gutenbergRichter"]["events"]


def test_a_greatest_magnitude_that_leaves_out_no_event_changes_nothing(week: Service) -> None:
    chosen: list[dict[str, Any]] = [{}, {"minMagnitude": 1.25}, CALIFORNIA]
    for others in chosen:
        assert statistics(week, filter={**others, "maxMagnitude": 5.9}) == statistics(week, filter=others)


def test_a_greatest_magnitude_that_leaves_out_events_allows_no_b_value(week: Service) -> None:
    found = statistics(week, filter={"maxMagnitude": 5.8})

    assert found["completeness"]["magnitude"] is not None
    assert found["gutenbergRichter"]["b"] is None
    assert found["gutenbergRichter"]["reason"] == (
        "It takes all great events, and `maxMagnitude` leaves some out: raise it, or leave it out."
    )


POPULATION = """
query Population($filter: EventFilter) {
  catalogueStatistics(filter: $filter) {
    count
    gutenbergRichter {
      completeness b uncertainty a aPerYear events reliability reason
      goodnessOfFit { distance pValue scatter scatterPValue bChange bChangePValue isStable }
      networks { network events complete completeness }
      bootstrap(confidence: 0.9) { low high confidence }
      overTime(events: 60, step: 30) { windows { firstAt lastAt events b uncertainty } reason }
    }
    bPositive { b uncertainty differences reason }
    rates(magnitudes: [2, 4.5]) { magnitude events perYear low high }
    seismicMoment { newtonMetres magnitude events binned }
    depths(binKm: 50) { bins { depth count } unknown reason }
    interEventTimes(quantiles: [0.5]) { number meanSeconds coefficientOfVariation quantiles { part seconds } reason }
    grid(degreesPerCell: 10) { degreesPerCell cells { lat lon count greatestMagnitude } reason }
  }
}
"""
CALIFORNIA = {"box": {"minLat": 32, "maxLat": 41, "minLon": -125, "maxLon": -115}, "minMagnitude": -2}
FILTERS: dict[str, dict[str, Any]] = {
    "everything": {},
    "a box": CALIFORNIA,
    "a circle": {"circle": {"lat": 61, "lon": -150, "radiusKm": 700}},
    "blasts": {"types": ["quarry blast", "explosion"]},
    "depths and times": {"minDepth": 20, "startTime": "2023-07-29T06:00:00Z", "endTime": "2023-08-01T18:00:00Z"},
    "magnitudes between tenths": {"minMagnitude": 1.25},
}


def population(service: Service, filter: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = service.ask(POPULATION, {"filter": filter})["catalogueStatistics"]
    return found


@pytest.mark.parametrize("filter", FILTERS.values(), ids=FILTERS)
def test_every_filter_of_events_selects_the_population(week: Service, filter: dict[str, Any]) -> None:
    """All parts count the same events: those of the list, without blasts unless they are named."""
    found = population(week, filter)
    named = {**filter, "types": filter.get("types", ["earthquake"])}
    listed = week.ask(
        "query L($filter: EventFilter) { events(first: 1000, filter: $filter) { totalCount nodes { mag depth } } }",
        {"filter": named},
    )["events"]

    count = listed["totalCount"]
    assert count > 0
    assert found["count"] == count
    assert found["seismicMoment"]["events"] == count
    assert found["seismicMoment"]["binned"] == 0
    assert sum(cell["count"] for cell in found["grid"]["cells"]) == count
    assert sum(each["count"] for each in found["depths"]["bins"]) + found["depths"]["unknown"] == count
    assert found["interEventTimes"]["number"] == count - 1
    assert sum(each["events"] for each in found["gutenbergRichter"]["networks"]) == count
    if count <= 1000:
        assert found["rates"][0]["events"] == sum(node["mag"] >= 2 for node in listed["nodes"])
        assert max(cell["greatestMagnitude"] for cell in found["grid"]["cells"]) == max(
            node["mag"] for node in listed["nodes"]
        )


def test_the_mixture_of_the_weeks_networks_is_not_to_be_trusted_and_one_region_is(week: Service) -> None:
    mixed, california = (population(week, chosen)["gutenbergRichter"] for chosen in ({}, CALIFORNIA))

    assert (round(mixed["b"], 2), mixed["reliability"]) == (0.40, "POOR")
    assert mixed["reason"].startswith(
        "The events mix 15 networks, of which some are complete only from higher magnitudes"
    )
    assert (round(california["b"], 2), california["reliability"], california["reason"]) == (0.83, "GOOD", None)
    assert {each["network"] for each in california["networks"]} >= {"ci", "nc"}
    assert california["bootstrap"]["low"] < california["b"] < california["bootstrap"]["high"]
    assert california["bootstrap"]["confidence"] == 0.9
    assert [window["events"] for window in california["overTime"]["windows"]] == [60] * (
        (california["events"] - 60) // 30 + 1
    )


def test_an_a_value_and_rates_of_a_year_are_of_the_filters_time_range(week: Service) -> None:
    window = {"startTime": "2023-07-29T00:00:00Z", "endTime": "2023-08-01T23:59:59.999Z"}
    found = population(week, window)
    years = 4 / 365.25

    relation, rates = found["gutenbergRichter"], found["rates"]
    assert relation["aPerYear"] == pytest.approx(relation["a"] - log10(years))
    for rate in rates:
        assert rate["perYear"] == pytest.approx(rate["events"] / years)
        assert rate["low"] < rate["perYear"] < rate["high"]
    assert [rate["magnitude"] for rate in rates] == [2, 4.5]


def test_a_stated_completeness_is_taken(week: Service) -> None:
    document = """query Q($least: Float) { catalogueStatistics {
      gutenbergRichter(completenessMagnitude: $least) { completeness events }
      bPositive(completenessMagnitude: $least, leastDifference: 0.2) { differences }
    } }"""
    found = week.ask(document, {"least": 4.5})["catalogueStatistics"]

    strong = [event for event in earthquakes() if event.mag >= 4.5]
    assert found["gutenbergRichter"] == {"completeness": 4.5, "events": len(strong)}
    in_time = [bin_of(event.mag)[0] for event in reversed(strong)]
    assert found["bPositive"]["differences"] == sum(after - before >= 2 for before, after in pairwise(in_time))
    assert week.codes(document, {"least": 4.55}) == ["BAD_USER_INPUT"]


IMPOSSIBLE = (
    "gutenbergRichter(completenessMagnitude: 20) { b }",
    "gutenbergRichter { bootstrap(confidence: 1) { low } }",
    "gutenbergRichter { overTime(events: 10) { reason } }",
    "gutenbergRichter { overTime(step: 0) { reason } }",
    "gutenbergRichter { overTime(events: 50, step: 1) { reason } }",
    "bPositive(leastDifference: 0.15) { b }",
    "rates(confidence: 0) { events }",
    "depths(binKm: 0.001) { unknown }",
    "interEventTimes(quantiles: [2]) { number }",
    "grid(degreesPerCell: 100) { reason }",
)


def test_an_impossible_argument_or_filter_is_refused(week: Service) -> None:
    for part in IMPOSSIBLE:
        assert week.codes(f"{{ catalogueStatistics {{ {part} }} }}") == ["BAD_USER_INPUT"], part
    for filter_ in ({"minMagnitude": 5, "maxMagnitude": 4}, {"types": ["x"] * 101}):
        assert week.codes(STATISTICS, {"filter": filter_}) == ["BAD_USER_INPUT"]


def test_no_events_have_empty_parts_with_reasons(week: Service) -> None:
    for nothing in ({"minMagnitude": 9.5}, {"startTime": "9999-12-31T23:59:59.9995Z"}):  # which no calendar has
        empty = statistics(week, filter=nothing, interval="YEAR")
        assert (empty["count"], empty["largest"], empty["magnitudeFrequency"]) == (0, None, [])
        assert empty["series"] == {"interval": "YEAR", "startsAt": None, "counts": []}
    found = population(week, {"minMagnitude": 9.5})

    relation = found["gutenbergRichter"]
    assert (relation["b"], relation["reliability"], relation["goodnessOfFit"], relation["bootstrap"]) == (None,) * 4
    assert relation["reason"] == "Only 0 events are selected; an estimate needs 50."
    assert relation["overTime"] == {"windows": [], "reason": relation["reason"]}
    assert (relation["networks"], found["rates"], found["grid"]["cells"]) == ([], [], [])
    assert found["bPositive"]["reason"] == "Only 0 magnitudes exceed the one before; an estimate needs 50."
    assert found["seismicMoment"] == {"newtonMetres": 0, "magnitude": None, "events": 0, "binned": 0}
    assert found["depths"] == {"bins": [], "unknown": 0, "reason": None}
    assert found["interEventTimes"]["reason"] == "Only 0 events are selected; a time between two needs 2."
