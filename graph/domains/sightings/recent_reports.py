"""Finds the sighting that a report repeats: one of the last ten minutes that is served as the report's own would be.

So it has the same category, area and cell of 10 km, and the text and the earthquake of the report, if that has any.
All of that is public.
Were exact positions compared, anybody could find out where a reporter was: by reports from guessed positions, the
answers to which would tell whether the guess is right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from graph.domains.sightings.areas import ReportedPlace
from graph.domains.sightings.entities import RECENT_REPORT, SIGHTING_BY_ID
from graph.domains.sightings.model import Sighting
from graph.store.conditions import unchanged
from graph.store.contract import Action, Database, Put
from graph.store.entity import Item
from graph.store.records import records_at

SAME_S = 600


@dataclass(frozen=True, slots=True)
class Recent:
    """What a new report needs to know of those of the last ten minutes."""

    sighting: Sighting | None  # that the report repeats
    item: Item | None  # of a report that says the same, whose sighting is there no more
    digests: Sequence[str]
    expires_at: int

    @classmethod
    async def of(
        cls, database: Database, category: str, place: ReportedPlace, text: str | None, event_id: str | None, now: int
    ) -> Self:
        """What a report needs; `now` in epoch seconds."""
        digests = _digests(place, text or "", event_id or "")
        item = await database.get(RECENT_REPORT.key_for(category, digests[0]))
        keys = {SIGHTING_BY_ID.key_for(item["sightingId"])} if item else set()
        active = await records_at(database, Sighting, keys)
        return cls(next(iter(active), None), item, digests, now + SAME_S)

    def with_new(self, sighting: Item) -> list[Action]:
        """The changes by which a new sighting is found by further reports, if no other is found meanwhile."""
        alike, *less = [
            {
                "category": sighting["category"],
                "place": digest,
                "sightingId": sighting["sightingId"],
                "expiresAt": self.expires_at,
            }
            for digest in self.digests
        ]
        others = [Put(RECENT_REPORT, each) for each in less]
        if self.item is None:
            return [Put(RECENT_REPORT, alike, if_absent=True), *others]
        return [Put(RECENT_REPORT, alike, condition=unchanged(self.item, "sightingId")), *others]


def _digests(place: ReportedPlace, text: str, event_id: str) -> list[str]:
    """Digests of what a report says, and of less, by which a report that says less finds it."""
    where = (place.area.slug, place.cell or "")
    said = [(*where, event, words) for words in dict.fromkeys((text, "")) for event in dict.fromkeys((event_id, ""))]
    return [blake2b("\n".join(each).encode(), digest_size=20).hexdigest() for each in said]
