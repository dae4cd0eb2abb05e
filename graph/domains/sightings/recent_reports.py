"""Finds the sighting that a report repeats: of the same category, at the same place, within ten minutes.

Places within 30 m are the same; without a position, the same area is. Two reports at the very same moment from
different tiles of ten metres may both become sightings.
"""

from graph.core.clock import Clock
from graph.domains.sightings.entities import RECENT_REPORT, SIGHTING_BY_ID
from graph.domains.sightings.model import Sighting
from graph.domains.sightings.places import ReportedPlace
from graph.store.conditions import Compare
from graph.store.contract import Database, Put
from graph.store.entity import Item
from graph.store.records import records_at

SAME_S = 600


class RecentReports:
    """The reports of the last ten minutes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def of(self, category: str, place: ReportedPlace) -> "Recent":
        """The recent reports of a category at a place."""
        keys = [RECENT_REPORT.key_for(category, each) for each in place.alike]
        found = {item["place"]: item for item in (await self._database.get_many(keys)).values()}
        sightings = [SIGHTING_BY_ID.key_for(item["sightingId"]) for item in found.values()]
        active = await records_at(self._database, Sighting, set(sightings))
        latest = max(active, key=lambda each: each.sighting_id, default=None)
        return Recent(latest, found.get(place.own), self._clock() // 1000 + SAME_S)


class Recent:
    """What a new report needs to know of those before it."""

    def __init__(self, sighting: Sighting | None, item: Item | None, expires_at: int) -> None:
        self.sighting = sighting  # that the report repeats
        self._item = item  # of a report at this very place, whose sighting is there no more
        self._expires_at = expires_at

    def with_new(self, sighting: Item, place: ReportedPlace) -> Put:
        """The change by which a new sighting is found by further reports, if no other is found meanwhile."""
        new = {
            "category": sighting["category"],
            "place": place.own,
            "sightingId": sighting["sightingId"],
            "expiresAt": self._expires_at,
        }
        if self._item is None:
            return Put(RECENT_REPORT, new, if_absent=True)
        return Put(RECENT_REPORT, new, condition=Compare("sightingId", "=", self._item["sightingId"]))
