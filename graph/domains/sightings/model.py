"""The records of the sightings. No I/O."""

from dataclasses import replace
from typing import Any

import orjson

from graph.core.days import datetime_of_seconds
from graph.core.described import DescribedText, described, value
from graph.core.times import rfc3339_of_seconds, utc_time
from graph.core.uuid7 import is_like_uuid7
from graph.domains.sightings.confidence import LIFETIME_S, Confidence
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.iso import LENGTH, iso_of, seconds_of, written
from graph.domains.sightings.slugs import LONGEST_SLUG, slug_in_key
from graph.domains.sightings.tiers import TrustTier, tier_named, tier_of
from graph.feed.sequence import DIGITS
from graph.store.attributes import IN_INDEX, JsonDocument, Real, Text, Whole
from graph.store.entity import Entity, Item
from graph.store.ordering import Order
from graph.store.records import Converted, Derived, EntityRecord, Record, Stored, optional, stored
from graph.store.values import InvalidItem

LONGEST_USER = 256  # characters; as the subject of a token
LONGEST_NAME = 128
LONGEST_CATEGORY = 64
LONGEST_TEXT = 280  # of a report here; other programs may write longer ones
LONGEST_FOREIGN_TEXT = 10_000
LONGEST_EVENT_ID = 64
LONGEST_ID = 64  # of a sighting; ours are UUIDs, those of other programs may be shorter
SECOND_DIGITS = 10  # of epoch seconds
LAST_SECOND = 253_402_300_799  # epoch seconds; the last one of the year 9999
MOST_COUNTED = 2**31 - 1  # the greatest whole number of the graph


class _Seconds(Text):
    """A time that cursors have in epoch milliseconds, or as another program wrote it."""

    __slots__ = ()

    def text(self, value: Any) -> str:
        millis = str(1000 * seconds_of(value))
        return millis if self.of_text(millis) == value else value.replace(":", "_")  # a colon ends it in cursors

    def of_text(self, text: str) -> str:
        if not text.isdecimal():
            return text.replace("_", ":")
        seconds, rest = divmod(int(text), 1000)
        if rest or seconds > LAST_SECOND:
            raise InvalidItem("the time must be a whole number of seconds")
        return iso_of(seconds)


SIGHTING_ID = Text("sightingId", shortest=1, longest=LONGEST_ID, in_cursor=True, unit="UUID v7")
BY_TIME = Order("sightings", _Seconds("reportedAt"), SIGHTING_ID)
"""The order of all lists of sightings by time."""


class KeyPart(Text):
    """A text in a key before a `#`, where other programs may write names that no writer of ours does.

    Keys are in its order if no text has a character before `#`: a space, `!` or `"`. Names with these are only another
    program's, so DynamoDB alone puts them in an order, which is one at every reading.
    """

    __slots__ = ()

    def check(self, value: Any) -> None:
        Text.check(self, value)
        if "#" in value:
            raise self._refuse("a text without `#`")

    def keeps_order_before(self, literal: str) -> bool:
        return literal[0] == "#"


class Moment(Whole):
    """A time, which other programs may write as ISO 8601."""

    __slots__ = ()

    def check(self, value: Any) -> None:
        if isinstance(value, str):
            utc_time(value)
        else:
            Whole.check(self, value)


USER_ID = Text("userId", shortest=1, longest=LONGEST_USER)
SOMEBODY = replace(USER_ID, optional=True)  # the document names no user of a sighting or a confirmation
AREA_SLUG = Text("areaSlug", shortest=1, longest=LONGEST_SLUG, plain=True)
AREA_IN_KEY = KeyPart("areaSlug", shortest=1, longest=LONGEST_NAME)  # may be `Downtown`
CATEGORY = KeyPart("category", shortest=1, longest=LONGEST_CATEGORY)
EXPIRES_AT = Whole("expiresAt", least=0, greatest=10**SECOND_DIGITS - 1, unit="epoch seconds", digits=SECOND_DIGITS)
EXPIRY = Converted(EXPIRES_AT, datetime_of_seconds, rfc3339_of_seconds)
ISO_TIME = KeyPart(shortest=10, longest=40, unit="ISO 8601, UTC")
SLUG = Converted(AREA_IN_KEY, slug_in_key)
REPORTED_TEXT = Text("text", longest=LONGEST_TEXT)
COUNT = Whole(least=0, greatest=MOST_COUNTED, absent=0)


