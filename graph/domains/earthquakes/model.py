"""The records of an earthquake, of its versions and of its deletion. No I/O. `rules` makes one of JSON values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import orjson

from graph.core.days import FIRST_MS, LAST_MS, date_of, datetime_of
from graph.core.names import is_line
from graph.store.attributes import Real, Text, Whole
from graph.store.entity import Item
from graph.store.ordering import Order
from graph.store.records import Converted, Derived, Record, optional, stored

CATALOGUE_ROUTE = "/earthquakes"  # the route of recorded queries of the catalogue

DELETED = "deleted"  # the status of an event that its source has deleted

SOURCE = "USGS"  # of an event without a source

LEAST_MAG, GREATEST_MAG = -2.0, 10.0
GREATEST_DEPTH = 6371.0  # km, to the middle of the earth
LONGEST_ID = 64  # characters
VERSION_DIGITS = 6  # of its number
LONGEST_PLACE = 512  # characters
LONGEST_TEXT = 1024  # characters of the other documented texts
LONGEST_REASON = 8  # characters of a kind of version
LONGEST_LIST = 512  # characters; with these lengths a hundred events fit a transaction of 4 MB
INT_END = 2**31 - 1  # of the graph's whole numbers

MILLIS = Whole(unit="epoch ms", least=FIRST_MS, greatest=LAST_MS)
INT = Whole(least=-INT_END - 1, greatest=INT_END)
INTENSITY = Real(least=0, greatest=12)
"""The Mercalli scale has twelve degrees, and USGS's service searches by all; its values seldom exceed 10.

Source: https://earthquake.usgs.gov/fdsnws/event/1/ `mincdi`, `minmmi`
"""
LONG_TEXT = Text(longest=LONGEST_TEXT)
SHORT_TEXT = Text(longest=LONGEST_LIST)
NAME = Text(longest=64)

POSSIBLE_TIME = Whole("eventTsMs", least=FIRST_MS, greatest=LAST_MS)
POSSIBLE_ID = Text("eventId", shortest=1, longest=LONGEST_ID, in_cursor=True)
BY_TIME = Order("events", POSSIBLE_TIME, POSSIBLE_ID)


def possible_id(event_id: object) -> bool:
    """Whether an event may have this id."""
    return isinstance(event_id, str) and 0 < len(event_id) <= LONGEST_ID and is_line(event_id)


def is_deletion(status: object) -> bool:
    """Whether a source says by this status that it has deleted an event. Feeds of 2013 write it in capitals."""
    return isinstance(status, str) and status.strip().lower() == DELETED


def listed(text: str) -> list[str]:
    """The names in a text of USGS, such as `,nc73919986,us7000abcd,`."""
    return [name for name in text.split(",") if name]


_VERSION = re.compile(rf"(.+):([1-9]\d{{0,{VERSION_DIGITS - 1}}})", re.ASCII)
_BUCKET = re.compile(r"(?:DELETED#|MERGED#)?\d{8}", re.ASCII)


@lru_cache(maxsize=16_384)
def day_of(bucket: str) -> str:
    """The day in the bucket of an event that may have left the catalogue, such as `DELETED#20230803`.

    Raises:
        ValueError: Another program wrote a bucket of another form.
    """
    if not _BUCKET.fullmatch(bucket):
        raise ValueError("the bucket must be a day, `YYYYMMDD`")
    day = bucket[-8:]
    date_of(day)
    return day


def is_listed(item: Item) -> bool:
    """Whether a version is in the catalogue: neither deleted nor merged."""
    return "#" not in item["dayBucket"]


def is_foreign(item: Item) -> bool:
    """Whether another program wrote an event's item, and the service has not adopted it yet."""
    return "arrival" not in item


def is_deleted(item: Item) -> bool:
    """Whether the event is deleted in this version."""
    return bool(item["dayBucket"].startswith("DELETED"))


NAMES = Converted(Text(longest=LONGEST_LIST, unit="`,a,b,`"), listed)
TRUTH = Converted(Whole(least=0, greatest=1), bool)  # as USGS gives it


