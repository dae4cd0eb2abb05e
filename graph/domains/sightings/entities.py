"""The documented table `blip`: sightings, users' profiles, confirmations, and what finds them.

A sighting is stored several times, each time under the key by which it is found: its area, its own id, and each list
that it belongs to. All of these items are written in one transaction and expire together. No attribute has an exact
position: a position is that of a cell of 10 km.

The table has one index, `TrendingIndex`, as documented. Its partitions hold items of several entities: the sightings of
a category by their time, the same by their confidence, and the active areas.
"""

from graph.feed.sequence import DIGITS, SequenceEntities
from graph.store.attributes import JsonDocument, Real, Text, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity

LONGEST_USER = 256  # characters; as the subject of a token
LONGEST_SLUG = 64
LONGEST_NAME = 128
LONGEST_CATEGORY = 32
LONGEST_TEXT = 280
LONGEST_REASON = 280
LONGEST_EVENT_ID = 64
LONGEST_LIST = 300  # characters of a list's name
ID_LENGTH = 36  # characters of a UUID
ISO_LENGTH = 20  # characters of `2026-06-25T14:30:00Z`
SECOND_DIGITS = 10  # of epoch seconds

TRENDING = Index("TrendingIndex", KeyAttribute("GSI1PK", "S"), KeyAttribute("GSI1SK", "S"))

BLIP = TableDesign(
    name="blip",
    partition_key=KeyAttribute("PK", "S"),
    sort_key=KeyAttribute("SK", "S"),
    indexes=(TRENDING,),
    ttl="expiresAt",
    resource="Sightings",
)

SIGHTING_ID = Text("sightingId", shortest=ID_LENGTH, longest=ID_LENGTH, unit="UUID v7")
USER_ID = Text("userId", shortest=1, longest=LONGEST_USER)
AREA_SLUG = Text("areaSlug", shortest=1, longest=LONGEST_SLUG, plain=True)
CATEGORY = Text("category", shortest=1, longest=LONGEST_CATEGORY, plain=True)
EXPIRES_AT = Whole("expiresAt", least=0, unit="epoch seconds", digits=SECOND_DIGITS)

SIGHTING_ATTRIBUTES = (
    SIGHTING_ID,
    USER_ID,  # who reported it; never served
    AREA_SLUG,
    CATEGORY,
    Text("text", longest=LONGEST_TEXT, optional=True),
    Text("reportedAt", shortest=ISO_LENGTH, longest=ISO_LENGTH, unit="ISO 8601, UTC"),
    EXPIRES_AT,
    Text("cell", longest=32, optional=True),  # of 10 km; absent without a position
    Real("lat", least=-90, greatest=90, unit="degrees, of the middle of the cell", optional=True),
    Real("lon", least=-180, greatest=180, unit="degrees, of the middle of the cell", optional=True),
    Text("eventId", longest=LONGEST_EVENT_ID, optional=True),  # the earthquake that the reporter names
    Text("reporterTier", longest=6),
    Whole("confirmationCount", least=0),
    Whole("rank", least=0, unit="epoch seconds", digits=SECOND_DIGITS),  # of its confidence
    JsonDocument("lists", largest=2048),  # the names of the lists that it belongs to
)

SIGHTING = Entity(
    "SIGHTING",
    BLIP,
    key=("AREA#{areaSlug}", "SIGHTING#{reportedAt}#{sightingId}"),
    indexes={TRENDING: ("CATEGORY#{category}", "{reportedAt}#{sightingId}")},
    narrowed_by=("expiresAt",),  # a third or more of an area's items may have expired between two sweeps
    attributes=SIGHTING_ATTRIBUTES,
)

SIGHTING_BY_ID = Entity(
    "SIGHTING_BY_ID",
    BLIP,
    key=("SIGHTING#{sightingId}", "SIGHTING"),
    indexes={TRENDING: ("RANKED#{category}", "{rank}#{sightingId}")},
    attributes=SIGHTING_ATTRIBUTES,
)

LISTED_SIGHTING = Entity(  # in a cell, of a user, or of an earthquake
    "LISTED_SIGHTING",
    BLIP,
    key=("LIST#{list}", "SIGHTING#{reportedAt}#{sightingId}"),
    attributes=(Text("list", shortest=1, longest=LONGEST_LIST), *SIGHTING_ATTRIBUTES),
)

CONFIRMATION = Entity(
    "CONFIRMATION",
    BLIP,
    key=("SIGHTING#{sightingId}", "CONFIRMATION#{confirmedAt}#{nanoId}"),
    attributes=(
        SIGHTING_ID,
        Text("confirmedAt", shortest=ISO_LENGTH, longest=ISO_LENGTH, unit="ISO 8601, UTC"),
        Text("nanoId", shortest=1, longest=32),
        USER_ID,
        EXPIRES_AT,  # that of its sighting
    ),
)

CONFIRMER = Entity(  # so that a user confirms a sighting once
    "CONFIRMER",
    BLIP,
    key=("SIGHTING#{sightingId}", "CONFIRMER#{userId}"),
    attributes=(SIGHTING_ID, USER_ID, EXPIRES_AT),  # when the sighting surely has expired
)

