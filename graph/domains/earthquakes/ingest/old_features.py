"""Leaves out features of old events that the catalogue does not have, where only stored ones are to be revised."""

from collections.abc import Sequence

from graph.core.geojson.feature_json import RawFeature
from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.usgs.normalise import ids_of, time_of
from graph.store.contract import Database
from graph.store.entity import Key


async def without_unknown(database: Database, features: Sequence[RawFeature], before: int) -> list[int]:
    """The places of the features, without those of an earlier origin time whose event is not stored under any id.

    A feature without a time is kept: it is rejected like any other.

    Args:
        before: an origin time, epoch milliseconds.
    """
    old = {
        position: ids_of(feature)
        for position, feature in enumerate(features)
        if (time := time_of(feature)) is not None and time < before
    }
    ids = {event_id for names in old.values() for event_id in names}
    known = await _stored(database, [EVENT.key_for(event_id) for event_id in ids])
    known |= await _stored(database, [ALIAS.key_for(event_id) for event_id in ids - known])
    return [position for position in range(len(features)) if position not in old or old[position] & known]


async def _stored(database: Database, keys: Sequence[Key]) -> set[str]:
    """The ids of those keys that have an item."""
    items = await database.get_many(keys, attributes=("eventId",)) if keys else {}
    return {key.values[0] for key in items}
