"""Arrow's stream format, and Parquet with GeoParquet's metadata. This module alone imports pyarrow, an extra.

Times are `timestamp[ms, UTC]`. `geometry` is the epicentre as a point in WKB, longitude and latitude in degrees:
a depth in km is no third coordinate, so it has a column of its own.

Sources: https://arrow.apache.org/docs/format/Columnar.html and https://geoparquet.org/releases/v1.1.0/
"""

import asyncio
import io
import struct
from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from graph.domains.earthquakes.model import Event, listed
from graph.domains.export.columns import COLUMNS, READ, Column, ColumnType
from graph.domains.export.encoders import Encoder, ExportEnding, IdsHash
from graph.store.entity import Item

GEOMETRY = "geometry"
ROWS_PER_BATCH = 2048  # of Arrow; some 1 MB
ROWS_PER_GROUP = 8192  # of Parquet, which are in memory together; some 4 MB
FEW_VALUES = ("magType", "type", "status", "source", "alert", "net")
"""The texts for which Parquet has a dictionary. Those of unique values took 10 MB, and a third of the file."""


pa.set_memory_pool(pa.system_memory_pool())  # the others keep some 40 MB more for later

TYPES = {
    ColumnType.TEXT: pa.string(),
    ColumnType.NAMES: pa.list_(pa.string()),
    ColumnType.REAL: pa.float64(),
    ColumnType.WHOLE: pa.int64(),
    ColumnType.MILLIS: pa.timestamp("ms", tz="UTC"),
    ColumnType.TRUTH: pa.bool_(),
}
WKB = {b"ARROW:extension:name": b"geoarrow.wkb", b"ARROW:extension:metadata": b'{"crs":"OGC:CRS84"}'}
POINT = struct.Struct("<BIdd")  # little-endian, type 1


def _schema(geometry: Any) -> Any:
    fields = [pa.field(column.name, TYPES[column.kind], nullable=column.optional) for column in COLUMNS]
    return pa.schema([*fields, geometry])


ARROW_SCHEMA = _schema(pa.field(GEOMETRY, pa.binary(), nullable=False, metadata=WKB))
PARQUET_SCHEMA = _schema(pa.field(GEOMETRY, pa.binary(), nullable=False))


class Arrow(Encoder):
    """An Arrow stream. The last batch has no rows, and the count and the hash of the ids in its metadata."""

    reads = READ

    def __init__(self) -> None:
        self._ids = IdsHash()
        self._sink = _Sink()
        self._writer = pa.ipc.new_stream(self._sink, ARROW_SCHEMA)
        self._rows = _ArrowRows(ARROW_SCHEMA)

    def begin(self) -> bytes:
        return self._sink.taken()

    async def rows(self, events: Sequence[Event]) -> bytes:
        self._ids.add(events)
        self._rows.add(events)
        return self._batch() if self._rows.number >= ROWS_PER_BATCH else b""

    async def end(self, ending: ExportEnding) -> bytes:
        rest = self._batch() if self._rows.number else b""
        empty = pa.RecordBatch.from_pylist([], schema=ARROW_SCHEMA)
        self._writer.write_batch(empty, custom_metadata=_metadata(ending, self._ids))
        self._writer.close()
        return rest + self._sink.taken()

    def _batch(self) -> bytes:
        (batch,) = self._rows.taken().combine_chunks().to_batches()
        self._writer.write_batch(batch)
        return self._sink.taken()


class Parquet(Encoder):
    """A Parquet file, whose metadata at the end has the count, the hash of the ids and GeoParquet's description."""

    reads = READ

    def __init__(self) -> None:
        self._ids = IdsHash()
        self._sink = _Sink()
        self._writer = pq.ParquetWriter(self._sink, PARQUET_SCHEMA, compression="zstd", use_dictionary=[*FEW_VALUES])
        self._rows = _ArrowRows(PARQUET_SCHEMA)
        self._bounds = _Bounds()

    def begin(self) -> bytes:
        return self._sink.taken()

    async def rows(self, events: Sequence[Event]) -> bytes:
        self._ids.add(events)
        self._bounds.add(events)
        self._rows.add(events)
        return await self._group() if self._rows.number >= ROWS_PER_GROUP else b""

    async def end(self, ending: ExportEnding) -> bytes:
        rest = await self._group() if self._rows.number else b""
        self._writer.add_key_value_metadata({"geo": self._bounds.geo(), **_metadata(ending, self._ids)})
        self._writer.close()
        return rest + self._sink.taken()

    async def _group(self) -> bytes:
        """Write a row group on a thread, since it takes some 50 ms, most of them without the interpreter."""
        await asyncio.to_thread(self._writer.write_table, self._rows.taken(), ROWS_PER_GROUP * 2)
        return self._sink.taken()


def _metadata(ending: ExportEnding, ids: IdsHash) -> dict[str, str]:
    return {"count": str(ending.count), "eventIdsSha256": ids.hex, "asOf": ending.as_of}


class _ArrowRows:
    """Rows that wait to be written together."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._batches: list[Any] = []
        self.number = 0

    def add(self, events: Sequence[Event]) -> None:
        items = [event.item for event in events]
        arrays = [pa.array(_values(column, items), TYPES[column.kind]) for column in COLUMNS]
        pack = POINT.pack
        arrays.append(pa.array([pack(1, 1, item["lon"], item["lat"]) for item in items], pa.binary()))
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self.number += len(events)

    def taken(self) -> Any:
        """These rows as a table. They are no longer kept."""
        table = pa.Table.from_batches(self._batches, self._schema)
        self._batches, self.number = [], 0
        return table


def _values(column: Column, items: Sequence[Item]) -> list[Any]:
    """The values of a column. pyarrow itself makes a real number of a whole one."""
    name, instead = column.attribute, column.instead
    if instead is not None:
        return [item.get(instead) if (value := item.get(name)) is None else value for item in items]
    match column.kind:
        case ColumnType.NAMES:
            return [None if (value := item.get(name)) is None else listed(value) for item in items]
        case ColumnType.TRUTH:
            return [None if (value := item.get(name)) is None else value == 1 for item in items]
    return [item.get(name, column.default) for item in items]


class _Bounds:
    """The bounding box of the epicentres."""

    def __init__(self) -> None:
        self._west = self._south = float("inf")
        self._east = self._north = float("-inf")

    def add(self, events: Sequence[Event]) -> None:
        lons, lats = [event.item["lon"] for event in events], [event.item["lat"] for event in events]
        self._west, self._east = min(self._west, *lons), max(self._east, *lons)
        self._south, self._north = min(self._south, *lats), max(self._north, *lats)

    def geo(self) -> str:
        """GeoParquet's metadata of the file."""
        column: dict[str, Any] = {"encoding": "WKB", "geometry_types": ["Point"]}
        if self._west <= self._east:
            column["bbox"] = [self._west, self._south, self._east, self._north]
        geo = {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
        return orjson.dumps(geo).decode()


class _Sink(io.RawIOBase):
    """A file that keeps only what was written since it was last taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, part: Any) -> int:
        written = bytes(part)
        self._parts.append(written)
        self._written += len(written)
        return len(written)

    def taken(self) -> bytes:
        """What was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
