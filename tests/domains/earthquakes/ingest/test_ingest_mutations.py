"""The two mutations, over HTTP: what they take, and what they answer."""

import re
from hashlib import sha256
from itertools import product
from typing import Any

from graph import __version__
from graph.api.relay import global_id
from tests.domains.earthquakes.builders import NOON
from tests.domains.earthquakes.usgs.usgs_server import (
    FDSN_COUNT,
    FDSN_QUERY,
    UsgsServer,
    collection,
    status,
    week_features,
)
from tests.service import Service

PAYLOAD = """{
  requestId fetched upserted skipped rejected rejections { eventId code message } retries upstreamSize upstreamHash
  latencyMs
}"""
RECENT = f"mutation R($input: IngestRecentInput) {{ answer: ingestRecent(input: $input) {PAYLOAD} }}"
EVENTS = f"mutation E($input: IngestEventsInput!) {{ answer: ingestEvents(input: $input) {PAYLOAD} }}"
EVENT = {"eventId": "us1", "eventTsMs": NOON, "mag": 4.5, "lat": 35.6, "lon": -117.6}
UUID_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_the_hundred_latest_events_are_ingested_by_default(service: Service, usgs: UsgsServer) -> None:
    payload = service.ask(RECENT)["answer"]

    body = bytes(collection(week_features()[:100]).body)
    counts = {"fetched": 100, "upserted": 100, "skipped": 0, "rejected": 0, "retries": 0}
    upstream = {"upstreamSize": len(body), "upstreamHash": sha256(body).hexdigest()}
    request_id = payload["requestId"]
    assert UUID_4.fullmatch(request_id)
    assert payload == {"requestId": request_id, "rejections": [], "latencyMs": 0, **counts, **upstream}
    assert [request.query for request in usgs.requests] == ["format=geojson&orderby=time&limit=100"]


QUERY = f"{FDSN_QUERY}?format=geojson&orderby=time"
REQUESTS: list[tuple[Any, str]] = [
    (None, f"{QUERY}&limit=100"),
    ({}, f"{QUERY}&limit=100"),
    ({"limit": 20_000}, f"{QUERY}&limit=20000"),
    (
        {"limit": 6, "startTime": "1969-12-31T23:59:59.999Z", "minMagnitude": 0},
        f"{QUERY}&limit=6&starttime=1969-12-31T23%3A59%3A59.999Z&minmagnitude=0.0",
    ),
    ({"feed": "M2_5_WEEK"}, "/earthquakes/feed/v1.0/summary/2.5_week.geojson?"),
    (
        {"startTime": "2023-08-01T02:00:00.0001+02:00", "endTime": "2023-08-01T23:59:59.9999Z", "minMagnitude": 2.5},
        f"{QUERY}&limit=20000&starttime=2023-08-01T00%3A00%3A00.001Z&endtime=2023-08-01T23%3A59%3A59.999Z"
        "&minmagnitude=2.5",
    ),
    (
        {"updatedSince": "2023-08-01T02:00:00.0009+02:00"},
        f"{QUERY}&limit=20000&starttime=1000-01-01T00%3A00%3A00.000Z&updatedafter=2023-08-01T00%3A00%3A00.000Z"
        "&includedeleted=true",
    ),
    (
        {"updatedSince": "2023-08-01T00:00:00Z", "startTime": "2023-08-02T00:00:00Z", "minMagnitude": 2.5},
        f"{QUERY}&limit=20000&starttime=2023-08-02T00%3A00%3A00.000Z&minmagnitude=2.5"
        "&updatedafter=2023-08-01T00%3A00%3A00.000Z&includedeleted=true",
    ),
]


def test_the_input_becomes_a_request_to_usgs(service: Service, usgs: UsgsServer) -> None:
    usgs.hold(week_features()[:5])
    for asked, _ in REQUESTS:
        service.ask(RECENT, {"input": asked})

    assert [f"{request.path}?{request.query}" for request in usgs.requests] == [requested for _, requested in REQUESTS]
    assert {request.headers["user-agent"] for request in usgs.requests} == {f"quakegraph/{__version__}"}


TRUNCATED = "mutation R($input: IngestRecentInput) { ingestRecent(input: $input) { fetched truncated } }"
OF_A_WINDOW = {"startTime": "2023-08-03T00:00:00Z", "endTime": "2023-08-04T23:59:59.999Z"}


