"""Filters of events as clients send them: spellings, ids of every kind, and what is refused."""

from typing import Any

import pytest

from tests.domains.earthquakes.schema.test_revisions import event, store
from tests.service import Service

EVENTS = "query($filter: EventFilter) { events(filter: $filter) { totalCount nodes { eventId } } }"


def found(service: Service, **filter: Any) -> list[str]:
    """The ids of the selected events, which are as many as are counted."""
    events = service.ask(EVENTS, {"filter": filter})["events"]
    assert events["totalCount"] == len(events["nodes"])
    return sorted(node["eventId"] for node in events["nodes"])


TRIANGLE = [{"lat": 0, "lon": 0}, {"lat": 0, "lon": 3}, {"lat": 3, "lon": 3}]


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        *(
            ({name: ["x"] * 101}, f"`{name}` takes at most 100 values.")
            for name in ("types", "networks", "magTypes", "status", "alerts", "ids")
        ),
        *(
            ({name: ["us", "x" * 1025]}, f"`{name}` takes values of at most 1,024 characters.")
            for name in ("types", "networks", "magTypes", "status", "alerts", "ids")
        ),
        ({"place": "x" * 1025}, "`place` takes values of at most 1,024 characters."),
        ({"polygon": []}, "`polygon` needs 3 to 100 points."),
        ({"polygon": TRIANGLE[:2]}, "`polygon` needs 3 to 100 points."),
        ({"polygon": [*TRIANGLE * 33, *TRIANGLE]}, "`polygon` needs 3 to 100 points."),
        ({"polygon": TRIANGLE[:2] * 2}, "`polygon` needs at least three different points."),
        (
            {"polygon": [*TRIANGLE, {"lat": 91, "lon": 0}]},
            "`polygon` needs points with lat from -90 to 90 and lon from -180 to 180.",
        ),
        ({"maxGap": 1e200}, "`maxGap` is outside of all possible values: choose a realistic one."),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_with_a_message(
    week: Service, filter: dict[str, Any], message: str
) -> None:
    (error,) = week.answer(EVENTS, {"filter": filter})["errors"]

    assert (error["extensions"]["code"], error["message"]) == ("BAD_USER_INPUT", message)


@pytest.mark.parametrize(
    "filter",
    [
        {"polygon": [*TRIANGLE, None]},
        {"polygon": [*TRIANGLE, {"lat": 1}]},
        {"minFelt": 2**31},
        {"minSig": 1.5},
        {"tsunami": "yes"},
        {"networks": [None]},
        {"networks": [1]},
    ],
)
def test_a_value_of_another_type_is_refused(week: Service, filter: dict[str, Any]) -> None:
    assert week.answer(EVENTS, {"filter": filter})["errors"]


def test_texts_are_found_in_every_spelling(service: Service) -> None:
    texts: dict[str, Any] = {"type": "quarry blast", "magType": "mb_lg", "net": "ci", "status": "reviewed"}
    store(service, event("us1", place="8 km E of Pāhala, Hawaii", alert="red", **texts), event("us2", place="Ōfunato"))

    for each in (
        {"types": ["QUARRY_BLAST"]},
        {"magTypes": ["Mb Lg"]},
        {"networks": ["CI"]},
        {"status": ["Reviewed"]},
        {"alerts": ["RÉD"]},
        {"place": "PAHALA, hawaii"},
    ):
        assert found(service, **each) == ["us1"], each
    assert found(service, place="ofunato") == ["us2"]
    assert found(service, place="") == ["us1", "us2"]
    assert found(service, types=["quarry"]) == found(service, types=[""]) == []


def test_what_is_not_known_is_within_no_bound_but_no_tsunami(service: Service) -> None:
    numbers: dict[str, Any] = {"felt": 0, "sig": 0, "gap": 0.0, "depth": 0.0}
    store(service, event("us1", tsunami=True, **numbers), event("us2", tsunami=False), event("us3"))

    for each in ({"minFelt": 0}, {"minSig": -1}, {"maxGap": 360}, {"minDepth": 0}, {"maxDepth": 700}):
        assert found(service, **each) == ["us1"], each
    assert found(service, tsunami=True) == ["us1"]
    assert found(service, tsunami=False) == ["us2", "us3"]


