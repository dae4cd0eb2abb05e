"""Statistics as clients ask for them, over the real week of 2023-08-03."""

from collections import Counter
from typing import Any

import pytest

from graph.domains.earthquakes.magnitudes import MagnitudeRange, bin_of
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.statistics.gutenberg_richter import completeness, gutenberg_richter
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.schema.test_queries import stored
from tests.service import Service

STATISTICS = """
query Statistics($filter: StatisticsFilter, $interval: Interval! = DAY, $corrected: Boolean! = false) {
  catalogueStatistics(filter: $filter) {
    count
    largest { eventId mag }
    series(interval: $interval) { interval start counts }
    magnitudeFrequency { magnitude count cumulative }
    completeness(corrected: $corrected) { magnitude reason }
    gutenbergRichter(corrected: $corrected) { b uncertainty a events reason }
  }
}
"""


def statistics(service: Service, **variables: Any) -> dict[str, Any]:
    found: dict[str, Any] = service.ask(STATISTICS, variables)["catalogueStatistics"]
    return found


def test_the_week_in_numbers(any_week: Service) -> None:
    found = statistics(any_week)

    counts = Counter(bin_of(event.mag)[0] for event in stored())
    days = Counter(event.day_bucket for event in stored())
    largest = max(stored(), key=lambda event: (event.mag, event.event_ts_ms))
    assert found["count"] == 2124
    assert found["largest"] == {"eventId": largest.event_id, "mag": largest.mag}
    assert found["series"] == {"interval": "DAY", "start": "2023-07-28", "counts": [days[day] for day in sorted(days)]}
    assert {
        round(each["magnitude"] * 10): each["count"] for each in found["magnitudeFrequency"] if each["count"]
    } == counts
    assert found["magnitudeFrequency"][0]["cumulative"] == 2124
    assert found["completeness"] == {"magnitude": completeness(counts).magnitude, "reason": None}
    estimated = gutenberg_richter(counts, completeness(counts))
    assert found["gutenbergRichter"]["b"] == estimated.b
    assert found["gutenbergRichter"]["events"] == estimated.events


def test_a_correction_takes_a_higher_completeness(week: Service) -> None:
    plain, corrected = (statistics(week, corrected=corrected) for corrected in (False, True))

    assert corrected["completeness"]["magnitude"] == pytest.approx(plain["completeness"]["magnitude"] + 0.2)
    assert corrected["gutenbergRichter"]["events"] < plain["gutenbergRichter"]["events"]


def test_statistics_of_a_window_and_of_strong_events(any_week: Service) -> None:
    window = {"startTime": "2023-07-29T06:00:00Z", "endTime": "2023-08-01T18:00:00Z", "minMagnitude": 4.5}
    found = statistics(any_week, filter=window)

    chosen = Selection(start_ms=1_690_610_400_000, end_ms=1_690_912_800_000, magnitudes=MagnitudeRange(4.5))
    meant = [event for event in stored() if selects(chosen, event)]
    assert found["count"] == len(meant) > 0
    assert sum(found["series"]["counts"]) == len(meant)
    assert len(found["series"]["counts"]) == 4
    assert found["gutenbergRichter"]["b"] is None
    assert found["gutenbergRichter"]["reason"] == found["completeness"]["reason"]
    assert found["completeness"]["reason"] == f"Only {len(meant)} events are selected; an estimate needs 50."


def test_no_events_have_no_statistics(week: Service) -> None:
    found = statistics(week, filter={"minMagnitude": 9.5}, interval="YEAR")

    assert (found["count"], found["largest"], found["magnitudeFrequency"]) == (0, None, [])
    assert found["series"] == {"interval": "YEAR", "start": None, "counts": []}


def test_a_window_that_no_calendar_has_is_empty(week: Service) -> None:
    found = statistics(week, filter={"startTime": "9999-12-31T23:59:59.9995Z"})

    assert (found["count"], found["largest"], found["series"]["counts"]) == (0, None, [])


def test_a_greatest_magnitude_allows_no_b_value(week: Service) -> None:
    found = statistics(week, filter={"maxMagnitude": 3.0})

    assert found["completeness"]["magnitude"] is not None
    assert found["gutenbergRichter"]["b"] is None
    assert found["gutenbergRichter"]["reason"] == "It takes all great events: leave out `maxMagnitude`."


@pytest.mark.parametrize(
    "filter",
    [
        {"minMagnitude": 4.55},
        {"minMagnitude": 5, "maxMagnitude": 4},
        {"startTime": "2024-01-01T00:00:00Z", "endTime": "2023-01-01T00:00:00Z"},
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(week: Service, filter: dict[str, Any]) -> None:
    assert week.codes(STATISTICS, {"filter": filter}) == ["BAD_USER_INPUT"]
