"""The catalogue's entities in the table `earthquake-events`."""

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS, TIME_ORDERED
from graph.feed.sequence import Origins, SequenceEntities
from graph.runtime.lease import LEASE_ATTRIBUTES
from graph.store.attributes import Document, Real, Text, Whole
from graph.store.entity import Entity

LEAST_MAG, GREATEST_MAG = -2.0, 10.0
LONGEST_ID = 64  # characters
LONGEST_PLACE = 512  # characters
LONGEST_TEXT = 1024  # characters of the other documented texts
LONGEST_NAME = 64  # characters
LONGEST_REASON = 8  # characters of a kind of version
LONGEST_NAMES = 65_536  # characters, of the most ids of an event
LONGEST_LIST = 512  # characters; with these lengths a hundred events fit a transaction of 4 MB

_OF_A_VERSION = (
    Text("eventId", longest=LONGEST_ID),
    Whole("eventTsMs", unit="epoch ms"),
    Real("mag", least=LEAST_MAG, greatest=GREATEST_MAG),
    Text("place", longest=LONGEST_PLACE),
    Real("lat", least=-90, greatest=90, unit="degrees north"),
    Real("lon", least=-180, greatest=180, unit="degrees east"),
    Real("depth", least=0, unit="km", optional=True),
    # An event that left the catalogue has the reason before its day, so that no day's partition has it.
    Text("dayBucket", longest=8 + LONGEST_REASON, unit="YYYYMMDD, UTC"),
    Text("source", longest=LONGEST_TEXT),
    Whole("ingestedAt", unit="epoch ms"),
    Text("magType", longest=LONGEST_TEXT, optional=True),
    Text("type", longest=LONGEST_TEXT, optional=True),
    Text("status", longest=LONGEST_TEXT, optional=True),
    Whole("updated", unit="epoch ms", optional=True),
    Text("url", longest=LONGEST_TEXT, optional=True),
    Whole("tsunami", least=0, greatest=1, optional=True),
    Whole("felt", optional=True),
    Text("alert", longest=LONGEST_TEXT, optional=True),
    Whole("sig", optional=True),
    Real("sourceDepth", unit="km, negative above sea level", optional=True),
    Text("net", longest=LONGEST_NAME, optional=True),
    Text("code", longest=LONGEST_NAME, optional=True),
    Text("ids", longest=LONGEST_LIST, unit="`,a,b,`", optional=True),
    Text("sources", longest=LONGEST_LIST, unit="`,a,b,`", optional=True),
    Text("types", longest=LONGEST_LIST, unit="`,a,b,`", optional=True),
    Whole("nst", least=0, optional=True),
    Real("dmin", least=0, unit="degrees", optional=True),
    Real("rms", least=0, unit="s", optional=True),
    Real("gap", least=0, greatest=360, unit="degrees", optional=True),
    Real("cdi", least=0, optional=True),
    Real("mmi", least=0, optional=True),
    Text("title", longest=LONGEST_LIST, optional=True),
    Text("detail", longest=LONGEST_LIST, optional=True),
    Whole("arrival", unit="sequence number", optional=True),
    Whole("recordedAt", unit="epoch ms", optional=True),
    Whole("publishedAt", unit="epoch ms", optional=True),
    Whole("changedAt", unit="epoch ms, of the last update in place", optional=True),
    Text("hash", longest=16, unit="of the tracked values", optional=True),
    Text("kind", longest=LONGEST_REASON, optional=True),
    Text("preferredId", longest=LONGEST_ID, optional=True),
    Text("mergedInto", longest=LONGEST_ID, optional=True),
    Text("names", longest=LONGEST_NAMES, unit="JSON, what is remembered of its ids", optional=True),
)

EVENT = Entity(
    "EVENT",
    EARTHQUAKE_EVENTS,
    key=("EVENT#{eventId}", "EVENT"),
    indexes={TIME_ORDERED: ("DAY#{dayBucket}", "{eventTsMs}")},
    attributes=(*_OF_A_VERSION, Whole("revision", unit="number of the version", least=1, optional=True)),
)

REVISION = Entity(
    "REVISION",
    EARTHQUAKE_EVENTS,
    key=("EVENT#{eventId}", "REV#{revision}"),
    indexes={TIME_ORDERED: ("REV#{dayBucket}", "{eventTsMs}")},
    attributes=(
        *_OF_A_VERSION,
        Whole("revision", unit="number of the version", least=1, digits=6),
        Whole("supersededAt", unit="epoch ms"),
        Whole("supersededPublishedAt", unit="epoch ms"),
    ),
)

ALIAS = Entity(
    "ALIAS",
    EARTHQUAKE_EVENTS,
    key=("EVENT#{alias}", "ALIAS"),
    attributes=(
        Text("alias", longest=LONGEST_ID, in_key_alone=True),
        Text("eventId", longest=LONGEST_ID),
        Whole("deletedAt", unit="epoch ms, of an event that is not known", optional=True),
    ),
)

