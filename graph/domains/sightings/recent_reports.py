"""Finds the sighting that a report repeats: one of the last ten minutes that is served as the report's own would be.

So it has the same category, area and cell of 10 km, and the text and the earthquake of the report, if that has any.
All of that is public.
Were exact positions compared, anybody could find out where a reporter was: by reports from guessed positions, the
answers to which would tell whether the guess is right.
"""

from collections.abc import Sequence
from hashlib import blake2b

from graph.core.clock import Clock
from graph.domains.sightings.entities import RECENT_REPORT, SIGHTING_BY_ID
from graph.domains.sightings.model import Sighting
from graph.domains.sightings.places import ReportedPlace
from graph.store.conditions import Compare
from graph.store.contract import Action, Database, Put
from graph.store.entity import Item
from graph.store.records import records_at

SAME_S = 600


class RecentReports:
    """The reports of the last ten minutes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def of(self, category: str, place: ReportedPlace, text: str | None, event_id: str | None) -> "Recent":
        """The latest sighting that a report repeats."""
        digests = _digests(place, text or "", event_id or "")
        key = RECENT_REPORT.key_for(category, digests[0])
        item = await self._database.get(key)
        sightings = [SIGHTING_BY_ID.key_for(item["sightingId"])] if item else []
        active = await records_at(self._database, Sighting, set(sightings))
        return Recent(next(iter(active), None), item, digests, self._clock() // 1000 + SAME_S)


class Recent:
    """What a new report needs to know of those before it."""

    def __init__(self, sighting: Sighting | None, item: Item | None, digests: Sequence[str], expires_at: int) -> None:
        self.sighting = sighting  # that the report repeats
        self._item = item  # of a report that says the same, whose sighting is there no more
        self._digests = digests
        self._expires_at = expires_at

    def with_new(self, sighting: Item) -> list[Action]:
        """The changes by which a new sighting is found by further reports, if no other is found meanwhile."""
        alike, *less = [
            {
                "category": sighting["category"],
                "place": digest,
                "sightingId": sighting["sightingId"],
                "expiresAt": self._expires_at,
            }
            for digest in self._digests
        ]
        others = [Put(RECENT_REPORT, each) for each in less]
        if self._item is None:
            return [Put(RECENT_REPORT, alike, if_absent=True), *others]
        unchanged = Compare("sightingId", "=", self._item["sightingId"])
        return [Put(RECENT_REPORT, alike, condition=unchanged), *others]


def _digests(place: ReportedPlace, text: str, event_id: str) -> list[str]:
    """Digests of what a report says, and of less, by which a report that says less finds it."""
    where = (place.area.slug, place.cell or "")
    said = [(*where, event, words) for words in dict.fromkeys((text, "")) for event in dict.fromkeys((event_id, ""))]
    return [blake2b("\n".join(each).encode(), digest_size=20).hexdigest() for each in said]
