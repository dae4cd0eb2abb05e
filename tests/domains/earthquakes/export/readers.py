"""Reads exports as other people's programs do, each into the same rows."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pandas
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from tests.domains.earthquakes.builders import at

Row = tuple[str, int, float, float, float, float | None, str]
"""Id, origin time in epoch milliseconds, magnitude, latitude, longitude, depth, place."""

NAMES = ("eventId", "time", "mag", "lat", "lon", "depth", "place")


def of_record(record: dict[str, Any]) -> Row:
    """A row of any reader's record."""
    time, depth = record["time"], record["depth"]
    if isinstance(time, datetime):
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
    if depth is not None and depth != depth:  # pandas's null
        depth = None
    mag, lat, lon = (float(record[name]) for name in ("mag", "lat", "lon"))
    return record["eventId"], at(time), mag, lat, lon, None if depth is None else float(depth), record["place"]


def checksum(rows: Iterable[Row]) -> str:
    """A hash of rows in their order."""
    return hashlib.sha256(orjson.dumps(list(rows))).hexdigest()


def _ndjson(body: bytes) -> Iterator[dict[str, Any]]:
    *lines, end = body.splitlines()
    assert json.loads(end).keys() == {"_end"}
    return map(json.loads, lines)


def _without_end(body: bytes) -> bytes:
    return body[: body.rstrip(b"\n").rindex(b"\n") + 1] if body.count(b"\n") > 1 else b""


def _csv(body: bytes) -> Iterator[dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(body.decode(), newline=""))
    return ({**row, "depth": row["depth"] or None} for row in rows)


def _geojson(body: bytes) -> Iterator[dict[str, Any]]:
    for each in json.loads(body)["features"]:
        lon, lat, *depth = each["geometry"]["coordinates"]
        time = datetime.fromtimestamp(0, UTC) + pandas.Timedelta(milliseconds=each["properties"]["time"])
        properties = each["properties"]
        # As USGS writes it, the depth of GeoJSON is negative above sea level.
        below = max(depth[0], 0.0) if depth else None
        yield {**properties, "eventId": each["id"], "time": time, "lon": lon, "lat": lat, "depth": below}


def _records(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = frame[list(NAMES)].to_dict("records")
    return records


def _duck(source: str) -> Callable[[bytes, Path], list[dict[str, Any]]]:
    def read(body: bytes, file: Path) -> list[dict[str, Any]]:
        with duckdb.connect() as db:
            found = db.sql(f"SELECT {', '.join(NAMES)} FROM {source.format(file=file)}")  # noqa: S608
            records: list[dict[str, Any]] = found.to_arrow_table().to_pylist()
            return records

    return read


def _stream(body: bytes) -> pa.Table:
    return pa.ipc.open_stream(body).read_all()


Reader = Callable[[bytes, Path], Iterable[dict[str, Any]]]
"""(body, a file that has it) → records."""

READERS: dict[str, dict[str, Reader]] = {
    "ndjson": {
        "json": lambda body, file: _ndjson(body),
        "pandas": lambda body, file: _records(
            pandas.read_json(io.BytesIO(_without_end(body)), lines=True, precise_float=True)
        ),
        "pyarrow": lambda body, file: pyarrow.json.read_json(io.BytesIO(_without_end(body))).to_pylist(),
        "duckdb": _duck("(SELECT * FROM read_json('{file}', format='newline_delimited') WHERE eventId IS NOT NULL)"),
    },
    "csv": {
        "csv": lambda body, file: _csv(body),
        "pandas": lambda body, file: _records(pandas.read_csv(io.BytesIO(body), parse_dates=["time"])),
        "pyarrow": lambda body, file: pyarrow.csv.read_csv(io.BytesIO(body)).to_pylist(),
        "duckdb": _duck("read_csv('{file}')"),
    },
    "geojson": {"json": lambda body, file: _geojson(body)},
    "parquet": {
        "pyarrow": lambda body, file: pyarrow.parquet.read_table(io.BytesIO(body)).to_pylist(),
        "pandas": lambda body, file: _records(pandas.read_parquet(io.BytesIO(body))),
        "duckdb": _duck("read_parquet('{file}')"),
    },
    "arrow": {
        "pyarrow": lambda body, file: _stream(body).to_pylist(),
        "pandas": lambda body, file: _records(_stream(body).to_pandas()),
        "duckdb": lambda body, file: duckdb.arrow(_stream(body)).to_arrow_table().to_pylist(),
    },
}
"""Format → the programs that read it."""
