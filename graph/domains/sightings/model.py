"""The records of the sightings. No I/O."""

from datetime import datetime
from typing import Any, NamedTuple, Self

from graph.core.days import datetime_of
from graph.core.described import DescribedText
from graph.core.times import rfc3339_of_seconds
from graph.domains.sightings.confidence import Confidence
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.iso import iso_of, seconds_of, time_of, written
from graph.domains.sightings.tiers import TrustTier, tier_of
from graph.feed.sequence import DIGITS
from graph.store.attributes import JsonDocument, Real, Text, Whole
from graph.store.ordering import Order
from graph.store.records import Converted, Derived, EntityRecord, Record, Stored, optional, stored
from graph.store.values import InvalidItem

LONGEST_USER = 256  # characters; as the subject of a token
LONGEST_SLUG = 64
LONGEST_NAME = 128
LONGEST_CATEGORY = 32
LONGEST_TEXT = 280
LONGEST_EVENT_ID = 64
ID_LENGTH = 36  # characters of a UUID
ISO_LENGTH = 20  # characters of `2026-06-25T14:30:00Z`
SECOND_DIGITS = 10  # of epoch seconds


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


SIGHTING_ID = Text("sightingId", shortest=ID_LENGTH, longest=ID_LENGTH, unit="UUID v7")
USER_ID = Text("userId", shortest=1, longest=LONGEST_USER)
AREA_SLUG = Text("areaSlug", shortest=1, longest=LONGEST_SLUG, plain=True)
CATEGORY = Text("category", shortest=1, longest=LONGEST_CATEGORY, plain=True)
EXPIRES_AT = Whole("expiresAt", least=0, unit="epoch seconds", digits=SECOND_DIGITS)
EXPIRY = Converted(EXPIRES_AT, _time, rfc3339_of_seconds)
ISO_TIME = Text(shortest=ISO_LENGTH, longest=ISO_LENGTH, unit="ISO 8601, UTC")


def _degrees(most: int, of: str = "") -> Converted[float]:
    return Converted(Real(least=-most, greatest=most, unit=f"degrees{of}"), float)


class Sighting(EntityRecord):
    """What somebody has felt or seen, as long as it has not expired."""

    __slots__ = ()
    type_name = "Sighting"

    cursor = BY_TIME.cursors()
    sighting_id = stored("sightingId", SIGHTING_ID, "The sighting's own id, a UUID.")
    user_id = stored("userId", USER_ID)  # who reported it; never served
    area_slug = stored("areaSlug", AREA_SLUG, "The slug of its area.")
    category = stored("category", CATEGORY, "What it is about.")
    text = optional("text", Text(longest=LONGEST_TEXT), "What the reporter says, plain text.")
    reported_at = stored("reportedAt", Converted(ISO_TIME, time_of, written), "When it was reported.")
    expires_at = stored("expiresAt", EXPIRY, "When it expires. Confirmations put that off.")
    cell = optional("cell", Text(longest=32))  # of 10 km; absent without a position
    lat = optional("lat", _degrees(90, ", of the middle of the cell"))
    lon = optional("lon", _degrees(180, ", of the middle of the cell"))
    precision_km = Derived(lambda: float(KM10.km))
    event_id = optional("eventId", Text(longest=LONGEST_EVENT_ID), "Id of the earthquake that the reporter names.")
    reporter_tier = stored(
        "reporterTier", Converted(Text(longest=6), TrustTier), "How far its reporter was trusted at the report."
    )
    confirmations = stored("confirmationCount", Whole(least=0), "The number of users who have confirmed it.")
    rank = stored("rank", Whole(least=0, unit="epoch seconds", digits=SECOND_DIGITS))  # of its confidence
    lists: Stored[list[str]] = stored("lists", JsonDocument(largest=2048))  # the names of those that it belongs to

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


class SightingChangeKind(DescribedText):
    """What has happened to a sighting."""

    REPORTED = "REPORTED", "It was reported."
    CONFIRMED = "CONFIRMED", "It was confirmed."
    HIDDEN = "HIDDEN", "A moderator has hidden it."


class SightingChange(EntityRecord):
    """A sighting as a change has left it."""

    __slots__ = ()
    type_name = "SightingChange"

    number = stored("change", Whole(least=1, unit="sequence number", digits=DIGITS))
    kind = stored("kind", Converted(Text(longest=9), SightingChangeKind), "What has happened.")
    sighting_id = stored("sightingId", SIGHTING_ID, "The sighting's own id.")
    active_until = stored("activeUntil", Whole(least=0, unit="epoch seconds"))  # the sighting's expiry

    @property
    def sighting(self) -> Sighting:
        """The sighting."""
        return Sighting({**self.item, "expiresAt": self.active_until})

    def without_sighting(self) -> Self:
        """The same change of a sighting that is there no more."""
        return type(self)({**self.item, "activeUntil": 0})


COUNT = Whole(least=0, absent=0)


class Profile(Record):
    """What a user has reported and confirmed."""

    __slots__ = ()

    user_id = stored("userId", USER_ID)
    reports = stored("reports", COUNT, "Number of sightings that the caller has reported.")  # and not hidden
    confirmations = stored("confirmations", COUNT, "Number of other users' sightings that the caller has confirmed.")
    confirmations_received = stored(
        "confirmationsReceived", COUNT, "Number of times that others have confirmed the caller's sightings."
    )
    streak_days = stored("streakDays", COUNT)  # days in a row, the last of which is `last_day`
    longest_streak_days = stored("longestStreakDays", COUNT, "The most days in a row with a report, UTC.")
    last_day = optional("lastDay", Text(longest=10, unit="YYYY-MM-DD, UTC"))
    since = optional("since", Whole(least=0, unit="epoch ms"))

    @property
    def tier(self) -> TrustTier:
        """How far the user's next report is trusted."""
        return tier_of(self.reports, self.confirmations_received)


class ActiveArea(EntityRecord):
    """An area with active sightings."""

    __slots__ = ()
    type_name = "Area"

    slug = stored("areaSlug", AREA_SLUG, "The name by which sightings are found: lower-case letters and hyphens.")
    name = stored("name", Text(shortest=1, longest=LONGEST_NAME), "Its name.")
    lat = optional("lat", _degrees(90), "Degrees north, of its centre; null if that is not known.")
    lon = optional("lon", _degrees(180), "Degrees east, of its centre; null if that is not known.")
    active_until = stored("expiresAt", EXPIRY, "When the last of its sightings expires.")
    changes = stored("changes", Whole(least=1))  # of its sightings, so far