def _degrees(most: int, of: str = "") -> Converted[float]:
    return Converted(Real(least=-most, greatest=most, unit=f"degrees{of}"), float)


class Sighting(EntityRecord):
    """What somebody has felt or seen, until it expires."""

    type_name = "Sighting"

    cursor = BY_TIME.cursors()
    sighting_id = stored("sightingId", SIGHTING_ID, "The sighting's own id; a UUID, if this service stored it.")
    user_id = optional("userId", USER_ID)  # who reported it; never served
    area_slug = stored("areaSlug", SLUG, "The slug of its area.")
    area = optional("area", Text(longest=LONGEST_NAME))  # its name, as the reporter wrote it
    category = stored("category", replace(CATEGORY, absent=IN_INDEX), "What it is about.")
    text = optional("text", Text(longest=LONGEST_FOREIGN_TEXT), "What the reporter says, plain text.")
    reported_at = stored("reportedAt", Converted(ISO_TIME, utc_time, written), "When it was reported.")
    expires_at = stored("expiresAt", EXPIRY, "When it expires. Confirmations postpone it.")
    cell = optional("cell", Text(longest=32))  # of 10 km; absent without a position
    lat = optional("lat", _degrees(90, ", of the middle of the cell"))
    lon = optional("lon", _degrees(180, ", of the middle of the cell"))
    precision_km = Derived(lambda: float(KM10.km))
    event_id = optional("eventId", Text(longest=LONGEST_EVENT_ID), "Id of the earthquake that the reporter names.")
    reporter_tier = optional("reporterTier", Converted(Text(longest=6), tier_named))
    confirmations = stored("confirmationCount", COUNT, "The number of users who have confirmed it.")
    rank = stored(  # of its confidence; 0 if another program stored it, and it is not adopted yet
        "rank", Whole(least=0, greatest=10**SECOND_DIGITS - 1, unit="epoch seconds", digits=SECOND_DIGITS, absent=0)
    )
    lists: Stored[list[str] | None] = optional("lists", JsonDocument(largest=2048))  # the names of its lists

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        return self.type_name, node_key(self.item)

    @property
    def area_name(self) -> str:
        """The name of its area, as the reporter wrote it."""
        return self.area or self.item["areaSlug"]

    @property
    def tier(self) -> TrustTier:
        """How far its reporter was trusted at the report."""
        return self.reporter_tier or TrustTier.BRONZE

    @property
    def position(self) -> Point | None:
        """The middle of its cell of 10 km."""
        return None if self.cell is None or self.lat is None or self.lon is None else Point(self.lat, self.lon)

    def is_active(self, now: float) -> bool:
        """Whether it has not expired at a time, epoch seconds."""
        expires_at: int = self.item["expiresAt"]
        return now < expires_at

    def confidence_at(self, now: float, lifetime: int = LIFETIME_S) -> Confidence:
        """Its confidence at a time, epoch seconds.

        Args:
            lifetime: of a new sighting, seconds.
        """
        return Confidence.at(
            now,
            expires_at=self.item["expiresAt"],
            confirmations=self.confirmations,
            tier=self.tier,
            lifetime=lifetime,
        )


class SightingInArea(Sighting):
    """A sighting under its documented key, where any program may have written it."""

    @classmethod
    def stored_in(cls, entity: Entity) -> None:
        """Its key has several attributes: other entities have the one of a single attribute."""


def node_key(item: Item) -> str:
    """The key of a sighting in its global id: its own id, or what its documented key is made of.

    Our ids are UUIDs of version 7, by which a sighting has an item. Another program's sighting has that once adopted.
    """
    own, area, reported_at = item["sightingId"], item["areaSlug"], item["reportedAt"]
    if is_like_uuid7(own) and len(reported_at) == LENGTH and slug_in_key(area) == area:
        return str(own)
    return orjson.dumps([area, reported_at, own]).decode()


