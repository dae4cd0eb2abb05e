"""What the service says of revised, deleted, renamed and merged events."""

from io import BytesIO
from xml.etree import ElementTree

from graph.core.days import datetime_of
from tests.service import Service
from tests.store.samples import HeldClock

ROOT = "/fdsnws/event/1"
BED = "{http://quakeml.org/xmlns/bed/1.2}"


def events(service: Service, query: str) -> dict[str, ElementTree.Element]:
    """The events of an answer, by id, in its order."""
    answer = service.http.get(f"{ROOT}/query?{query}")
    if answer.status_code == 204:
        return {}
    assert answer.status_code == 200, answer.text
    found = ElementTree.parse(BytesIO(answer.content)).iter(f"{BED}event")  # noqa: S314 # of our own making
    return {event.attrib["publicID"].rpartition("/")[2]: event for event in found}


def texts(event: ElementTree.Element, path: str) -> list[str]:
    """The texts of these elements."""
    return [each.text or "" for each in event.findall("/".join(f"{BED}{name}" for name in path.split("/")))]


def local_ids(event: ElementTree.Element, name: str) -> list[str]:
    """The ends of the elements' public ids."""
    return [each.attrib["publicID"].partition(f"/{name}/")[2] for each in event.findall(f"{BED}{name}")]


def test_an_event_has_its_latest_origin_and_magnitude_or_those_of_all_versions_each_once(revised: Service) -> None:
    latest = events(revised, "eventid=us1")["us1"]
    assert texts(latest, "magnitude/mag/value") == ["4.5"]
    assert texts(latest, "origin/latitude/value") == ["1.6"]
    assert texts(latest, "preferredOriginID") == ["quakeml:quakegraph/origin/us1/4"]
    assert texts(latest, "creationInfo/version") == ["4"]

    origins = events(revised, "eventid=us1&includeallorigins=true")["us1"]
    assert local_ids(origins, "origin") == ["us1/4", "us1/3", "us1/1"]
    assert texts(origins, "origin/latitude/value") == ["1.6", "1.5", "1.0"]
    assert texts(origins, "origin/evaluationMode") == ["manual", "manual", "automatic"]
    assert local_ids(origins, "magnitude") == ["us1/4"]

    magnitudes = events(revised, "includeallmagnitudes=true")["us1"]
    assert local_ids(magnitudes, "magnitude") == ["us1/4", "us1/3"]
    assert texts(magnitudes, "magnitude/mag/value") == ["4.5", "4.8"]
    assert texts(magnitudes, "magnitude/type") == ["mb", "mww"]
    assert texts(magnitudes, "magnitude/originID") == ["quakeml:quakegraph/origin/us1/4"] * 2

    both = events(revised, "includeallmagnitudes=true&includeallorigins=true")["us1"]
    assert [each.rpartition("/")[2] for each in texts(both, "magnitude/originID")] == ["4", "3"]


def test_deleted_events_are_left_out_unless_they_are_asked_for(revised: Service) -> None:
    assert list(events(revised, "")) == ["us3", "us1"]
    assert list(events(revised, "includedeleted=true")) == ["us3", "us2", "us1"]
    deleted = events(revised, "includedeleted=only")
    assert list(deleted) == ["us2"]
    assert texts(deleted["us2"], "type") == ["not existing"]
    assert texts(deleted["us2"], "origin/evaluationStatus") == ["rejected"]
    for query, count in {"": 2, "includedeleted=true": 3, "includedeleted=only": 1, "eventid=us2": 0}.items():
        assert int(revised.http.get(f"{ROOT}/count?{query}").text) == count
    assert events(revised, "eventid=us2") == {}
    assert list(events(revised, "eventid=us2&includedeleted=true")) == ["us2"]
    assert list(events(revised, "eventid=us1,us2&includedeleted=only")) == ["us2"]


def test_deleted_events_are_in_the_order_of_the_others(revised: Service) -> None:
    for order, expected in (("time", ["us3", "us2", "us1"]), ("magnitude", ["us2", "us3", "us1"])):
        for name, ordered in ((order, expected), (f"{order}-asc", expected[::-1])):
            query = f"includedeleted=true&orderby={name}"
            assert list(events(revised, query)) == ordered
            parts = [list(events(revised, f"{query}&limit=1&offset={number}")) for number in (1, 2, 3, 4)]
            assert parts == [[ordered[0]], [ordered[1]], [ordered[2]], []]


def test_an_event_is_found_by_each_of_its_ids(revised: Service) -> None:
    for name in ("us3", "nc9", "us4", "quakeml:quakegraph/event/nc9", "us4,us3,nc9"):
        assert list(events(revised, f"eventid={name}")) == ["us3"]
    assert events(revised, "eventid=us4&maxmagnitude=5") == {}


def test_updated_after_selects_what_was_stored_or_revised_since(revised: Service) -> None:
    first = HeldClock().now + 4000  # when the fourth record was ingested

    def after(time_ms: int) -> list[str]:
        return list(events(revised, f"updatedafter={datetime_of(time_ms):%Y-%m-%dT%H:%M:%S.%f}"))

    assert after(first - 1) == ["us3", "us1"]
    assert after(first) == ["us3"]
    assert list(events(revised, "updatedafter=2030-01-01")) == []