DAY_SUMMARY = Entity(
    "DAY_SUMMARY",
    EARTHQUAKE_EVENTS,
    key=("SUMMARY#{year}", "DAY#{day}"),
    attributes=(
        Text("year", longest=4, in_key_alone=True),
        Text("day", longest=8, unit="YYYYMMDD, UTC", in_key_alone=True),
        Whole("events"),
        Whole("revision", unit="writes", optional=True),
    ),
    open=True,  # `bin<tenths>` and the like, as many as there are magnitudes, and `type:<type>`
    label="SUMMARY",
)

YEAR_SUMMARY = Entity(
    "YEAR_SUMMARY",
    EARTHQUAKE_EVENTS,
    key=("SUMMARY#YEARS", "YEAR#{year}"),
    attributes=(
        Text("year", longest=4, in_key_alone=True),
        Whole("events"),
        Whole("revision", unit="writes", optional=True),
    ),
    open=True,  # as that of a day
    label="SUMMARY",
)

DAY_FACETS = Entity(
    "DAY_FACETS",
    EARTHQUAKE_EVENTS,
    key=("FACETS#{year}", "DAY#{day}"),
    attributes=(
        Text("year", longest=4, in_key_alone=True),
        Text("day", longest=8, unit="YYYYMMDD, UTC", in_key_alone=True),
        Whole("revision", unit="of the day's summary", optional=True),
    ),
    open=True,  # a count for each name of a facet
    label="FACETS",
)

YEAR_FACETS = Entity(
    "YEAR_FACETS",
    EARTHQUAKE_EVENTS,
    key=("FACETS#YEARS", "YEAR#{year}"),
    attributes=(
        Text("year", longest=4, in_key_alone=True),
        Whole("revision", unit="of the year's summary", optional=True),
    ),
    open=True,  # as those of a day
    label="FACETS",
)

EVENT_SEQUENCE = SequenceEntities.of(
    EARTHQUAKE_EVENTS,
    "ARRIVALS",
    "ARRIVAL",
    keys="eventIds",
    number="arrival",
    origins=Origins("payload", TIME_ORDERED),  # a payload's id
)

_ATTEMPTS = (
    Whole("lastSuccess", unit="epoch ms", optional=True),
    Text("lastError", optional=True),
    Whole("lastErrorAt", unit="epoch ms", optional=True),
    Whole("failures", optional=True),
)

POLL = Entity(
    "POLL",
    EARTHQUAKE_EVENTS,
    key=("POLL#USGS", "STATE"),
    attributes=(
        Text("turn", optional=True),
        Whole("nextAttempt", unit="epoch ms", optional=True),
        *_ATTEMPTS,
        Whole("lastWideSuccess", unit="epoch ms", optional=True),
        Whole("unended", optional=True),
        Document("versions", optional=True),
    ),
)

CHANGES = Entity(
    "CHANGES",
    EARTHQUAKE_EVENTS,
    key=("POLL#USGS", "CHANGES"),
    attributes=(
        *LEASE_ATTRIBUTES,
        *_ATTEMPTS,
    ),
    label="POLL",
)

SUMMARY_CHECK = Entity(
    "SUMMARY_CHECK",
    EARTHQUAKE_EVENTS,
    key=("CHECK#SUMMARIES", "STATE"),
    attributes=(
        *LEASE_ATTRIBUTES,
        Whole("lastCheck", unit="epoch ms", optional=True),
        Text("nextDay", unit="YYYYMMDD, UTC", optional=True),
        Whole("nextYear", optional=True),
        Document("differences", optional=True),  # day → checks in a row
    ),
)

BACKFILL = Entity(
    "BACKFILL",
    EARTHQUAKE_EVENTS,
    key=("BACKFILL#{from}#{to}#{least}", "RUN"),
    attributes=(
        Text("from", unit="epoch ms, or empty", in_key_alone=True),
        Text("to", unit="epoch ms, or empty", in_key_alone=True),
        Text("least", unit="magnitude, or empty", in_key_alone=True),
        Text("run"),
        Whole("ttl", unit="epoch seconds"),
    ),
)

CHANGES_BACKFILL = Entity(
    "CHANGES_BACKFILL",
    EARTHQUAKE_EVENTS,
    key=("CHANGES#{since}#{from}#{to}#{least}", "RUN"),
    attributes=(
        Text("since", unit="epoch ms, or empty", in_key_alone=True),
        *BACKFILL.attributes,
    ),
    label="BACKFILL",
)

BACKFILL_PART = Entity(
    "BACKFILL_PART",
    EARTHQUAKE_EVENTS,
    key=("BACKFILL#{run}", "PART#{startMs}"),
    attributes=(
        Text("run", in_key_alone=True),
        Whole("startMs", unit="epoch ms"),
        Whole("endMs", unit="epoch ms"),
        Whole("events"),
        Whole("ttl", unit="epoch seconds"),
    ),
    label="BACKFILL",
)

ENTITIES = (
    EVENT,
    REVISION,
    ALIAS,
    DAY_SUMMARY,
    YEAR_SUMMARY,
    DAY_FACETS,
    YEAR_FACETS,
    EVENT_SEQUENCE.change,
    EVENT_SEQUENCE.latest,
    POLL,
    CHANGES,
    SUMMARY_CHECK,
    BACKFILL,
    CHANGES_BACKFILL,
    BACKFILL_PART,
)
