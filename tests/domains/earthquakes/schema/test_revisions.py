"""Versions, aliases, merges and deletions as clients see them."""

from typing import Any

from graph.core.times import rfc3339_of_millis
from tests.service import Service
from tests.store.samples import HeldClock

INGEST = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted revised skipped } }"
NOON = 1691064000000


def event(event_id: str = "us1", mag: float = 4.5, updated: int = 1, **others: Any) -> dict[str, Any]:
    place = {"eventTsMs": NOON, "lat": 1.0, "lon": 2.0}
    return {"eventId": event_id, "mag": mag, "updatedAt": rfc3339_of_millis(NOON + updated), **place, **others}


def store(service: Service, *events: dict[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = service.ask(INGEST, {"events": list(events)})["ingestEvents"]
    return counts


def test_an_event_has_its_versions_with_their_changes(service: Service) -> None:
    store(service, event())
    assert store(service, event(mag=4.75, updated=60_000)) == {"upserted": 0, "revised": 1, "skipped": 0}
    store(service, event(mag=4.75, updated=120_000, status="deleted"))

    found = service.ask(
        """{ event(eventId: "us1") { revision mag deletion { publishedAt } revisions {
            nodes { number kind secondsAfterOrigin publishedAt changes { field before after } event { mag revision } }
            } } }"""
    )["event"]

    assert (found["revision"], found["mag"], found["deletion"]) == (
        3,
        4.75,
        {"publishedAt": "2023-08-03T12:02:00.000Z"},
    )
    nodes = found["revisions"]["nodes"]
    assert [(node["number"], node["kind"], node["event"]) for node in nodes] == [
        (1, "CREATED", {"mag": 4.5, "revision": 1}),
        (2, "REVISED", {"mag": 4.75, "revision": 2}),
        (3, "DELETED", {"mag": 4.75, "revision": 3}),
    ]
    assert [node["publishedAt"] for node in nodes] == [
        f"2023-08-03T12:{time}Z" for time in ("00:00.001", "01:00.000", "02:00.000")
    ]
    assert [node["secondsAfterOrigin"] for node in nodes] == [0.001, 60, 120]
    mag = {"field": "mag", "before": 4.5, "after": 4.75}
    status = {"field": "status", "before": None, "after": "deleted"}
    assert [node["changes"] for node in nodes] == [[], [mag], [status]]


def test_an_event_and_a_list_are_seen_as_of_a_time(service: Service, clock: HeldClock) -> None:
    store(service, event())
    clock.now += 1000
    assert store(service, event(mag=5.5, updated=2))["revised"] == 1

    for asked in (
        '{ eventVersions(asOf: {published: "2023-08-03T12:00:00TIME"}) { totalCount nodes { mag } } }',
        '{ eventVersions(asOf: {published: "2023-08-03T12:00:00TIME"}) { totalCount } }',
        '{ eventVersion(eventId: "us1", asOf: {published: "2023-08-03T12:00:00TIME"}) { mag } }',
    ):
        assert service.codes(asked.replace("TIME", "Z")) == ["HISTORY_UNAVAILABLE"]
        assert service.ask(asked.replace("TIME", ".001Z"))
    found = service.ask(
        """{ first: eventVersions(asOf: {first: true}) { totalCount nodes { mag revision } }
             now: events { totalCount nodes { mag revision } }
             one: eventVersion(eventId: "us1", asOf: {first: true}) { mag } }"""
    )
    assert found == {
        "first": {"totalCount": 1, "nodes": [{"mag": 4.5, "revision": 1}]},
        "now": {"totalCount": 1, "nodes": [{"mag": 5.5, "revision": 2}]},
        "one": {"mag": 4.5},
    }
    for given in ("{}", '{first: true, recorded: "2023-08-03T00:00:00Z"}', "{first: false}", "{first: null}"):
        (code,) = service.codes(f"{{ eventVersions(asOf: {given}) {{ totalCount }} }}")
        assert code in ("GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"), given


def test_any_id_finds_a_merged_event_and_the_younger_one_names_it(service: Service) -> None:
    store(service, event("ci9"))
    store(service, event("us1", ids=["us1", "pas3"]))
    store(service, event("us1", updated=2, ids=["us1", "ci9", "at7"]))

    found = service.ask(
        """{ a: event(eventId: "at7") { eventId preferredId aliases { eventId preferred } }
             b: event(eventId: "us1") { eventId mergedInto { eventId mag } deletion { recordedAt } }
             c: event(eventId: "pas3") { eventId }
             events { totalCount nodes { eventId } } }"""
    )

    assert found == {
        "a": {
            "eventId": "ci9",
            "preferredId": "us1",
            "aliases": [
                {"eventId": "ci9", "preferred": False},
                {"eventId": "us1", "preferred": True},
                {"eventId": "at7", "preferred": False},
                {"eventId": "pas3", "preferred": False},
            ],
        },
        "b": {"eventId": "us1", "mergedInto": {"eventId": "ci9", "mag": 4.5}, "deletion": None},
        "c": {"eventId": "ci9"},
        "events": {"totalCount": 1, "nodes": [{"eventId": "ci9"}]},
    }
