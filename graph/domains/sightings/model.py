"""The records of the sightings. No I/O."""

from datetime import datetime
from typing import Any, NamedTuple, Self

from graph.core.days import datetime_of
from graph.core.described import DescribedText
from graph.core.times import rfc3339_of_seconds
from graph.domains.sightings.confidence import Confidence
from graph.domains.sightings.entities import AREA, SIGHTING_BY_ID, SIGHTING_CHANGE, TRENDING
from graph.domains.sightings.grid import Point
from graph.domains.sightings.iso import iso_of, seconds_of, time_of, written
from graph.domains.sightings.tiers import TrustTier, tier_of
from graph.store.attributes import Text
from graph.store.ordering import Order, Ordering
from graph.store.records import EntityRecord, Record, Stored
from graph.store.values import InvalidItem


class _Seconds(Text):
    """A time that cursors have in epoch milliseconds."""

    __slots__ = ()

    def text(self, value: Any) -> str:
        return str(1000 * seconds_of(value))

    def of_text(self, text: str) -> str:
        seconds, rest = divmod(int(text), 1000)
        if rest or not 0 <= seconds < 10**10:
            raise InvalidItem("the time must be a whole number of seconds")
        return iso_of(seconds)


BY_TIME = Order("sightings", _Seconds("reportedAt"), Text("sightingId", shortest=1, longest=64))
"""The order of all lists of sightings by time."""


def _time(seconds: int) -> datetime:
    return datetime_of(1000 * seconds)


class Sighting(EntityRecord):
    """What somebody has felt or seen, as long as it has not expired."""

    __slots__ = ()
    entity, type_name = SIGHTING_BY_ID, "Sighting"

    sighting_id = Stored[str]("sightingId")
    cursor = BY_TIME.cursors()
    user_id = Stored[str]("userId")
    area_slug = Stored[str]("areaSlug")
    category = Stored[str]("category")
    text = Stored[str | None]("text", optional=True)
    reported_at = Stored("reportedAt", time_of, written=written)
    expires_at = Stored("expiresAt", _time, written=rfc3339_of_seconds)
    lat = Stored[float | None]("lat", float, optional=True)
    lon = Stored[float | None]("lon", float, optional=True)
    event_id = Stored[str | None]("eventId", optional=True)
    reporter_tier = Stored("reporterTier", TrustTier)
    confirmations = Stored[int]("confirmationCount")

    @property
    def position(self) -> Point | None:
        """The middle of its cell of 10 km."""
        return None if self.lat is None or self.lon is None else Point(self.lat, self.lon)

    def is_active(self, now: float) -> bool:
        """Whether it has not expired at a time, epoch seconds."""
        expires_at: int = self.item["expiresAt"]
        return now < expires_at

    def confidence_at(self, now: float) -> Confidence:
        """Its confidence at a time, epoch seconds."""
        return Confidence.at(
            now, expires_at=self.item["expiresAt"], confirmations=self.confirmations, tier=self.reporter_tier
        )


class ReportOutcome(NamedTuple):
    """What has become of a report or a confirmation."""

    sighting: Sighting  # as it is now
    created: bool = False  # whether it was made by this
    confirmed: bool = False  # whether it was confirmed by this


BY_CONFIDENCE = Ordering("sightingsbyconfidence", SIGHTING_BY_ID, TRENDING, descending=True)


class SightingChangeKind(DescribedText):
    """What has happened to a sighting."""

    REPORTED = "REPORTED", "It was reported."
    CONFIRMED = "CONFIRMED", "It was confirmed."
    HIDDEN = "HIDDEN", "A moderator has hidden it."


class SightingChange(EntityRecord):
    """A sighting as a change has left it."""

    __slots__ = ()
    entity, type_name = SIGHTING_CHANGE, "SightingChange"
    number = Stored[int]("change")
    kind = Stored[SightingChangeKind]("kind", SightingChangeKind)
    sighting_id = Stored[str]("sightingId")

    @property
    def sighting(self) -> Sighting:
        """The sighting."""
        return Sighting({**self.item, "expiresAt": self.item["activeUntil"]})

    def without_sighting(self) -> Self:
        """The same change of a sighting that is there no more."""
        return type(self)({**self.item, "activeUntil": 0})


CHANGES_IN_ORDER = Ordering("sightingchanges", SIGHTING_CHANGE, SIGHTING_CHANGE.table.primary)


class Profile(Record):
    """What a user has reported and confirmed."""

    __slots__ = ()

    user_id = Stored[str]("userId")
    reports = Stored[int]("reports")
    confirmations = Stored[int]("confirmations")
    confirmations_received = Stored[int]("confirmationsReceived")
    longest_streak_days = Stored[int]("longestStreakDays")

    @property
    def tier(self) -> TrustTier:
        """How far the user's next report is trusted."""
        return tier_of(self.reports, self.confirmations_received)


class ActiveArea(EntityRecord):
    """An area with active sightings."""

    __slots__ = ()
    entity, type_name = AREA, "Area"
    slug = Stored[str]("areaSlug")
    name = Stored[str]("name")
    lat = Stored[float | None]("lat", float, optional=True)
    lon = Stored[float | None]("lon", float, optional=True)
    active_until = Stored("expiresAt", _time, written=rfc3339_of_seconds)


AREAS = Ordering("areas", AREA, TRENDING, descending=True)
