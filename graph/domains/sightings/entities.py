"""The documented table `blip`: sightings, users' profiles, confirmations, and what finds them.

A sighting is stored several times, each time under the key by which it is found: its area, its own id, and each list
that it belongs to. All of these items are written in one transaction and expire together. No attribute has an exact
position: a position is that of a cell of 10 km.

Other programs may write the documented items: the sighting of an area, the profile, the confirmation. Adoption adds the
others, see `adopting`.

The table has one index, `TrendingIndex`, as documented. Its partitions hold items of several entities: the sightings of
a category by their time, the same by their confidence, and the active areas.
"""

from dataclasses import replace

from graph.domains.sightings.model import (
    AREA_SLUG,
    CATEGORY,
    EXPIRES_AT,
    ISO_TIME,
    LONGEST_ID,
    SIGHTING_ID,
    SOMEBODY,
    USER_ID,
    ActiveArea,
    Profile,
    Sighting,
    SightingChange,
    SightingInArea,
)
from graph.feed.adoption import adoption_state
from graph.feed.sequence import SequenceEntities
from graph.store.attributes import Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity
from graph.store.ordering import Ordering

LONGEST_REASON = 280
LONGEST_LIST = 300  # characters of a list's name

TRENDING = Index("TrendingIndex", KeyAttribute("GSI1PK", "S"), KeyAttribute("GSI1SK", "S"))

BLIP = TableDesign(
    name="blip",
    partition_key=KeyAttribute("PK", "S"),
    sort_key=KeyAttribute("SK", "S"),
    indexes=(TRENDING,),
    ttl="expiresAt",
    resource="Sightings",
)

SIGHTING = Entity(
    "SIGHTING",
    BLIP,
    SightingInArea,
    key=("AREA#{areaSlug}", "SIGHTING#{reportedAt}#{sightingId}"),
    indexes={TRENDING: ("CATEGORY#{category}", "{reportedAt}#{sightingId}")},
    narrowed_by=("expiresAt",),  # a third or more of an area's items may have expired between two sweeps
)

SIGHTING_BY_ID = Entity(
    "SIGHTING_BY_ID",
    BLIP,
    Sighting,
    key=("SIGHTING#{sightingId}", "SIGHTING"),
    indexes={TRENDING: ("RANKED#{category}", "{rank}#{sightingId}")},
)

LISTED_SIGHTING = Entity(  # in a cell, of a user, or of an earthquake
    "LISTED_SIGHTING",
    BLIP,
    key=("LIST#{list}", "SIGHTING#{reportedAt}#{sightingId}"),
    attributes=(Text("list", shortest=1, longest=LONGEST_LIST), *Sighting.declared()),
)

CONFIRMATION = Entity(
    "CONFIRMATION",
    BLIP,
    key=("SIGHTING#{sightingId}", "CONFIRMATION#{confirmedAt}#{nanoId}"),
    attributes=(
        SIGHTING_ID,
        replace(ISO_TIME, name="confirmedAt"),
        Text("nanoId", shortest=1, longest=LONGEST_ID),
        SOMEBODY,
        EXPIRES_AT,  # that of its sighting
        Truth("counted", absent=False),  # whether its sighting has it in all of its items
    ),
)

CONFIRMER = Entity(  # so that a user confirms a sighting once
    "CONFIRMER",
    BLIP,
    key=("SIGHTING#{sightingId}", "CONFIRMER#{userId}"),
    attributes=(SIGHTING_ID, USER_ID, EXPIRES_AT),  # that of its sighting
)

PROFILE = Entity("PROFILE", BLIP, Profile, key=("USER#{userId}", "PROFILE"))

AREA = Entity(
    "AREA",
    BLIP,
    ActiveArea,
    key=("AREAS", "{areaSlug}"),
    indexes={TRENDING: ("AREAS", "{expiresAt}#{areaSlug}")},
)

SEEN_CATEGORY = Entity(  # a category of another program's sightings, as long as one of them may be active
    "SEEN_CATEGORY", BLIP, key=("CATEGORIES", "{category}"), attributes=(CATEGORY, EXPIRES_AT)
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
        replace(ISO_TIME, name="hiddenAt"),
    ),
)

SIGHTING_CHANGE = Entity(
    "SIGHTING_CHANGE",
    BLIP,
    SightingChange,
    key=("CHANGED_SIGHTINGS", "{change}"),
    attributes=Sighting.declared(),  # `expiresAt` is the change's own
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

ADOPTION = adoption_state(BLIP)

ENTITIES = (
    *(SIGHTING, SIGHTING_BY_ID, LISTED_SIGHTING, CONFIRMATION, CONFIRMER, PROFILE),
    *(AREA, SEEN_CATEGORY, TALLY, RECENT_REPORT, REPORT_COUNT, HIDING, ADOPTION),
    *(FELT_REPORTS, FELT_ONCE),
    *(SIGHTING_CHANGE, SIGHTING_CHANGES.change, SIGHTING_CHANGES.latest),
)

BY_CONFIDENCE = Ordering("sightingsbyconfidence", SIGHTING_BY_ID, TRENDING, descending=True)
CHANGES_IN_ORDER = Ordering("sightingchanges", SIGHTING_CHANGE, BLIP.primary)
AREAS = Ordering("areas", AREA, TRENDING, descending=True)
