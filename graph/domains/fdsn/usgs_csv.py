"""Writes CSV with the columns of USGS.

Source: https://earthquake.usgs.gov/earthquakes/feed/v1.0/csv.php
"""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from graph.core.spreadsheets import inert
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.model import Event
from graph.domains.fdsn.formats import NO_EARLIER, AnswerFormat, Earlier
from graph.store.entity import Item

COLUMNS = (
    *("time", "latitude", "longitude", "depth", "mag", "magType", "nst", "gap", "dmin", "rms", "net", "id", "updated"),
    *("place", "type", "horizontalError", "depthError", "magError", "magNst", "status", "locationSource", "magSource"),
)


class UsgsCsv(AnswerFormat):
    """CSV of events. Columns that the catalogue does not have are empty; for a `spreadsheet`, see `inert`."""

    media_type = "text/csv; charset=utf-8"
    attributes = frozenset(
        {
            *("mag", "magType", "place", "lat", "lon", "depth", "sourceDepth", "net", "type", "status", "updated"),
            *("nst", "gap", "dmin", "rms"),
        }
    )
    is_document_without_events = True

    def __init__(self, *, spreadsheet: bool = False) -> None:
        self._spreadsheet = spreadsheet

    @property
    def head(self) -> bytes:
        return (",".join(COLUMNS) + "\n").encode()

    def rows(self, events: Sequence[Event], earlier: Earlier = NO_EARLIER) -> bytes:
        written = StringIO(newline="")
        rows: Iterable[Iterable[object]] = [_row(event.item) for event in events]
        if self._spreadsheet:
            rows = (map(inert, row) for row in rows)
        csv.writer(written, lineterminator="\n").writerows(rows)
        return written.getvalue().encode()


def _row(item: Item) -> tuple[object, ...]:
    net = item.get("net")
    updated = item.get("updated")
    return (
        rfc3339_of_millis(item["eventTsMs"]),
        item["lat"],
        item["lon"],
        item.get("sourceDepth", item.get("depth")),
        item["mag"],
        item.get("magType"),
        item.get("nst"),
        item.get("gap"),
        item.get("dmin"),
        item.get("rms"),
        net,
        item["eventId"],
        None if updated is None or not 0 <= updated < 2**47 else rfc3339_of_millis(updated),
        item["place"],
        item.get("type"),
        *(None, None, None, None),
        item.get("status"),
        net,
        net,
    )
