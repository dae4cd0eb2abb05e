"""Filters of events as clients send them: spellings, ids of every kind, and what is refused."""

from typing import Any

from tests.domains.earthquakes.schema.test_revisions import event, store
from tests.service import Service

EVENTS = "query($filter: EventFilter) { events(filter: $filter) { totalCount nodes { eventId } } }"


def found(service: Service, **filter: Any) -> list[str]:
    """The ids of the selected events, which are as many as are counted."""
    events = service.ask(EVENTS, {"filter": filter})["events"]
    assert events["totalCount"] == len(events["nodes"])
    return sorted(node["eventId"] for node in events["nodes"])


TRIANGLE = [{"lat": 0, "lon": 0}, {"lat": 0, "lon": 3}, {"lat": 3, "lon": 3}]


TEXTS = ("types", "networks", "magTypes", "status", "alerts", "ids")
REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({name: ["x"] * 101}, f"`{name}` takes at most 100 values.") for name in TEXTS),
    *(({name: ["us", "x" * 1025]}, f"`{name}` takes values of at most 1,024 characters.") for name in TEXTS),
    ({"place": "x" * 1025}, "`place` takes values of at most 1,024 characters."),
    ({"polygon": [*TRIANGLE * 33, *TRIANGLE]}, "`polygon` needs 3 to 100 points."),
    ({"maxGap": 1e200}, "`maxGap` is outside of all possible values: choose a realistic one."),
]
OF_ANOTHER_TYPE: list[dict[str, Any]] = [
    *({"polygon": [*TRIANGLE, None]}, {"polygon": [*TRIANGLE, {"lat": 1}]}, {"minFelt": 2**31}, {"minSig": 1.5}),
    *({"tsunami": "yes"}, {"networks": [None]}, {"networks": [1]}),
]


def test_a_filter_that_makes_no_sense_is_refused(week: Service) -> None:
    for filter_, message in REFUSED:
        (error,) = week.answer(EVENTS, {"filter": filter_})["errors"]
        assert (error["extensions"]["code"], error["message"]) == ("BAD_USER_INPUT", message)
    for filter_ in OF_ANOTHER_TYPE:
        assert week.answer(EVENTS, {"filter": filter_})["errors"], filter_


def test_texts_are_found_in_every_spelling_and_what_is_not_known_is_within_no_bound(service: Service) -> None:
    texts: dict[str, Any] = {"type": "quarry blast", "magType": "mb_lg", "net": "ci", "status": "reviewed"}
    numbers: dict[str, Any] = {"felt": 0, "sig": 0, "gap": 0.0, "depth": 0.0, "tsunami": True}
    first = event("us1", place="8 km E of Pāhala, Hawaii", alert="red", **texts, **numbers)
    store(service, first, event("us2", place="Ōfunato", tsunami=False), event("us3", place="There"))

    for each in (
        *({"types": ["QUARRY_BLAST"]}, {"magTypes": ["Mb Lg"]}, {"networks": ["CI"]}, {"status": ["Reviewed"]}),
        *({"alerts": ["RÉD"]}, {"place": "PAHALA, hawaii"}, {"tsunami": True}),
        *({"minFelt": 0}, {"minSig": -1}, {"maxGap": 360}, {"minDepth": 0}, {"maxDepth": 700}),
    ):
        assert found(service, **each) == ["us1"], each
    assert found(service, place="ofunato") == ["us2"]
    assert found(service, tsunami=False) == ["us2", "us3"]
    assert found(service, place="") == ["us1", "us2", "us3"]
    assert found(service, types=["quarry"]) == found(service, types=[""]) == []


def test_ids_find_events_by_any_alias_each_once_also_what_a_merged_one_turned_out_to_be(service: Service) -> None:
    store(service, event("ci9", ids=["ci9", "us1"]), event("us2"), event("us3"), event("us4"))
    store(service, event("us3", updated=2, status="deleted"))

    assert found(service, ids=["us1"]) == ["ci9"]
    assert found(service, ids=["us1", "ci9", "us2", "us2"]) == ["ci9", "us2"]
    assert found(service, ids=["us1", "us2"], minMagnitude=9) == []
    for nothing in (["us3"], ["unknown", "", "\n", "x" * 65], [], ["US2"]):
        assert found(service, ids=nothing) == []
    query = '{ events(deleted: %s, filter: {ids: ["us2", "us3"]}) { totalCount } }'
    numbers = {kind: service.ask(query % kind)["events"]["totalCount"] for kind in ("EXCLUDE", "ONLY", "INCLUDE")}
    assert numbers == {"EXCLUDE": 1, "ONLY": 1, "INCLUDE": 2}

    store(service, event("us4", updated=2, ids=["us4", "ci9"]))
    store(service, event("ci9", updated=3, ids=["us2", "ci9"]))
    assert found(service) == ["ci9"]
    for event_id in ("ci9", "us1", "us2", "us4"):
        assert found(service, ids=[event_id]) == ["ci9"], event_id
    assert found(service, ids=["us1", "us2", "us4", "ci9"]) == ["ci9"]


def test_ids_find_an_event_on_the_day_that_it_had(service: Service) -> None:
    store(service, event("us1"), event("us2"))
    store(service, event("us1", updated=2, eventTsMs=1691064000000 + 86_400_000))

    assert found(service, ids=["us1"]) == ["us1"]
    then = '{ events(asOf: {first: true}, filter: {ids: ["us1"]}) { totalCount nodes { eventId dayBucket } } }'
    assert service.ask(then)["events"] == {"totalCount": 1, "nodes": [{"eventId": "us1", "dayBucket": "20230803"}]}