PROFILE = Entity(
    "PROFILE",
    BLIP,
    key=("USER#{userId}", "PROFILE"),
    attributes=(
        USER_ID,
        Whole("reports", least=0),  # that are not hidden
        Whole("confirmations", least=0),  # of other users' sightings
        Whole("confirmationsReceived", least=0),
        Whole("streakDays", least=0),  # days in a row, the last of which is `lastDay`
        Whole("longestStreakDays", least=0),
        Text("lastDay", longest=10, unit="YYYY-MM-DD, UTC", optional=True),
        Whole("since", least=0, unit="epoch ms", optional=True),
    ),
)

AREA = Entity(
    "AREA",
    BLIP,
    key=("AREAS", "{areaSlug}"),
    indexes={TRENDING: ("AREAS", "{expiresAt}#{areaSlug}")},
    attributes=(
        AREA_SLUG,
        EXPIRES_AT,  # of its last sighting
        Whole("changes", least=1),  # of its sightings, so far
        Text("name", shortest=1, longest=LONGEST_NAME),
        Real("lat", least=-90, greatest=90, unit="degrees", optional=True),
        Real("lon", least=-180, greatest=180, unit="degrees", optional=True),
    ),
)

HOURS = tuple(f"hour{hour:02}" for hour in range(24))

TALLY = Entity(  # the sightings of a category that expire at the same time, by the hour of the day of their report
    "TALLY",
    BLIP,
    key=("TALLY#{category}", "{expiresAt}"),
    attributes=(CATEGORY, EXPIRES_AT, *(Whole(hour, optional=True) for hour in HOURS)),
)

RECENT_REPORT = Entity(  # by which a report of the same is found: `place` is a digest of what it says
    "RECENT_REPORT",
    BLIP,
    key=("RECENT#{category}", "{place}"),
    attributes=(CATEGORY, Text("place", shortest=1, longest=80), SIGHTING_ID, EXPIRES_AT),
)

REPORT_COUNT = Entity(  # how much a user has reported in an area, or from a cell's own area, within an hour
    "REPORT_COUNT",
    BLIP,
    key=("USER#{userId}", "REPORTS#{areaSlug}#{hour}"),
    attributes=(USER_ID, AREA_SLUG, Text("hour", shortest=13, longest=13), Whole("number"), EXPIRES_AT),
)

HIDING = Entity(
    "HIDING",
    BLIP,
    key=("SIGHTING#{sightingId}", "HIDING"),
    attributes=(
        SIGHTING_ID,
        USER_ID,  # the moderator
        Text("reason", shortest=1, longest=LONGEST_REASON),
        Text("hiddenAt", shortest=ISO_LENGTH, longest=ISO_LENGTH, unit="ISO 8601, UTC"),
    ),
)

SIGHTING_CHANGE = Entity(  # a sighting as a change has left it
    "SIGHTING_CHANGE",
    BLIP,
    key=("CHANGED_SIGHTINGS", "{change}"),
    attributes=(
        Whole("change", least=1, unit="sequence number", digits=DIGITS),
        Text("kind", longest=9),
        Whole("activeUntil", least=0, unit="epoch seconds"),  # the sighting's expiry
        *SIGHTING_ATTRIBUTES,  # `expiresAt` is the change's own
    ),
)

SIGHTING_CHANGES = SequenceEntities.of(
    BLIP, "SIGHTING_CHANGES", "SIGHTING_CHANGES", keys="changes", number="change", expires=True
)

ANSWERS = ("felt", "motion", "reaction", "stand", "shelf", "picture", "furniture", "damage")

FELT_REPORTS = Entity(  # the answers of all who reported from a cell of 1 km within a minute. It names no user.
    "FELT_REPORTS",
    BLIP,
    key=("FELT#{place}", "{minute}#{cell}"),
    attributes=(
        Text("place", shortest=1, longest=128),  # an earthquake that they name, or a cell of 1,000 km and an hour
        Text("minute", shortest=17, longest=17, unit="`YYYY-MM-DDTHH:MMZ`, UTC"),
        Text("cell", shortest=1, longest=32),
        Whole("reports", least=0),
        *(Whole(f"{name}Given", least=0, optional=True) for name in ANSWERS),
        *(Whole(f"{name}Sum", least=0, unit="thousandths", optional=True) for name in ANSWERS),
    ),
)

FELT_ONCE = Entity(  # so that a user's answers count once for an earthquake, or once an hour in a region
    "FELT_ONCE",
    BLIP,
    key=("USER#{userId}", "FELT#{place}"),
    attributes=(USER_ID, Text("place", shortest=1, longest=128), EXPIRES_AT),
)

ENTITIES = (
    *(SIGHTING, SIGHTING_BY_ID, LISTED_SIGHTING, CONFIRMATION, CONFIRMER, PROFILE),
    *(AREA, TALLY, RECENT_REPORT, REPORT_COUNT, HIDING),
    *(FELT_REPORTS, FELT_ONCE),
    *(SIGHTING_CHANGE, SIGHTING_CHANGES.change, SIGHTING_CHANGES.latest),
)