def test_an_ingest_of_a_window_says_whether_usgs_had_more(service: Service, usgs: UsgsServer) -> None:
    usgs.hold(week_features()[:10])
    for asked, counted, truncated in (
        ({"limit": 7, **OF_A_WINDOW}, True, True),
        ({"limit": 9, **OF_A_WINDOW}, True, True),
        ({"limit": 10, **OF_A_WINDOW}, True, False),
        ({"limit": 11, **OF_A_WINDOW}, False, False),
        (OF_A_WINDOW, False, False),
        ({"limit": 7, "updatedSince": "2023-08-01T00:00:00Z"}, True, True),
        ({"limit": 7}, False, False),  # the latest seven are all that was asked for
    ):
        usgs.requests.clear()
        payload = service.ask(TRUNCATED, {"input": asked})["ingestRecent"]

        assert payload["truncated"] == truncated
        assert [request.path for request in usgs.requests] == [FDSN_QUERY] + [FDSN_COUNT] * counted


def test_a_full_answer_counts_as_cut_where_usgs_does_not_count(service: Service, usgs: UsgsServer) -> None:
    usgs.answer_next(usgs.catalogue, status(400))

    payload = service.ask(TRUNCATED, {"input": {"limit": 7, **OF_A_WINDOW}})["ingestRecent"]

    assert payload == {"fetched": 7, "truncated": True}


def test_every_feed_of_the_graph_is_one_of_usgs(service: Service, usgs: UsgsServer) -> None:
    feeds = service.ask('{ __type(name: "UsgsFeed") { enumValues { name } } }')["__type"]["enumValues"]

    usgs.answer_next(*[collection([])] * len(feeds))
    for feed in feeds:
        service.ask(RECENT, {"input": {"feed": feed["name"]}})

    names = product(("all", "1.0", "2.5", "4.5", "significant"), ("hour", "day", "week", "month"))
    assert [request.path for request in usgs.requests] == [
        f"/earthquakes/feed/v1.0/summary/{level}_{period}.geojson" for level, period in names
    ]


def test_given_events_are_stored_as_they_are_given(service: Service) -> None:
    full = {
        **EVENT, "eventId": "us2", "place": "10 km S of Here", "depth": 8.5, "source": "EMSC", "magType": "mww",
        "type": "quarry blast", "status": "reviewed", "updatedAt": "2023-08-03T12:00:00.001Z", "url": "https://example.org/us2",
        "tsunami": True, "felt": 3, "alert": "green", "sig": 312,
    }  # fmt: skip

    payload = service.ask(EVENTS, {"input": {"events": [EVENT, full]}})["answer"]

    assert (payload["fetched"], payload["upserted"], payload["upstreamSize"], payload["retries"]) == (2, 2, None, 0)
    names = " ".join(full)
    stored = service.ask(f'{{ bare: event(eventId: "us1") {{ {names} }} full: event(eventId: "us2") {{ {names} }} }}')
    assert stored["full"] == full
    assert stored["bare"] == {**dict.fromkeys(full), **EVENT, "place": "35.60°N 117.60°W", "source": "USGS"}


def test_no_events_are_no_error_and_a_window_beyond_the_calendar_is_no_defect(
    service: Service, usgs: UsgsServer
) -> None:
    payload = service.ask(EVENTS, {"input": {"events": []}})["answer"]

    assert [payload[name] for name in ("fetched", "upserted", "skipped", "rejected")] == [0, 0, 0, 0]
    for time in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        assert service.codes(RECENT, {"input": {"startTime": time}}) == ["BAD_USER_INPUT"]
    assert usgs.requests == []


REJECTED = """mutation E($input: IngestEventsInput!) {
  ingestEvents(input: $input) { upserted rejections { index eventId code message } }
}"""
TIMELESS = {name: value for name, value in EVENT.items() if name != "eventTsMs"}


def test_an_origin_time_may_be_given_as_a_time(service: Service) -> None:
    times = {
        "2023-08-03T12:00:00.5Z": 1_691_064_000_500,
        "2023-08-03T14:00:00.9999+02:00": 1_691_064_000_999,
        "1969-12-31T23:59:59.9995Z": -1,
        "2023-08-03": 1_691_020_800_000,
    }
    events = [{**TIMELESS, "eventId": f"us{number}", "time": time} for number, time in enumerate(times)]

    assert service.ask(REJECTED, {"input": {"events": events}})["ingestEvents"] == {"upserted": 4, "rejections": []}

    stored = service.ask("{ events { nodes { eventId eventTsMs } } }")["events"]["nodes"]
    expected = {f"us{number}": time_ms for number, time_ms in enumerate(times.values())}
    assert {each["eventId"]: each["eventTsMs"] for each in stored} == expected


def test_an_event_with_both_times_or_none_rejects_itself_alone_but_a_deletion_needs_none(service: Service) -> None:
    time = "2023-08-03T12:00:00Z"
    timed = {**TIMELESS, "eventId": "us3", "time": time, "updatedAt": time}
    events = [EVENT, TIMELESS, {**EVENT, "eventId": "us2", "time": time}, timed]
    deleted = {**TIMELESS, "eventId": "us3", "status": "deleted", "updatedAt": "2023-08-03T12:00:00.001Z"}

    payload = service.ask(REJECTED, {"input": {"events": events}})["ingestEvents"]

    message = "The event needs either `eventTsMs` or `time`, and not both."
    assert payload["upserted"] == 2
    assert payload["rejections"] == [
        {"index": at, "eventId": event_id, "code": "TIME_INVALID", "message": message}
        for at, event_id in ((1, "us1"), (2, "us2"))
    ]
    assert service.ask(REJECTED, {"input": {"events": [deleted]}})["ingestEvents"]["rejections"] == []
    assert service.ask('{ event(eventId: "us3") { reviewStatus } }') == {"event": {"reviewStatus": "DELETED"}}