def test_ids_find_events_by_any_alias_and_each_once(service: Service) -> None:
    store(service, event("ci9", ids=["ci9", "us1"]), event("us2"), event("us3"))
    store(service, event("us3", updated=2, status="deleted"))

    assert found(service, ids=["us1"]) == ["ci9"]
    assert found(service, ids=["us1", "ci9", "us2", "us2"]) == ["ci9", "us2"]
    assert found(service, ids=["us1", "us2"], minMagnitude=9) == []
    assert found(service, ids=["us3"]) == []
    assert found(service, ids=["unknown", "", "\n", "x" * 65]) == []
    assert found(service, ids=[]) == []
    assert found(service, ids=["US2"]) == []


def test_ids_find_what_a_merged_event_turned_out_to_be(service: Service) -> None:
    store(service, event("ci9"), event("us1"), event("us2"))
    store(service, event("us1", updated=2, ids=["us1", "ci9"]))
    store(service, event("ci9", updated=3, ids=["us2", "ci9"]))

    assert found(service) == ["ci9"]
    for event_id in ("ci9", "us1", "us2"):
        assert found(service, ids=[event_id]) == ["ci9"], event_id
    assert found(service, ids=["us1", "us2", "ci9"]) == ["ci9"]


def test_ids_find_an_event_on_the_day_that_it_had(service: Service) -> None:
    store(service, event("us1"), event("us2"))
    store(service, event("us1", updated=2, eventTsMs=1691064000000 + 86_400_000))

    assert found(service, ids=["us1"]) == ["us1"]
    then = '{ events(asOf: {first: true}, filter: {ids: ["us1"]}) { totalCount nodes { eventId dayBucket } } }'
    assert service.ask(then)["events"] == {"totalCount": 1, "nodes": [{"eventId": "us1", "dayBucket": "20230803"}]}


def test_a_deleted_event_is_found_by_its_id_where_deleted_ones_are_asked_for(service: Service) -> None:
    store(service, event("us1"), event("us2"))
    store(service, event("us1", updated=2, status="deleted"))

    query = '{ events(deleted: %s, filter: {ids: ["us1", "us2"]}) { totalCount nodes { eventId } } }'
    numbers = {kind: service.ask(query % kind)["events"]["totalCount"] for kind in ("EXCLUDE", "ONLY", "INCLUDE")}
    assert numbers == {"EXCLUDE": 1, "ONLY": 1, "INCLUDE": 2}


@pytest.mark.parametrize(
    ("name", "stored", "fdsn"),
    [
        ("types", "earthquake", "eventtype"),
        ("networks", "nc", "contributor"),
        ("magTypes", "md", "magnitudetype"),
        ("status", "reviewed", "reviewstatus"),
        ("alerts", "green", "alertlevel"),
        (None, "USGS", "catalog"),
    ],
)
def test_a_text_finds_the_same_events_however_it_is_written(
    any_week: Service, name: str | None, stored: str, fdsn: str
) -> None:
    """In the graph, in exports and for seismologists' programs."""
    spellings = (stored, stored.upper(), stored.lower(), stored.title())

    of_fdsn = {any_week.http.get(f"/fdsnws/event/1/count?{fdsn}={each}&format=text").text for each in spellings}
    assert len(of_fdsn) == 1
    assert 0 < int(of_fdsn.pop()) <= 2124
    if name is not None:
        counts = {any_week.ask(EVENTS, {"filter": {name: [each]}})["events"]["totalCount"] for each in spellings}
        exported = {any_week.http.get(f"/export/events.csv?{name}={each}").text.count("\n") - 1 for each in spellings}
        assert counts == exported != {0}
