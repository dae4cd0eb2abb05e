"""The catalogue's entities in the table `earthquake-events`."""

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS, TIME_ORDERED
from graph.feed.sequence import SequenceEntities
from graph.store.attributes import Document, Real, Text, Whole
from graph.store.entity import Entity

LEAST_MAG, GREATEST_MAG = -2.0, 10.0
LONGEST_ID = 64  # characters
LONGEST_PLACE = 512  # characters
LONGEST_TEXT = 1024  # characters of any other text, so that a hundred events fit a transaction of 4 MB

EVENT = Entity(
    "EVENT",
    EARTHQUAKE_EVENTS,
    key=("EVENT#{eventId}", "EVENT"),
    indexes={TIME_ORDERED: ("DAY#{dayBucket}", "{eventTsMs}")},
    attributes=(
        Text("eventId", longest=LONGEST_ID),
        Whole("eventTsMs", unit="epoch ms"),
        Real("mag", least=LEAST_MAG, greatest=GREATEST_MAG),
        Text("place", longest=LONGEST_PLACE),
        Real("lat", least=-90, greatest=90, unit="degrees north"),
        Real("lon", least=-180, greatest=180, unit="degrees east"),
        Real("depth", least=0, unit="km", optional=True),
        Text("dayBucket", longest=8, unit="YYYYMMDD, UTC"),
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
        Whole("arrival", unit="sequence number", optional=True),
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
    open=True,  # `bin<tenths>` and `edge<tenths>`, as many as there are magnitudes
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

EVENT_SEQUENCE = SequenceEntities.of(EARTHQUAKE_EVENTS, "ARRIVALS", "ARRIVAL", keys="eventIds", number="arrival")

POLL = Entity(
    "POLL",
    EARTHQUAKE_EVENTS,
    key=("POLL#USGS", "STATE"),
    attributes=(
        Text("turn", optional=True),
        Whole("nextAttempt", unit="epoch ms", optional=True),
        Whole("lastSuccess", unit="epoch ms", optional=True),
        Whole("lastWideSuccess", unit="epoch ms", optional=True),
        Text("lastError", optional=True),
        Whole("lastErrorAt", unit="epoch ms", optional=True),
        Whole("failures", optional=True),
        Whole("unended", optional=True),
        Document("versions", optional=True),
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
    DAY_SUMMARY,
    YEAR_SUMMARY,
    EVENT_SEQUENCE.change,
    EVENT_SEQUENCE.latest,
    POLL,
    BACKFILL,
    BACKFILL_PART,
)
