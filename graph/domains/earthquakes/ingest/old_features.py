"""Leaves out features of old events that the catalogue does not have, where only stored ones are to be revised."""

from collections.abc import Sequence
from typing import Any

from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.model import possible_id
from graph.domains.earthquakes.usgs.geojson import RawFeature
from graph.store.contract import Database
from graph.store.entity import Key


async def without_unknown(database: Database, features: Sequence[RawFeature], before: int) -> list[RawFeature]:
    """The features, without those of an earlier origin time whose event is not stored under any of its ids.

    Args:
        before: an origin time, epoch milliseconds.
    """
    old = {position: _ids(feature) for position, feature in enumerate(features) if _is_before(feature, before)}
    ids = {event_id for names in old.values() for event_id in names}
    known = await _stored(database, [EVENT.key_for(event_id) for event_id in ids])
    known |= await _stored(database, [ALIAS.key_for(event_id) for event_id in ids - known])
    return [feature for position, feature in enumerate(features) if position not in old or old[position] & known]


async def _stored(database: Database, keys: Sequence[Key]) -> set[str]:
    """The ids of those keys that have an item."""
    items = await database.get_many(keys, attributes=("eventId",)) if keys else {}
    return {key.values[0] for key in items}


def _is_before(feature: RawFeature, before: int) -> bool:
    """Whether the origin time is earlier. A feature without a time is not: it is rejected like any other."""
    time = _properties(feature).get("time")
    return isinstance(time, int) and time < before


def _ids(feature: RawFeature) -> set[str]:
    """All ids of the event, the preferred one among them."""
    others = _properties(feature).get("ids")
    named = others.split(",") if isinstance(others, str) else []
    preferred = feature.get("id") if isinstance(feature, dict) else None
    return {str(event_id) for event_id in (preferred, *named) if possible_id(event_id)}


def _properties(feature: RawFeature) -> dict[str, Any]:
    properties = feature.get("properties") if isinstance(feature, dict) else None
    return properties if isinstance(properties, dict) else {}
