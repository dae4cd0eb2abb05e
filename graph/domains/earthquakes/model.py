"""The record of an earthquake, or of its deletion. No I/O. `rules` makes one of JSON values."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from graph.core.days import datetime_of
from graph.core.names import is_line
from graph.core.paging import Position, cursors_of
from graph.domains.earthquakes.entities import LONGEST_ID
from graph.store.entity import Item
from graph.store.records import Derived, Record, Stored

EVENTS = "events"  # the connection's name in cursors
CATALOGUE_ROUTE = "/earthquakes"  # the route of recorded queries of the catalogue

DELETED = "deleted"  # the status of an event that its source has deleted

SOURCE = "USGS"  # of an event without a source


def possible_id(event_id: object) -> bool:
    """Whether an event may have this id."""
    return isinstance(event_id, str) and 0 < len(event_id) <= LONGEST_ID and is_line(event_id)


def is_deletion(status: object) -> bool:
    """Whether a source says by this status that it has deleted an event. Feeds of 2013 write it in capitals."""
    return isinstance(status, str) and status.strip().lower() == DELETED


def listed(text: str) -> list[str]:
    """The names in a text of USGS, such as `,nc73919986,us7000abcd,`."""
    return [name for name in text.split(",") if name]


def day_of(bucket: str) -> str:
    """The day in the bucket of an event that may have left the catalogue, such as `DELETED#20230803`."""
    return bucket[-8:]


def is_listed(item: Item) -> bool:
    """Whether a version is in the catalogue: neither deleted nor merged."""
    return "#" not in item["dayBucket"]


def is_deleted(item: Item) -> bool:
    """Whether the event is deleted in this version."""
    return bool(item["dayBucket"].startswith("DELETED"))


class Event(Record):
    """One version of a seismic event, by default the latest one."""

    __slots__ = ()

    event_id = Stored[str]("eventId")  # USGS id: network code and event code, "nc73919986"
    event_ts_ms = Stored[int]("eventTsMs")  # origin time, epoch milliseconds, negative before 1970
    mag = Stored[float]("mag")  # magnitude, clamped to [-2, 10]
    place = Stored[str]("place")  # at most 512 characters
    lat = Stored[float]("lat")  # degrees north
    lon = Stored[float]("lon")  # degrees east
    depth = Stored[float | None]("depth", optional=True)  # km below sea level, never negative
    source_depth = Stored[float | None]("sourceDepth", optional=True)  # as given, negative above sea level
    source = Stored[str]("source")  # where the record came from, "USGS"
    ingested_at = Stored[int]("ingestedAt")  # epoch milliseconds
    mag_type = Stored[str | None]("magType", optional=True)  # how the magnitude was measured, "ml", "mww"
    type = Stored[str | None]("type", optional=True)  # "earthquake", "quarry blast", …
    status = Stored[str | None]("status", optional=True)  # "automatic" or "reviewed"
    updated = Stored[int | None]("updated", optional=True)  # USGS's last change before the ingest, epoch ms
    url = Stored[str | None]("url", optional=True)  # the event's page
    tsunami = Stored[bool | None]("tsunami", bool, optional=True)  # stored as USGS gives it, 0 or 1
    felt = Stored[int | None]("felt", optional=True)  # number of felt reports
    alert = Stored[str | None]("alert", optional=True)  # PAGER level: "green", "yellow", "orange", "red"
    sig = Stored[int | None]("sig", optional=True)  # USGS's significance, 0 to about 1000
    net = Stored[str | None]("net", optional=True)  # the preferred network, "nc"
    code = Stored[str | None]("code", optional=True)  # the network's own code of the event, "73919986"
    ids = Stored[list[str] | None]("ids", listed, optional=True)  # every id of the event, in any network
    sources = Stored[list[str] | None]("sources", listed, optional=True)  # the networks that contributed
    types = Stored[list[str] | None]("types", listed, optional=True)  # the types of USGS's products, "shakemap"
    nst = Stored[int | None]("nst", optional=True)  # number of stations that located it
    dmin = Stored[float | None]("dmin", optional=True)  # degrees to the nearest station
    rms = Stored[float | None]("rms", optional=True)  # of the travel times' residuals, seconds
    gap = Stored[float | None]("gap", optional=True)  # the widest angle without a station, degrees
    cdi = Stored[float | None]("cdi", optional=True)  # greatest intensity of felt reports, 0 to 10
    mmi = Stored[float | None]("mmi", optional=True)  # greatest modelled intensity, 0 to 10
    title = Stored[str | None]("title", optional=True)  # "M 1.3 - 2 km ESE of Larkfield-Wikiup, CA"
    detail = Stored[str | None]("detail", optional=True)  # address of the event's GeoJSON with all products
    day_bucket = Stored("dayBucket", day_of)  # the UTC day of the origin time, `YYYYMMDD`
    time = Derived(datetime_of, "eventTsMs")  # the origin time, UTC
    cursor = Derived(cursors_of(EVENTS), "eventTsMs", "eventId")  # its position, as text
    merged_into = Stored[str | None]("mergedInto", optional=True)  # id of the event that it turned out to be

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

    @property
    def position(self) -> Position:
        """The position of the event in the catalogue."""
        return Position(EVENTS, self.event_ts_ms, self.event_id)


@dataclass(frozen=True, slots=True)
class SourceDeletion:
    """The source has deleted an event."""

    event_id: str
    ids: Sequence[str] = ()  # every id of the event, if the source says so
    updated: int | None = None  # when, epoch milliseconds


Incoming = Event | SourceDeletion
"""What an ingest takes: a record of an event, or of its deletion."""
