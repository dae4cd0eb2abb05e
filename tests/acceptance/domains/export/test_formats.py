"""Every format, read by the programs that people use, has the events of the graph, and proves that it is whole."""

import io
import json
import struct
import sys
from pathlib import Path

import orjson
import pandas
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.acceptance.domains.export.readers import READERS, table_of
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.export.readers import exported, of_graph, of_record
from tests.domains.export.test_formats import assert_cut, hash_of_ids
from tests.domains.export.test_routes import assert_headers
from tests.processes import quakegraph
from tests.service import Service

BINARY = {"parquet": "application/vnd.apache.parquet", "arrow": "application/vnd.apache.arrow.stream"}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_gets_the_events_of_the_graph(week: Service, name: str, tmp_path: Path) -> None:
    expected, body = of_graph(week), exported(week, name)
    file = tmp_path / f"events.{name}"
    file.write_bytes(body)

    for reader, read in READERS[name].items():
        assert [*map(of_record, read(body, file))] == expected, reader


@pytest.mark.parametrize("name", BINARY)
def test_arrow_and_parquet_have_the_values_of_the_json(week: Service, name: str) -> None:
    *lines, _ = map(orjson.loads, exported(week, "ndjson").splitlines())
    table = table_of(exported(week, name), name)

    times = {column for column in lines[0] if pa.types.is_timestamp(table.schema.field(column).type)}
    assert times == {"time", "ingestedAt", "updated", "recordedAt", "publishedAt"}
    assert all(table.schema.field(column).type == pa.timestamp("ms", tz="UTC") for column in times)
    rows = table.drop(["geometry", *times]).to_pylist()
    assert rows == [{column: value for column, value in line.items() if column not in times} for line in lines]
    lons, lats = table["lon"].to_pylist(), table["lat"].to_pylist()
    points = [struct.unpack("<BIdd", each) for each in table["geometry"].to_pylist()]
    assert points == [(1, 1, lon, lat) for lon, lat in zip(lons, lats, strict=True)]
    milliseconds = table["updated"].cast(pa.int64()).to_pylist()
    assert milliseconds == [line["updated"] for line in lines]


@pytest.mark.parametrize("name", BINARY)
def test_arrow_and_parquet_take_a_filter_say_what_they_are_and_may_be_empty(week: Service, name: str) -> None:
    filter_ = {"minMagnitude": 1.5, "types": ["earthquake", "quarry blast"]}

    found = table_of(exported(week, name, filter=json.dumps(filter_)), name).to_pylist()
    assert [*map(of_record, found)] == of_graph(week, filter_)
    assert table_of(exported(week, name, minMagnitude=9.9), name).num_rows == 0
    assert_headers(week, name, BINARY[name])
    answer = week.http.get(f"/export/events.{name}", headers={"Accept-Encoding": "gzip, br, zstd"})
    assert (answer.status_code, "Content-Encoding" in answer.headers) == (200, False)  # it is compressed by itself


def test_geoparquet_has_the_box_of_the_epicentres(week: Service) -> None:
    body = exported(week, "parquet")
    table = table_of(body, "parquet")
    lons, lats = table["lon"].to_pylist(), table["lat"].to_pylist()

    assert json.loads(pyarrow.parquet.read_metadata(io.BytesIO(body)).metadata[b"geo"]) == {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["Point"],
                "bbox": [min(lons), min(lats), max(lons), max(lats)],
            }
        },
    }


@pytest.mark.parametrize("name", BINARY)
def test_the_metadata_have_the_count_and_a_hash_of_the_ids(week: Service, name: str) -> None:
    answer = week.http.get(f"/export/events.{name}")
    ids = table_of(answer.content, name)["eventId"].to_pylist()
    if name == "parquet":
        metadata = pyarrow.parquet.read_metadata(io.BytesIO(answer.content)).metadata
    else:
        *_, (last, metadata) = pa.ipc.open_stream(answer.content).iter_batches_with_custom_metadata()
        assert last.num_rows == 0

    found = {key.decode(): metadata[key].decode() for key in (b"count", b"eventIdsSha256", b"asOf")}
    assert found == {"count": str(len(ids)), "eventIdsSha256": hash_of_ids(ids), "asOf": answer.headers["X-As-Of"]}
    assert len(set(ids)) == len(ids)


def test_pandas_passes_over_the_comment_at_the_end_of_csv(week: Service) -> None:
    plain, commented = exported(week, "csv"), exported(week, "csv", comments="1")

    assert len(pandas.read_csv(io.BytesIO(commented), comment="#")) == plain.count(b"\n") - 1


def test_a_file_of_the_command_may_be_parquet(
    week: Service, week_file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "week.db").write_bytes(week_file.read_bytes())

    assert quakegraph("export", "found.parquet", "--store", "sqlite:///week.db").exit_code == 0
    assert pyarrow.parquet.read_metadata("found.parquet").num_rows == len(of_graph(week))

    monkeypatch.delitem(sys.modules, "graph.domains.export.arrow", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused = quakegraph("export", "other.parquet", "--store", "sqlite:///week.db")
    assert (refused.exit_code, Path("other.parquet").exists()) == (1, False)


def test_a_failure_in_the_middle_cuts_the_connection(tmp_path: Path, long_file: Path, usgs: UsgsServer) -> None:
    assert_cut(tmp_path, long_file, usgs, "/export/events.arrow")
