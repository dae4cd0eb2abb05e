"""Reads one feature of a USGS GeoJSON answer: into an event, by the rules of `rules`, or only its ids or time."""

from typing import Any

from graph.core.geojson.feature_json import RawFeature, UnreadableFeature
from graph.core.numbers import whole
from graph.domains.earthquakes.model import DETAILS, SOURCE, Incoming, is_deletion, listed, possible_id
from graph.domains.earthquakes.rules import (
    EventProblem,
    EventRejection,
    RejectedFeature,
    checked_deletion,
    event_reader,
)


def read_record(feature: RawFeature, *, ingested_at: int) -> Incoming:
    """Read one feature of a USGS GeoJSON answer.

    Args:
        feature: `geometry.coordinates` is [longitude °E, latitude °N, depth km];
            `properties.time` is epoch milliseconds, UTC.
        ingested_at: epoch milliseconds, UTC.

    Returns:
        The event; `depth` is None where the feed has null, since 0.0 is a measurement. Or the deletion
        of an event, which may lack every value but its id.

    Raises:
        RejectedFeature: It is not a feature, or its id, time, magnitude or a coordinate is missing
            or out of range.

    Source: https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php
    """
    if isinstance(feature, UnreadableFeature):
        message = f"Feature {feature.position} is {feature.reason}."
        raise RejectedFeature(EventRejection(None, EventProblem.FEATURE_UNREADABLE, message))
    event_id, properties = feature.get("id"), _mapping(feature.get("properties"))
    get = properties.get
    if is_deletion(get("status")):
        return checked_deletion(event_id, ids=get("ids"), updated=get("updated"))
    coordinates = _mapping(feature.get("geometry")).get("coordinates")
    if coordinates.__class__ is not list:
        coordinates = []
    lon, lat, depth = coordinates if len(coordinates) == 3 else [*coordinates, None, None, None][:3]
    return _read_event(
        event_id, get("time"), get("mag"), get("place"), lat, lon, depth, SOURCE, ingested_at, properties
    )


def ids_of(feature: RawFeature) -> set[str]:
    """All possible ids of the feature's event, the preferred one among them."""
    if isinstance(feature, UnreadableFeature):
        return set()
    others = _mapping(feature.get("properties")).get("ids")
    named = listed(others) if isinstance(others, str) else ()
    return {str(event_id) for event_id in (feature.get("id"), *named) if possible_id(event_id)}


def time_of(feature: RawFeature) -> int | None:
    """The origin time, epoch milliseconds; None where it is not a whole number."""
    if isinstance(feature, UnreadableFeature):
        return None
    return whole(_mapping(feature.get("properties")).get("time"))


_read_event = event_reader(lambda name: DETAILS[name].attribute)  # which has USGS's name of the property


def _mapping(value: Any) -> dict[str, Any]:
    return value if value.__class__ is dict else {}
