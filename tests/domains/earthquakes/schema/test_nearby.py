"""The events around one, as clients ask for them, over the real week of 2023-08-03."""

import pytest

from graph.core.days import DAY_MS
from graph.domains.earthquakes.areas import Circle
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from tests.domains.earthquakes.schema.test_queries import selected, stored
from tests.service import Service

NEARBY = """
query Nearby($eventId: String!, $radiusKm: Float!, $days: Float!, $after: String) {
  event(eventId: $eventId) {
    nearby(radiusKm: $radiusKm, days: $days, first: 200, after: $after) {
      totalCount nodes { eventId } pageInfo { hasNextPage endCursor }
    }
  }
}
"""


def neighbours(event: Event, radius_km: float, days: float) -> list[str]:
    around = Selection(
        start_ms=event.event_ts_ms - int(days * DAY_MS),
        end_ms=event.event_ts_ms + int(days * DAY_MS),
        circle=Circle(event.lat, event.lon, radius_km),
    )
    return [event_id for event_id in selected(around) if event_id != event.event_id]


@pytest.mark.parametrize(("radius_km", "days"), [(100.0, 30.0), (50.0, 0.5), (0.0, 30.0), (40_100.0, 0.1)])
def test_the_events_around_one_are_walked_page_by_page(week: Service, radius_km: float, days: float) -> None:
    busiest = max(stored()[::100], key=lambda event: len(neighbours(event, radius_km, days)))
    expected = neighbours(busiest, radius_km, days)

    found: list[str] = []
    after = None
    while True:
        variables = {"eventId": busiest.event_id, "radiusKm": radius_km, "days": days, "after": after}
        page = week.ask(NEARBY, variables)["event"]["nearby"]
        assert page["totalCount"] == len(expected)
        found += [node["eventId"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"] if page["pageInfo"]["hasNextPage"] else None
        if not after:
            break
    assert found == expected


def test_an_impossible_neighbourhood_is_refused(week: Service) -> None:
    for radius_km, days in ((-1.0, 1.0), (41_000.0, 1.0), (1.0, -1.0), (1.0, 40_000.0)):
        variables = {"eventId": stored()[0].event_id, "radiusKm": radius_km, "days": days}
        assert week.codes(NEARBY, variables) == ["BAD_USER_INPUT"]