class Event(Record):
    """A seismic event as it is now: its latest version."""

    event_id = stored(
        "eventId",
        POSSIBLE_ID,
        "Event id, at most 64 characters: the one under which its source first published it, as far as that is known "
        "when it is stored. It never changes.",
    )
    event_ts_ms = stored("eventTsMs", MILLIS, "As documented: the origin time, epoch milliseconds.")
    mag = stored("mag", Real(least=LEAST_MAG, greatest=GREATEST_MAG), "Magnitude, clamped to -2.0 … 10.0.")
    place = stored("place", Text(longest=LONGEST_PLACE), "The name of the place; the coordinates if it has no name.")
    lat = stored("lat", Real(least=-90, greatest=90, unit="degrees north"), "Latitude, degrees north, -90 … 90.")
    lon = stored("lon", Real(least=-180, greatest=180, unit="degrees east"), "Longitude, degrees east, -180 … 180.")
    depth = optional(
        "depth", Real(least=0, unit="km"), "Depth, km below sea level; 0 for events above it, null if not measured."
    )
    # An event that left the catalogue has the reason before its day, so that no day's partition has it.
    day_bucket = stored(
        "dayBucket",
        Converted(Text(longest=8 + LONGEST_REASON, unit="YYYYMMDD, UTC"), day_of),
        "UTC day of the origin time, `YYYYMMDD`.",
    )
    source = stored("source", LONG_TEXT, "The source of the record, `USGS`.")
    ingested_at = stored("ingestedAt", MILLIS, "As documented: when it was first stored, epoch milliseconds.")
    mag_type = optional("magType", LONG_TEXT, "How the magnitude was measured, such as `ml` or `mww`.")
    type = optional("type", LONG_TEXT, "The type of event, such as `earthquake` or `quarry blast`.")
    status = optional("status", LONG_TEXT, "`automatic` or `reviewed`, as of the ingest.")
    updated = optional("updated", MILLIS, "USGS's last change before the ingest, epoch milliseconds.")
    url = optional("url", LONG_TEXT, "The event's page at USGS.")
    tsunami = optional("tsunami", TRUTH, "Whether USGS linked it to a tsunami message.")
    felt = optional("felt", INT, "Number of felt reports, as of the ingest.")
    alert = optional("alert", LONG_TEXT, "PAGER alert level: `green`, `yellow`, `orange` or `red`.")
    sig = optional("sig", INT, "USGS's significance, 0 to about 1000.")
    source_depth = optional(
        "sourceDepth",
        Real(greatest=GREATEST_DEPTH, unit="km, negative above sea level"),
        "Depth as the source gives it, km; negative above sea level. Null if it was not measured or kept.",
    )
    net = optional("net", NAME, "The preferred network, such as `nc`.")
    code = optional("code", NAME, "The network's own code of the event, such as `73919986`.")
    ids = optional("ids", NAMES, "Every id of the event, in any network, as USGS lists them.")
    sources = optional("sources", NAMES, "The networks that contributed.")
    types = optional("types", NAMES, "The types of USGS's products, such as `shakemap`.")
    nst = optional("nst", Whole(least=0, greatest=INT_END), "The number of stations that located it.")
    dmin = optional("dmin", Real(least=0, greatest=180, unit="degrees"), "Distance to the nearest station, degrees.")
    rms = optional(
        "rms",
        Real(least=0, greatest=1e6, unit="s"),  # far beyond any
        "Root mean square of the travel times' residuals, seconds.",
    )
    gap = optional("gap", Real(least=0, greatest=360, unit="degrees"), "The widest angle without a station, degrees.")
    cdi = optional("cdi", INTENSITY, "Greatest intensity by felt reports, 0 to 12.")
    mmi = optional("mmi", INTENSITY, "Greatest intensity of the ShakeMap, 0 to 12.")
    title = optional("title", SHORT_TEXT, "Magnitude and place, such as `M 1.3 - 2 km SE of There`.")
    detail = optional("detail", SHORT_TEXT, "Address of the event's GeoJSON with all products at USGS.")
    merged_into = optional("mergedInto", Text(longest=LONGEST_ID), "Id of the event that this one turned out to be.")
    time = Derived(datetime_of, "eventTsMs", description="Origin time.")
    cursor = BY_TIME.cursors()  # its position, as text

    @property
    def revision(self) -> int:
        """The number of this version, from 1."""
        number: int = self.item.get("revision", 1)
        return number

    @property
    def recorded_at(self) -> int:
        """When this version was stored, epoch milliseconds."""
        recorded: int = self.item.get("recordedAt") or self.item["ingestedAt"]
        return recorded

    @property
    def published_at(self) -> int | None:
        """When the source published this version, epoch milliseconds; None if it did not say."""
        found: int | None = self.item.get("publishedAt", self.item.get("updated"))
        return found

    @property
    def preferred_id(self) -> str:
        """The id that the source prefers now."""
        return str(self.item.get("preferredId", self.item["eventId"]))

    @property
    def aliases(self) -> list[str]:
        """Every id by which it is found, its own one first."""
        remembered = orjson.loads(self.item.get("names") or "{}")  # see `revisions.names`
        named = dict.fromkeys((self.event_id, self.preferred_id, *(self.ids or ()), *remembered))
        return [event_id for event_id in named if event_id and remembered.get(event_id, ()) is not None]

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        return "Event", self.event_id


class EventVersion(Event):
    """An event as it was: one version, the latest or an earlier one, with an id of its own."""

    @property
    def identity(self) -> tuple[str, str]:
        return "EventVersion", f"{self.event_id}:{self.revision}"


def version_named(key: str) -> tuple[str, int] | None:
    """The event's id and the number of the version with this key; None if no version has it."""
    found = _VERSION.fullmatch(key)
    return (found[1], int(found[2])) if found and possible_id(found[1]) else None


DETAILS = {
    name: each
    for name, each in Event.stored().items()
    if each.optional and name not in ("depth", "source_depth", "merged_into")
}
"""The attributes that a source may leave out, and that an ingest takes by the rule of their kind."""


@dataclass(frozen=True, slots=True)
class SourceDeletion:
    """The source has deleted an event."""

    event_id: str
    ids: Sequence[str] = ()  # every id of the event, if the source says so
    updated: int | None = None  # when, epoch milliseconds


Incoming = Event | SourceDeletion
"""What an ingest takes: a record of an event, or of its deletion."""
