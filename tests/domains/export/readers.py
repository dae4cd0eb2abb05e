"""Reads exports with Python's own modules, each format into the same rows."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from tests.domains.earthquakes.builders import at
from tests.service import Service

Row = tuple[str, int, float, float, float, float | None, str]
"""Id, origin time in epoch milliseconds, magnitude, latitude, longitude, depth, place."""

NAMES = ("eventId", "time", "mag", "lat", "lon", "depth", "place")
EVENTS = f"""query($after: String, $filter: EventFilter) {{ events(first: 1000, after: $after, filter: $filter) {{
  totalCount pageInfo {{ hasNextPage endCursor }} nodes {{ {" ".join(NAMES)} }}
}} }}"""


def of_graph(service: Service, filter_: dict[str, Any] | None = None) -> list[Row]:
    """The events of a filter as the graph gives them, which are as many as it counts."""
    rows: list[Row] = []
    after = None
    while True:
        page = service.ask(EVENTS, {"after": after, "filter": filter_})["events"]
        rows += map(of_record, page["nodes"])
        if not page["pageInfo"]["hasNextPage"]:
            assert len(rows) == page["totalCount"]
            return rows
        after = page["pageInfo"]["endCursor"]


def exported(service: Service, name: str, **parameters: Any) -> bytes:
    """The body of an export."""
    answer = service.http.get(f"/export/events.{name}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.content


def check_end(body: bytes) -> int:
    """The count in the last line, whose hash must be that of the others."""
    lines, last = body[: body.rstrip(b"\n").rindex(b"\n") + 1], json.loads(body.splitlines()[-1])["_end"]
    assert last["sha256"] == sha256(lines).hexdigest()
    return int(last["count"])


def of_record(record: dict[str, Any]) -> Row:
    """A row of any reader's record."""
    time, depth = record["time"], record["depth"]
    if isinstance(time, datetime):
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
    if depth is not None and depth != depth:  # pandas's null
        depth = None
    mag, lat, lon = (float(record[name]) for name in ("mag", "lat", "lon"))
    return record["eventId"], at(time), mag, lat, lon, None if depth is None else float(depth), record["place"]


def _ndjson(body: bytes) -> Iterator[dict[str, Any]]:
    *lines, end = body.splitlines()
    assert json.loads(end).keys() == {"_end"}
    return map(json.loads, lines)


def _csv(body: bytes) -> Iterator[dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(body.decode(), newline=""))
    return ({**row, "depth": row["depth"] or None} for row in rows)


def _geojson(body: bytes) -> Iterator[dict[str, Any]]:
    for each in json.loads(body)["features"]:
        lon, lat, *depth = each["geometry"]["coordinates"]
        properties = each["properties"]
        time = datetime.fromtimestamp(properties["time"] // 1000, UTC).replace(
            microsecond=properties["time"] % 1000 * 1000
        )
        # As USGS writes it, the depth of GeoJSON is negative above sea level.
        below = max(depth[0], 0.0) if depth else None
        yield {**properties, "eventId": each["id"], "time": time, "lon": lon, "lat": lat, "depth": below}


TEXTS: dict[str, Callable[[bytes], Iterable[dict[str, Any]]]] = {"ndjson": _ndjson, "csv": _csv, "geojson": _geojson}
"""Format of text → its reader."""
