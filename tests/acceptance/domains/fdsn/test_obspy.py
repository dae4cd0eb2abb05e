"""Seismologists' own programs against the running service: ObsPy and SeismoStats."""

import warnings
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graph.domains.fdsn.event_types import QUAKEML_TYPES, quakeml_type
from tests.domains.earthquakes.schema.test_revisions import store
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.service import Service, running, settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from obspy import UTCDateTime, read_events
    from obspy.clients.fdsn import Client
    from obspy.clients.fdsn.header import FDSNBadRequestException, FDSNNoDataException, FDSNUnauthorizedException
    from obspy.core.event.header import EventType
    from obspy.io.quakeml.core import _validate
    from seismostats import FDSNWSEventClient

pytestmark = pytest.mark.filterwarnings("ignore")  # what these programs warn of is their own

ROOT = "/fdsnws/event/1"


class Seen(NamedTuple):
    """What a program has read of an event."""

    event_id: str
    time_ms: int
    lat: float
    lon: float
    depth_km: float | None
    mag: float
    type: str | None


@pytest.fixture(scope="module")
def obspy(week: Service) -> Any:
    """ObsPy's client, which has discovered the service."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # ObsPy warns of a service that lacks a parameter
        return Client(week.url)


@pytest.fixture(scope="module")
def published() -> list[Seen]:
    """The whole week as USGS has published it, the newest event first."""
    return [
        Seen(feature["id"], properties["time"], lat, lon, depth, properties["mag"], properties["type"])
        for feature in week_features()
        for properties in (feature["properties"],)
        for lon, lat, depth in (feature["geometry"]["coordinates"],)
    ]


def seen_by_obspy(event: Any) -> Seen:
    origin, magnitude = event.preferred_origin() or event.origins[0], event.preferred_magnitude() or event.magnitudes[0]
    return Seen(
        str(event.resource_id).rpartition("/")[2],
        round(origin.time.ns / 1e6),
        origin.latitude,
        origin.longitude,
        None if origin.depth is None else round(origin.depth / 1000, 6),
        magnitude.mag,
        event.event_type,
    )


def as_quakeml(seen: Seen) -> Seen:
    """What QuakeML keeps: a depth to the millimetre, and one of its types."""
    depth = None if seen.depth_km is None else round(seen.depth_km, 6)
    return seen._replace(depth_km=depth, type=quakeml_type(seen.type) if seen.type else None)


def test_obspy_reads_the_whole_week_event_by_event(obspy: Any, published: list[Seen], week: Service) -> None:
    catalogue = obspy.get_events()

    assert [seen_by_obspy(event) for event in catalogue] == [as_quakeml(each) for each in published]
    assert len(catalogue) == int(week.http.get(f"{ROOT}/count").text) == len(published) == 2124
    assert {event.preferred_origin().evaluation_mode for event in catalogue} == {"automatic", "manual"}


def test_obspy_discovers_the_parameters_and_the_sources(obspy: Any) -> None:
    assert set(obspy.services) == {"event", "available_event_catalogs", "available_event_contributors"}
    assert obspy.get_webservice_version("event") == [1, 2, 0]
    assert obspy.services["available_event_catalogs"] == {"USGS"}
    assert "nc" in obspy.services["available_event_contributors"]
    assert {"minradius", "includeallorigins", "updatedafter", "maxradiuskm", "reviewstatus"} <= set(
        obspy.services["event"]
    )


def test_obspy_asks_by_each_kind_of_parameter(obspy: Any, published: list[Seen]) -> None:
    day = UTCDateTime("2023-08-01")
    midnight = int(day.timestamp * 1000)
    of_day = [each for each in published if midnight <= each.time_ms <= midnight + 86_400_000]

    assert ids(obspy.get_events(starttime=day, endtime=day + 86_400)) == [each.event_id for each in of_day]
    strong = [each.event_id for each in reversed(published) if each.mag >= 5.5]
    assert ids(obspy.get_events(minmagnitude=5.5, orderby="time-asc")) == strong
    blasts = [each.event_id for each in published if each.type == "quarry blast"]
    assert ids(obspy.get_events(eventtype="quarry blast")) == blasts
    assert ids(obspy.get_events(limit=10, offset=11)) == [each.event_id for each in published[10:20]]
    everything = obspy.get_events(includeallorigins=True, includeallmagnitudes=True, includearrivals=True, limit=5)
    assert len(everything) == 5


def ids(catalogue: Any) -> list[str]:
    return [str(event.resource_id).rpartition("/")[2] for event in catalogue]


def test_obspy_knows_the_refusals(obspy: Any, tmp_path: Path, usgs: UsgsServer) -> None:
    with pytest.raises(FDSNNoDataException):
        obspy.get_events(minmagnitude=9.9)
    with pytest.raises(FDSNBadRequestException, match="must not be greater"):
        obspy.get_events(minmagnitude=5, maxmagnitude=4)

    with running(settings(tmp_path / "closed.db", usgs, public_read=False)) as closed:
        direct = Client(closed.url, service_mappings={"event": closed.url + ROOT}, _discover_services=False)
        with pytest.raises(FDSNUnauthorizedException, match="needs a token with `events:read`"):
            direct.get_events(limit=1)


def test_every_xml_answer_is_valid_quakeml(week: Service) -> None:
    everything = "minmagnitude=5.5&includeallorigins=true&includeallmagnitudes=true"
    for query in ("", "limit=1", everything, "orderby=magnitude&limit=7"):
        answer = week.http.get(f"{ROOT}/query?{query}")
        assert answer.headers["content-type"] == "application/xml; charset=utf-8"
        assert _validate(BytesIO(answer.content), verbose=True)


def test_obspy_reads_the_versions_of_an_event(revised: Service) -> None:
    client = Client(revised.url)
    (event,) = client.get_events(eventid="us1", includeallorigins=True, includeallmagnitudes=True)

    assert [origin.latitude for origin in event.origins] == [1.6, 1.5, 1.0]
    assert event.preferred_origin() is event.origins[0]
    assert event.preferred_magnitude() is event.magnitudes[0]
    assert [each.event_type for each in client.get_events(includedeleted="only")] == ["not existing"]
    everything = "includeallorigins=true&includeallmagnitudes=true&includedeleted=true"
    assert _validate(BytesIO(revised.http.get(f"{ROOT}/query?{everything}").content), verbose=True)
    newest = FDSNWSEventClient(f"{revised.url}{ROOT}/query").get_events(include_all_magnitudes=True)
    assert list(newest["magnitude"]) == [5.5, 4.5]


def test_hostile_values_are_valid_quakeml_and_lose_no_event(tmp_path: Path, usgs: UsgsServer) -> None:
    events: list[dict[str, Any]] = [
        {"eventId": "a b|c", "place": "<&>\"' | \u0085 😀", "type": "dragon", "magType": "x" * 100},
        {"eventId": "Ω:/?#", "place": "x" * 512, "type": "<script>", "status": "guessed", "depth": None},
        {
            "eventId": "~41~",
            "eventTsMs": -62_135_596_800_000,
            "source": "y" * 200,
            "updatedAt": "1969-12-31T23:59:59.995Z",
        },
        {
            "eventId": "]]>",
            "lat": -90,
            "lon": 180,
            "depth": 6371,
            "mag": -2,
            "type": "",
            "updatedAt": "9999-12-31T23:59:59.999Z",
        },
        {"eventId": "%2F..", "mag": 1e-9, "lat": 1e-7, "place": "]]>"},
    ]
    given = [{"eventTsMs": 1_691_000_000_000, "mag": 5, "lat": 0, "lon": 0, **event} for event in events]
    with running(settings(tmp_path / "hostile.db", usgs)) as service:
        store(service, *given)
        answer = service.http.get(f"{ROOT}/query").content
        catalogue = Client(service.url).get_events(orderby="time-asc")
        read = list(catalogue)
        for event in read:
            assert len(Client(service.url).get_events(eventid=str(event.resource_id))) == 1

    assert _validate(BytesIO(answer), verbose=True)
    assert len(read) == len(events)
    assert {event.event_type for event in read} == {"other event", None}
    assert read[0].preferred_origin().time == UTCDateTime(1, 1, 1)


def test_obspy_reads_the_text(week: Service, published: list[Seen]) -> None:
    catalogue = read_events(f"{week.url}{ROOT}/query?format=text")

    read = [seen_by_obspy(event)._replace(type=None) for event in catalogue]
    assert read == [as_quakeml(each)._replace(type=None) for each in published]


def test_seismostats_reads_the_week_at_once_and_in_batches(week: Service, published: list[Seen]) -> None:
    client = FDSNWSEventClient(f"{week.url}{ROOT}/query")

    for catalogue in (client.get_events(include_ids=True), client.get_events(include_ids=True, batch_size=300)):
        assert [name.rpartition("/")[2] for name in catalogue["eventID"]] == [each.event_id for each in published]
        assert list(catalogue["magnitude"]) == [each.mag for each in published]
        assert list(catalogue["event_type"]) == [each.type for each in published]
    day = client.get_events(datetime(2023, 8, 1), datetime(2023, 8, 2), min_magnitude=2.5)  # noqa: DTZ001 # as it is used
    assert len(day) == sum(
        each.mag >= 2.45 and 1_690_848_000_000 <= each.time_ms <= 1_690_934_400_000 for each in published
    )
    assert len(client.get_events(min_magnitude=9.5)) == 0


def test_obspy_knows_every_type_that_is_written() -> None:
    """It would drop an event of another type."""
    assert set(EventType.keys()) == QUAKEML_TYPES
