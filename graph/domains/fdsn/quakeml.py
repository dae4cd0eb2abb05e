"""Writes QuakeML 1.2, Basic Event Description, one event on a line.

The default namespace has no prefix, as SeismoStats needs it. A depth is in metres. Every event has a preferred origin
and a preferred magnitude, whose public ids name the revision that they come from.

Source: https://quake.ethz.ch/quakeml/docs/REC?action=AttachFile&do=get&target=QuakeML-BED.pdf
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.model import Event
from graph.domains.fdsn.event_types import DELETED, quakeml_type
from graph.domains.fdsn.formats import NO_EARLIER, AnswerFormat, Earlier
from graph.domains.fdsn.public_ids import local_part
from graph.store.entity import Item

LONGEST_AGENCY = 64  # characters, as QuakeML's schema has it
LONGEST_TYPE = 32
UNSPECIFIED = "M"  # QuakeML's type of a magnitude of no known type; SeismoStats fails on one without a type

EVALUATIONS = {
    "automatic": ("automatic", "preliminary"),
    "reviewed": ("manual", "reviewed"),
    "manual": ("manual", "reviewed"),
    "confirmed": ("manual", "confirmed"),
    "preliminary": ("automatic", "preliminary"),
    "final": ("manual", "final"),
    "deleted": ("manual", "rejected"),
}
"""Status of an event → QuakeML's mode and status of the evaluation."""

ATTRIBUTES = frozenset(
    {
        *("mag", "magType", "place", "lat", "lon", "depth", "sourceDepth", "source", "net", "ingestedAt", "type"),
        *("status", "updated", "nst", "rms", "gap", "dmin", "revision", "publishedAt"),
    }
)

ORIGIN = ("eventTsMs", "lat", "lon", "depth", "sourceDepth")
MAGNITUDE = ("mag", "magType")
"""The attributes by which two origins, two magnitudes differ."""

_QUALITY = (("nst", "usedStationCount"), ("rms", "standardError"), ("gap", "azimuthalGap"), ("dmin", "minimumDistance"))
"""Attribute, QuakeML's element. Both count in stations, seconds and degrees."""

_SPECIAL = re.compile('[&<>"\r]')
_IMPOSSIBLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}


