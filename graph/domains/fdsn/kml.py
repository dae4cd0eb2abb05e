"""Writes KML for Google Earth and other maps: a point for each event, larger for a greater magnitude.

Source: https://developers.google.com/kml/documentation/kmlreference; for the colours of USGS,
https://earthquake.usgs.gov/fdsnws/event/1/ (`kmlcolorby`)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from graph.core.days import DAY_MS
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.model import Event
from graph.domains.fdsn.formats import NO_EARLIER, AnswerFormat, Earlier
from graph.domains.fdsn.quakeml import escaped

HOUR_MS = 3_600_000
COLOURS: dict[str, tuple[tuple[float, str], ...]] = {
    "age": ((HOUR_MS, "ff0000ff"), (DAY_MS, "ff00a5ff"), (7 * DAY_MS, "ff00ffff"), (inf, "ffffffff")),
    "depth": (
        *((33, "ff00a5ff"), (70, "ff00ffff"), (150, "ff00ff00"), (300, "ffff0000"), (500, "ff800080")),
        (inf, "ff0000ff"),
    ),
}
"""Greatest age in milliseconds, or depth in km → the colour: alpha, blue, green, red."""


@dataclass(frozen=True)
class Kml(AnswerFormat):
    """A KML document."""

    now_ms: int  # epoch milliseconds
    colour_by: str  # what decides an event's colour, `age` or `depth`
    animated: bool  # whether a viewer shows each event at its time

    media_type = "application/vnd.google-earth.kml+xml"
    attributes = frozenset({"mag", "magType", "place", "lat", "lon", "depth", "sourceDepth"})
    is_document_without_events = True

    @property
    def head(self) -> bytes:
        return (
            b'<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
            b"<name>Quakegraph earthquakes</name>\n"
        )

    def rows(self, events: Sequence[Event], earlier: Earlier = NO_EARLIER) -> bytes:
        return "".join(map(self._placemark, events)).encode()

    def tail(self, count: int) -> bytes:
        return b"</Document></kml>\n"

    def _placemark(self, event: Event) -> str:
        time = rfc3339_of_millis(event.event_ts_ms)
        depth = event.depth if event.source_depth is None else event.source_depth
        shown = self.now_ms - event.event_ts_ms if self.colour_by == "age" else depth or 0
        colour = next(colour for most, colour in COLOURS[self.colour_by] if shown <= most)
        description = f"{time}, {'unknown depth' if depth is None else f'{depth:g} km deep'}, {event.event_id}"
        return (
            f"<Placemark><name>{escaped(f'M {event.mag:g} - {event.place}')}</name>"
            f"<description>{escaped(description)}</description>"
            f"{f'<TimeStamp><when>{time}</when></TimeStamp>' if self.animated else ''}"
            f"<Style><IconStyle><color>{colour}</color><scale>{max(event.mag, 0.5) / 4:.2f}</scale></IconStyle></Style>"
            f"<Point><coordinates>{event.lon},{event.lat}</coordinates></Point></Placemark>\n"
        )
