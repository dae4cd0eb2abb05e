"""Writes FDSN's text: one event on a line, 14 columns with `|` between them."""

from collections.abc import Sequence

from graph.core.names import is_line, is_readable
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.model import Event
from graph.domains.fdsn.event_types import DELETED, quakeml_type
from graph.domains.fdsn.formats import NO_EARLIER, AnswerFormat, Earlier
from graph.store.entity import Item

HEADER = (
    "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|Magnitude|MagAuthor"
    "|EventLocationName|EventType\n"
)


class EventText(AnswerFormat):
    """Text of events."""

    media_type = "text/plain; charset=utf-8"
    attributes = frozenset(
        ("mag", "magType", "place", "lat", "lon", "depth", "sourceDepth", "source", "net", "type", "status")
    )

    @property
    def head(self) -> bytes:
        return HEADER.encode()

    def rows(self, events: Sequence[Event], earlier: Earlier = NO_EARLIER) -> bytes:
        return "".join([_line(event.item) for event in events]).encode()


def _line(item: Item) -> str:
    depth = item.get("sourceDepth", item.get("depth"))
    word = item.get("type")
    kind = DELETED if item.get("status") == "deleted" else quakeml_type(word) if word else ""
    source = _plain(item["source"])
    net = _plain(item["net"]) if item.get("net") else source
    event_id = _plain(item["eventId"])
    return (
        f"{event_id}|{rfc3339_of_millis(item['eventTsMs'])[:-1]}|{item['lat']!r}|{item['lon']!r}"
        f"|{'' if depth is None else repr(depth)}|{net}|{source}|{net}|{event_id}"
        f"|{_plain(item.get('magType') or '')}|{item['mag']!r}|{net}|{_plain(item['place'])}|{kind}\n"
    )


def _plain(text: str) -> str:
    """A value in one line, without `|`, which only separates columns."""
    if "|" in text:
        text = text.replace("|", "/")
    return text if is_line(text) else " ".join("".join(c if is_readable(c) else " " for c in text).split())
