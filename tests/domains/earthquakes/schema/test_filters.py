"""Filters of events as clients send them, and as they are kept: spellings, ids of every kind, and what is refused."""

from dataclasses import fields, replace
from typing import Any

import pytest

from graph.api.relay import global_id
from graph.api.text_arguments import TextArguments
from graph.core.errors import BadUserInput
from graph.core.names import camel_case
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.schema.filter_json import filter_as_json, selection_of_json
from graph.domains.earthquakes.schema.filters import EventFilter
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.conditions import conditions_of
from graph.geography.areas import Box, Circle
from graph.geography.polygon import Polygon
from tests.domains.earthquakes.builders import at
from tests.domains.earthquakes.schema.test_revisions import event, store
from tests.service import Service

EVENTS = "query($filter: EventFilter) { events(filter: $filter) { totalCount nodes { eventId } } }"


def found(service: Service, **filter: Any) -> list[str]:
    """The ids of the selected events, which are as many as are counted."""
    events = service.ask(EVENTS, {"filter": filter})["events"]
    assert events["totalCount"] == len(events["nodes"])
    return sorted(node["eventId"] for node in events["nodes"])


TRIANGLE = [{"lat": 0, "lon": 0}, {"lat": 0, "lon": 3}, {"lat": 3, "lon": 3}]


TEXTS = ("types", "networks", "magTypes", "eventIds")
TOO_LARGE = (
    "`filter` is too large. A filter with `or` or `not` takes at most 40 conditions in all, on 5 levels below it. "
    "An area counts as three conditions, a list once for each ten values."
)


def nested(levels: int) -> dict[str, Any]:
    """A filter within so many others."""
    filter_: dict[str, Any] = {"minSig": 1}
    for _ in range(levels):
        filter_ = {"not": filter_}
    return filter_


REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({name: ["x"] * 101}, f"`{name}` takes at most 100 values.") for name in TEXTS),
    *(({name: ["us", "x" * 1025]}, f"`{name}` takes values of at most 1,024 characters.") for name in TEXTS),
    ({"place": "x" * 1025}, "`place` takes values of at most 1,024 characters."),
    ({"polygon": [*TRIANGLE * 33, *TRIANGLE]}, "`polygon` needs 3 to 100 points."),
    ({"or": [{"minSig": 1}] * 41}, TOO_LARGE),
    ({"not": {"eventIds": ["us1"] * 401}}, "`eventIds` takes at most 100 values."),
    ({"or": [{"circle": {"lat": 1, "lon": 2, "radiusKm": 3}}] * 13, "not": {"minSig": 1, "maxSig": 2}}, TOO_LARGE),
    ({"or": [{"polygon": TRIANGLE * 33}] * 4}, TOO_LARGE),
    (nested(6), TOO_LARGE),
    ({"or": [{"or": [{}] * 900}] * 20}, TOO_LARGE),
    ({"maxGap": 1e200}, "`maxGap` is outside of all possible values: choose a realistic one."),
]
OF_ANOTHER_TYPE: list[dict[str, Any]] = [
    *({"polygon": [*TRIANGLE, None]}, {"polygon": [*TRIANGLE, {"lat": 1}]}, {"minFelt": 2**31}, {"minSig": 1.5}),
    *({"tsunami": "yes"}, {"networks": [None]}, {"networks": [1]}),
    *({"statuses": ["reviewed"]}, {"alerts": ["PINK"]}, {"or": [{"statuses": ["typo"]}]}, {"or": [None]}),
    nested(100),
    nested(800),
]


def test_a_filter_that_makes_no_sense_is_refused(week: Service) -> None:
    for filter_, message in REFUSED:
        (error,) = week.answer(EVENTS, {"filter": filter_})["errors"]
        assert (error["extensions"]["code"], error["message"]) == ("BAD_USER_INPUT", message)
    for filter_ in OF_ANOTHER_TYPE:
        assert week.answer(EVENTS, {"filter": filter_})["errors"], filter_