def documented_key(key: str) -> tuple[str, ...] | None:
    """Area, time and own id, if the key of a global id has them."""
    try:
        parts = orjson.loads(key)
    except ValueError:
        return None
    return tuple(parts) if isinstance(parts, list) and list(map(type, parts)) == [str, str, str] else None


@value
class ConfirmationOutcome:
    """The sighting as it is now."""

    sighting: Sighting = described("The sighting.")
    confirmed: bool = described(
        "Whether this call has confirmed it. Users confirm a sighting once, and never their own.", default=False
    )


@value
class ReportOutcome(ConfirmationOutcome):
    """The sighting as it is now."""

    created: bool = described(
        "Whether this call has made it. A report repeats a sighting of the last ten minutes that has the "
        "same category, area and rounded position, and the report's text and earthquake, if it has any.",
        default=False,
    )


class SightingChangeKind(DescribedText):
    """What has happened to a sighting."""

    REPORTED = "REPORTED", "It was reported."
    CONFIRMED = "CONFIRMED", "It was confirmed."
    HIDDEN = "HIDDEN", "A moderator has hidden it."


class SightingChange(EntityRecord):
    """A change of a sighting, with the sighting as it is now if that is known and there is one."""

    __slots__ = ("present",)

    def __init__(self, item: Item, present: Sighting | None = None) -> None:
        super().__init__(item)
        self.present = present

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key of the sighting."""
        return Sighting.type_name, node_key(self.item)

    number = stored("change", Whole(least=1, unit="sequence number", digits=DIGITS))
    kind = stored("kind", Converted(Text(longest=9), SightingChangeKind), "What has happened.")
    sighting_id = stored("sightingId", SIGHTING_ID, "The sighting's own id.")
    active_until = stored("activeUntil", Whole(least=0, unit="epoch seconds"))  # the sighting's expiry

    @property
    def sighting(self) -> Sighting:
        """The sighting as the change has left it."""
        return Sighting({**self.item, "expiresAt": self.active_until})


class Profile(Record):
    """What the caller has reported and confirmed."""

    user_id = stored("userId", USER_ID)
    reports = stored("reports", COUNT, "Number of sightings that the caller has reported.")  # and not hidden
    confirmations = stored("confirmations", COUNT, "Number of other users' sightings that the caller has confirmed.")
    confirmations_received = stored(
        "confirmationsReceived", COUNT, "Number of times that others have confirmed the caller's sightings."
    )
    streak_days = stored("streakDays", COUNT)  # days in a row, the last of which is `last_day`
    longest_streak_days = stored("longestStreakDays", COUNT, "The most days in a row with a report, UTC.")
    last_day = optional("lastDay", Text(longest=10, unit="YYYY-MM-DD, UTC"))
    since = optional("since", Moment(least=0, unit="epoch ms"))
    trust_tier = optional("trustTier", Text(longest=32))  # as another program has found it, such as `silver`

    @property
    def tier(self) -> TrustTier:
        """How far the user's next report is trusted: by the numbers, or by what another program has found."""
        found = TrustTier.__members__.get((self.trust_tier or "").upper(), TrustTier.BRONZE)
        return max(found, tier_of(self.reports, self.confirmations_received), key=list(TrustTier).index)


class ActiveArea(EntityRecord):
    """An area that has active sightings."""

    type_name = "Area"

    slug = stored("areaSlug", AREA_IN_KEY, "The name by which sightings are found: lower-case letters and hyphens.")
    name = stored("name", Text(shortest=1, longest=LONGEST_NAME), "Its name.")
    lat = optional("lat", _degrees(90), "Degrees north, of its centre; null if that is not known.")
    lon = optional("lon", _degrees(180), "Degrees east, of its centre; null if that is not known.")
    last_expires_at = stored("expiresAt", EXPIRY, "When the last of its sightings expires.")
    changes = stored("changes", Whole(least=1))  # of its sightings, so far
    spellings: Stored[list[str] | None] = optional("spellings", JsonDocument())  # other names of it in keys