def test_an_event_with_an_id_of_another_type_rejects_itself_alone(service: Service) -> None:
    events = [{**EVENT, "eventId": global_id("Run", "us2")}, EVENT]

    message = "An event's id is text of at most 64 characters, without control characters."
    assert service.ask(REJECTED, {"input": {"events": events}})["ingestEvents"] == {
        "upserted": 1,
        "rejections": [{"index": 0, "eventId": None, "code": "ID_INVALID", "message": message}],
    }


LISTED = """mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) {
  events { index eventId outcome event { eventId mag } } } }"""


def listed(service: Service, *events: dict[str, Any]) -> list[tuple[Any, ...]]:
    found = service.ask(LISTED, {"events": events})["ingestEvents"]["events"]
    return [(*(each[name] for name in ("index", "eventId", "outcome")), each["event"]) for each in found]


def test_an_ingest_answers_its_events_with_their_outcome_the_changed_ones_first(service: Service) -> None:
    us2 = {**EVENT, "eventId": "us2", "ids": ["us2", "ci2"], "updatedAt": "2023-08-03T12:00:00Z"}
    us3 = {**EVENT, "eventId": global_id("Event", "us3")}
    assert listed(service, us2, us3) == [
        (0, "us2", "CREATED", {"eventId": "us2", "mag": 4.5}),
        (1, "us3", "CREATED", {"eventId": "us3", "mag": 4.5}),
    ]

    alias = {**us2, "eventId": "ci2", "mag": 5.0, "updatedAt": "2023-08-03T13:00:00Z"}
    deleted = {**us3, "status": "deleted", "updatedAt": "2023-08-03T13:00:00Z"}
    assert listed(service, us2, alias, {**EVENT, "lat": 91}, deleted, EVENT) == [
        (1, "ci2", "REVISED", {"eventId": "us2", "mag": 5.0}),
        (3, "us3", "DELETED", {"eventId": "us3", "mag": 4.5}),
        (4, "us1", "CREATED", {"eventId": "us1", "mag": 4.5}),
        (0, "us2", "SKIPPED", {"eventId": "us2", "mag": 5.0}),
    ]
    many = listed(service, *({**EVENT, "eventId": f"ev{number}"} for number in range(101)), us2)
    assert [each[:3] for each in many] == [(number, f"ev{number}", "CREATED") for number in range(100)]


def test_the_alert_and_the_status_are_enumerations_beside_the_texts(service: Service) -> None:
    names = ("alert", "status", "alertLevel", "reviewStatus")
    rows = [
        ("green", "reviewed", "GREEN", "REVIEWED"),
        ("Orange", "AUTOMATIC", "ORANGE", "AUTOMATIC"),
        ("pending", "manual", None, None),
        (None, None, None, None),
    ]
    for number, (alert, state, *_) in enumerate(rows):
        event = {**EVENT, "eventId": f"us{number}", "eventTsMs": NOON + number, "alert": alert, "status": state}
        service.ask(REJECTED, {"input": {"events": [event]}})

    expected = [dict(zip(names, row, strict=True)) for row in rows]
    fields = " ".join(names)
    for _ in range(3):  # the compiled way from the second time on
        found = service.ask(f"{{ events(orderBy: TIME_ASC) {{ nodes {{ {fields} }} }} }}")["events"]["nodes"]
        assert found == expected
        for number, one in enumerate(expected):
            assert service.ask(f'{{ event(eventId: "us{number}") {{ {fields} }} }}') == {"event": one}


def test_every_instant_of_an_event_is_a_time(service: Service) -> None:
    published, now = "2023-08-03T12:00:00.001Z", "2023-11-14T22:13:20.000Z"  # the latter of the clock that is held
    event = {**EVENT, "updatedAt": published}
    assert service.ask(REJECTED, {"input": {"events": [event]}})["ingestEvents"]["upserted"] == 1

    fields = "ingestedTime updatedAt recordedAt publishedAt revisions { nodes { recordedAt publishedAt } }"
    assert service.ask(f'{{ event(eventId: "us1") {{ {fields} }} }}')["event"] == {
        "ingestedTime": now,
        "updatedAt": published,
        "recordedAt": now,
        "publishedAt": published,
        "revisions": {"nodes": [{"recordedAt": now, "publishedAt": published}]},
    }