def test_texts_are_found_in_every_spelling_and_what_is_not_known_is_within_no_bound(service: Service) -> None:
    texts: dict[str, Any] = {"type": "quarry blast", "magType": "mb_lg", "net": "ci", "status": "Reviewed"}
    numbers: dict[str, Any] = {"felt": 0, "sig": 0, "gap": 0.0, "depth": 0.0, "tsunami": True}
    first = event("us1", place="8 km E of Pāhala, Hawaii", alert="réd", **texts, **numbers)
    store(service, first, event("us2", place="Ōfunato", tsunami=False), event("us3", place="There"))

    for each in (
        *({"types": ["QUARRY_BLAST"]}, {"magTypes": ["Mb Lg"]}, {"networks": ["CI"]}, {"statuses": ["REVIEWED"]}),
        *({"alerts": ["RED"]}, {"place": "PAHALA, hawaii"}, {"tsunami": True}),
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

    assert found(service, eventIds=["us1"]) == ["ci9"]
    assert found(service, eventIds=["us1", "ci9", "us2", "us2"]) == ["ci9", "us2"]
    assert found(service, eventIds=[global_id("Event", "us1"), global_id("Event", "us2")]) == ["ci9", "us2"]
    assert service.codes(EVENTS, {"filter": {"eventIds": [global_id("RequestLog", "us1")]}}) == ["BAD_USER_INPUT"]
    assert found(service, eventIds=["us1", "us2"], minMagnitude=9) == []
    assert found(service, **{"not": {"eventIds": ["us1", "us2"]}}) == ["us4"]
    assert found(service, **{"or": [{"eventIds": ["us1"]}, {"eventIds": ["us4"], "minMagnitude": 9}]}) == ["ci9"]
    for nothing in (["us3"], ["unknown", "", "\n", "x" * 65], [], ["US2"]):
        assert found(service, eventIds=nothing) == []
    query = '{ events(deleted: %s, filter: {eventIds: ["us2", "us3"]}) { totalCount } }'
    numbers = {kind: service.ask(query % kind)["events"]["totalCount"] for kind in ("EXCLUDE", "ONLY", "INCLUDE")}
    assert numbers == {"EXCLUDE": 1, "ONLY": 1, "INCLUDE": 2}

    store(service, event("us4", updated=2, ids=["us4", "ci9"]))
    store(service, event("ci9", updated=3, ids=["us2", "ci9"]))
    assert found(service) == ["ci9"]
    for event_id in ("ci9", "us1", "us2", "us4"):
        assert found(service, eventIds=[event_id]) == ["ci9"], event_id
    assert found(service, eventIds=["us1", "us2", "us4", "ci9"]) == ["ci9"]

    ids = [f"ci{number}" for number in range(100, 151)]
    store(service, *[event(each) for each in ids])
    merged = [f"nc{each}" for each in ids]
    store(service, *[event(each, eventTsMs=0) for each in merged])
    store(service, *[event(each, updated=3, ids=[each, f"nc{each}"]) for each in ids])
    assert service.ask(EVENTS, {"filter": {"eventIds": merged}})["events"]["totalCount"] == len(ids)


def test_ids_find_an_event_on_the_day_that_it_had(service: Service) -> None:
    store(service, event("us1"), event("us2"))
    store(service, event("us1", updated=2, eventTsMs=1691064000000 + 86_400_000))

    assert found(service, eventIds=["us1"]) == ["us1"]
    then = (
        '{ eventVersions(asOf: {first: true}, filter: {eventIds: ["us1"]}) { totalCount nodes { eventId dayBucket } } }'
    )
    assert service.ask(then)["eventVersions"] == {
        "totalCount": 1,
        "nodes": [{"eventId": "us1", "dayBucket": "20230803"}],
    }


# A filter that is kept as JSON


def _itself(filter: EventFilter | None = None) -> EventFilter | None:
    return filter


FILTERS = TextArguments(_itself, spread="filter")
"""Reads a filter as the graph reads a variable."""

BOUNDS: dict[str, Any] = {name: 4 for name, each in conditions_of(Selection).items() if each.operator}

STORED: dict[str, Any] = {
    **{camel_case(name): bound for name, bound in BOUNDS.items()},  # those that are not below
    "startTime": "2023-08-03T02:52:13.180500+00:00",
    "endTime": "2023-08-04",
    "minMagnitude": 4.5,
    "maxMagnitude": 9,
    "minDepth": 0.0,
    "maxDepth": 70.5,
    "box": {"minLat": -25.0, "maxLat": 60.0, "minLon": 170.0, "maxLon": -100.0},
    "circle": {"lat": 35.6, "lon": -117.6, "radiusKm": 12345.6},
    "polygon": [{"lat": 0.0, "lon": 0.0}, {"lat": 0.0, "lon": 3.5}, {"lat": 3.0, "lon": 3.0}],
    "types": ["earthquake", "QUARRY_BLAST"],
    "networks": ["ci", "ñc"],
    "magTypes": ["mww"],
    "statuses": ["REVIEWED"],
    "alerts": [],
    "tsunami": False,
    "minFelt": 0,
    "minSig": 600,
    "maxSig": 900,
    "maxGap": 90.0,
    "place": "pāhala",
    "eventIds": ["us7000abcd"],
    "or": [{"statuses": ["DELETED"], "or": [{"types": ["ice quake"]}]}, {"startTime": "2023-08-03"}],
    "not": {"alerts": ["GREEN"]},
}
"""A filter with every field, as it stands in stores. Never change it: add what is new."""

READ = replace(
    Selection(**BOUNDS),
    start_ms=at("2023-08-03T02:52:13.181"),
    end_ms=at("2023-08-04T23:59:59.999"),
    magnitudes=MagnitudeRange(4.5, 9.0),
    min_depth=0.0,
    max_depth=70.5,
    box=Box(-25, 60, 170, -100),
    circle=Circle(35.6, -117.6, 12345.6),
    polygon=Polygon(((0, 0), (0, 3.5), (3, 3))),
    types=("earthquake", "QUARRY_BLAST"),
    networks=("ci", "ñc"),
    mag_types=("mww",),
    statuses=("reviewed",),
    alerts=(),
    tsunami=False,
    min_felt=0,
    min_sig=600,
    max_sig=900,
    max_gap=90.0,
    place="pāhala",
    event_ids=("us7000abcd",),
    any_of=(
        Selection(statuses=("deleted",), any_of=(Selection(types=("ice quake",)),)),
        Selection(start_ms=at("2023-08-03")),
    ),
    none_of=Selection(alerts=("green",)),
)


def test_a_filter_is_read_as_it_stands_in_stores() -> None:
    assert selection_of_json(STORED) == READ
    filter_ = FILTERS.read_json({"filter": STORED})
    assert filter_
    assert filter_as_json(filter_) == STORED
    assert len(STORED) == len(fields(EventFilter))  # so no field is missing above
    assert selection_of_json({}) == selection_of_json({"circle": None}) == Selection()


def test_what_the_graph_refuses_is_no_filter() -> None:
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"minMag": 5}, "not to include unknown field 'minMag'"),
        ({"minMagnitude": "5"}, "Float"),
        ({"startTime": "yesterday"}, "DateTime must be a time of RFC 3339"),
        ({"circle": {"lat": 1, "lon": 2}}, "required field 'radiusKm'"),
        ({"circle": {"lat": 91, "lon": 2, "radiusKm": 3}}, "`circle` needs lat from -90 to 90"),
        ({"minMagnitude": 5, "maxMagnitude": 4}, "`minMagnitude` must not be greater than `maxMagnitude`"),
        ({"or": []}, "`or` must have a filter"),
        ({"not": {"or": [{"minGap": 5, "maxGap": 4}]}}, "`minGap` must not be greater than `maxGap`"),
        ({"minGap": 5, "maxGap": 4}, "`minGap` must not be greater than `maxGap`"),
    ]
    for json, message in refusals:
        with pytest.raises(BadUserInput) as refused:
            selection_of_json(json)
        assert message in str(refused.value)
