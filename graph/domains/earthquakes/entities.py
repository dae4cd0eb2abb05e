"""The catalogue's entities in the table `earthquake-events`."""

from dataclasses import dataclass
from typing import Any

import orjson

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS, TIME_ORDERED
from graph.domains.earthquakes.model import LONGEST_ID, LONGEST_REASON, VERSION_DIGITS, Event, EventVersion
from graph.feed.adoption import adoption_state
from graph.feed.sequence import Origins, SequenceEntities
from graph.store.attributes import Text, Whole
from graph.store.entity import Entity

LONGEST_NAMES = 65_536  # characters, of the most ids of an event


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Text):
    """What `revisions.names` remembers of ids, as JSON. Another program may have written anything under its name."""

    def check(self, value: Any) -> None:
        Text.check(self, value)
        try:
            of_ids = orjson.loads(value).items()
        except (AttributeError, ValueError) as error:
            raise self._refuse("a JSON object") from error
        if not all(_is_remembered(*of_id) for of_id in of_ids):
            raise self._refuse("what the service remembers of ids")


def _is_remembered(event_id: str, value: Any) -> bool:
    match value:
        case [int(), str() | None]:
            return not event_id  # of the values of a deleted event
        case [None | [int(), int(), str()], None | int(), None | int(), *more]:
            kinds = (dict | None, list)  # the hidden record, and the listers
            return bool(event_id) and all(map(isinstance, more, kinds))
    return value is None


_OF_A_VERSION = (
    Whole("arrival", unit="sequence number", optional=True),
    Whole("recordedAt", unit="epoch ms", optional=True),
    Whole("publishedAt", unit="epoch ms", optional=True),
    Whole("changedAt", unit="epoch ms, of the last update in place", optional=True),
    Text("hash", longest=16, unit="of the tracked values", optional=True),
    Text("kind", longest=LONGEST_REASON, optional=True),
    Text("preferredId", longest=LONGEST_ID, optional=True),
    Remembered("names", longest=LONGEST_NAMES, unit="JSON, what is remembered of its ids", optional=True),
)

EVENT = Entity(
    "EVENT",
    EARTHQUAKE_EVENTS,
    Event,
    key=("EVENT#{eventId}", "EVENT"),
    indexes={TIME_ORDERED: ("DAY#{dayBucket}", "{eventTsMs}")},
    attributes=(*_OF_A_VERSION, Whole("revision", unit="number of the version", least=1, optional=True)),
)

REVISION = Entity(
    "REVISION",
    EARTHQUAKE_EVENTS,
    EventVersion,
    key=("EVENT#{eventId}", "REV#{revision}"),
    indexes={TIME_ORDERED: ("REV#{dayBucket}", "{eventTsMs}")},
    attributes=(
        *_OF_A_VERSION,
        Whole("revision", unit="number of the version", least=1, digits=VERSION_DIGITS),
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

_YEAR = Text("year", longest=4, in_key_alone=True)
_DAY = Text("day", longest=8, unit="YYYYMMDD, UTC", in_key_alone=True)
_SUMMARY = (Whole("events"), Whole("revision", unit="writes", optional=True))
_OF_FACETS = Whole("revision", unit="of the summary of the same period", optional=True)

DAY_SUMMARY = Entity(
    "DAY_SUMMARY",
    EARTHQUAKE_EVENTS,
    key=("SUMMARY#{year}", "DAY#{day}"),
    attributes=(_YEAR, _DAY, *_SUMMARY),
    open=True,  # `bin<tenths>` and the like, as many as there are magnitudes, and `type:<type>`
    label="SUMMARY",
)

YEAR_SUMMARY = Entity(
    "YEAR_SUMMARY",
    EARTHQUAKE_EVENTS,
    key=("SUMMARY#YEARS", "YEAR#{year}"),
    attributes=(_YEAR, *_SUMMARY),
    open=True,  # as that of a day
    label="SUMMARY",
)

DAY_FACETS = Entity(
    "DAY_FACETS",
    EARTHQUAKE_EVENTS,
    key=("FACETS#{year}", "DAY#{day}"),
    attributes=(_YEAR, _DAY, _OF_FACETS),
    open=True,  # a count for each name of a facet
    label="FACETS",
)

YEAR_FACETS = Entity(
    "YEAR_FACETS",
    EARTHQUAKE_EVENTS,
    key=("FACETS#YEARS", "YEAR#{year}"),
    attributes=(_YEAR, _OF_FACETS),
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

EVENT_ADOPTION = adoption_state(EARTHQUAKE_EVENTS, name="EVENT_ADOPTION")

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
    attributes=(Text("since", unit="epoch ms, or empty", in_key_alone=True), *BACKFILL.attributes),
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
    *(EVENT, REVISION, ALIAS, DAY_SUMMARY, YEAR_SUMMARY, DAY_FACETS, YEAR_FACETS),
    *(EVENT_SEQUENCE.change, EVENT_SEQUENCE.latest, EVENT_ADOPTION, BACKFILL, CHANGES_BACKFILL, BACKFILL_PART),
)