class QuakeML(AnswerFormat):
    """QuakeML of events."""

    media_type = "application/xml; charset=utf-8"
    attributes = ATTRIBUTES

    def __init__(self, authority: str, *, all_origins: bool = False, all_magnitudes: bool = False) -> None:
        """Write with public ids of an authority, and with the origins and magnitudes of earlier versions or without."""
        self._prefix = f"quakeml:{authority}"
        self._all_origins = all_origins
        self._all_magnitudes = all_magnitudes

    @property
    def head(self) -> bytes:
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<q:quakeml xmlns="http://quakeml.org/xmlns/bed/1.2" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2">\n'
            f'<eventParameters publicID="{self._prefix}/fdsnws/event/1/query">\n'
        ).encode()

    def rows(self, events: Sequence[Event], earlier: Earlier = NO_EARLIER) -> bytes:
        return "".join([self._event(event.item, earlier.get(event.item["eventId"], ())) for event in events]).encode()

    def tail(self, count: int) -> bytes:
        return b"</eventParameters>\n</q:quakeml>\n"

    def _event(self, item: Item, earlier: Sequence[Event]) -> str:
        """An event with its present origin and magnitude, and with others that it had before."""
        local = local_part(item["eventId"])
        number = item.get("revision", 1)
        prefix = self._prefix
        info = _creation_info(item, number)
        mode = _evaluation(item.get("status"))
        parts = [
            self._origin(local, item, number, info, mode),
            self._magnitude(local, item, number, number, info, mode),
            *(self._replaced(local, item, number, earlier) if earlier else ()),
        ]
        return (
            f'<event publicID="{prefix}/event/{local}">'
            f"<preferredOriginID>{prefix}/origin/{local}/{number}</preferredOriginID>"
            f"<preferredMagnitudeID>{prefix}/magnitude/{local}/{number}</preferredMagnitudeID>"
            f"{_type(item)}<description><text>{escaped(item['place'])}</text><type>region name</type></description>"
            f"{''.join(parts)}{info}</event>\n"
        )

    def _replaced(self, local: str, item: Item, number: int, earlier: Sequence[Event]) -> Iterator[str]:
        """The origins and magnitudes of earlier versions, each once. A magnitude names an origin that is there."""
        origins = {_values(item, ORIGIN): number}
        magnitudes = {_values(item, MAGNITUDE)}
        for event in earlier:
            version = event.item
            at = version.get("revision", 1)
            info, mode = _creation_info(version, at), _evaluation(version.get("status"))
            if self._all_origins and origins.setdefault(_values(version, ORIGIN), at) == at:
                yield self._origin(local, version, at, info, mode)
            if self._all_magnitudes and (values := _values(version, MAGNITUDE)) not in magnitudes:
                magnitudes.add(values)
                origin = origins.get(_values(version, ORIGIN), number)
                yield self._magnitude(local, version, at, origin, info, mode)

    def _origin(self, local: str, item: Item, number: int, info: str, mode: str) -> str:
        depth = item.get("sourceDepth", item.get("depth"))
        metres = "" if depth is None else f"<depth><value>{round(depth * 1000.0, 6)!r}</value></depth>"
        return (
            f'<origin publicID="{self._prefix}/origin/{local}/{number}">'
            f"<time><value>{rfc3339_of_millis(item['eventTsMs'])}</value></time>"
            f"<longitude><value>{item['lon']!r}</value></longitude>"
            f"<latitude><value>{item['lat']!r}</value></latitude>"
            f"{metres}{_quality(item)}{mode}{info}</origin>"
        )

    def _magnitude(self, local: str, item: Item, number: int, origin: int, info: str, mode: str) -> str:
        kind = _cut(item.get("magType") or UNSPECIFIED, LONGEST_TYPE)
        return (
            f'<magnitude publicID="{self._prefix}/magnitude/{local}/{number}">'
            f"<mag><value>{item['mag']!r}</value></mag><type>{kind}</type>"
            f"<originID>{self._prefix}/origin/{local}/{origin}</originID>{mode}{info}</magnitude>"
        )


def _values(item: Item, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(item.get(name) for name in names)


def escaped(text: str) -> str:
    """Text for XML, without the characters that XML 1.0 cannot hold."""
    if _IMPOSSIBLE.search(text):
        text = _IMPOSSIBLE.sub("", text)
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text) if _SPECIAL.search(text) else text


@lru_cache(1024)
def _evaluation(status: str | None) -> str:
    known = EVALUATIONS.get(status.lower()) if status else None
    if known is None:
        return ""
    mode, state = known
    return f"<evaluationMode>{mode}</evaluationMode><evaluationStatus>{state}</evaluationStatus>"


def _type(item: Item) -> str:
    if item.get("status") == "deleted":
        return f"<type>{DELETED}</type>"
    word = item.get("type")
    return f"<type>{quakeml_type(word)}</type>" if word else ""


@lru_cache(2048)
def _cut(name: str, longest: int) -> str:
    return escaped(name[:longest])


def _creation_info(item: Item, number: int) -> str:
    """Who published the version, when, and its number."""
    return (
        f"<creationInfo><agencyID>{_cut(item.get('net') or item['source'], LONGEST_AGENCY)}</agencyID>"
        f"<creationTime>{rfc3339_of_millis(_published(item))}</creationTime><version>{number}</version></creationInfo>"
    )


def _published(item: Item) -> int:
    """Epoch milliseconds of the version, or else of the ingest. A source's clock may be out of range."""
    published = item.get("publishedAt", item.get("updated"))
    at: int = item["ingestedAt"] if published is None or not 0 <= published < 2**47 else published
    return at


def _quality(item: Item) -> str:
    found = [f"<{name}>{item[key]!r}</{name}>" for key, name in _QUALITY if item.get(key) is not None]
    return f"<quality>{''.join(found)}</quality>" if found else ""
