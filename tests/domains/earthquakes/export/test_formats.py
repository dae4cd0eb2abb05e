"""Every format, read by the programs that people use, has the events of the graph, and proves that it is whole."""

import csv
import hashlib
import io
import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pandas
import pyarrow as pa
import pyarrow.parquet
import pytest

from graph.domains.earthquakes.export.columns import COLUMNS
from tests.domains.earthquakes.export.readers import READERS, Row, checksum, of_record
from tests.processes import quakegraph
from tests.service import Service

FORMATS = list(READERS)
ALL = [(each, reader) for each, readers in READERS.items() for reader in readers]
EVENTS = """query($after: String, $filter: EventFilter) { events(first: 500, after: $after, filter: $filter) {
  totalCount pageInfo { hasNextPage endCursor }
  nodes { eventId time mag lat lon depth place }
} }"""


def of_graph(service: Service, filter_: dict[str, Any] | None = None) -> tuple[list[Row], int]:
    """The events of a filter as the graph gives them, and their total."""
    rows: list[Row] = []
    after = None
    while True:
        page = service.ask(EVENTS, {"after": after, "filter": filter_})["events"]
        rows += map(of_record, page["nodes"])
        if not page["pageInfo"]["hasNextPage"]:
            return rows, page["totalCount"]
        after = page["pageInfo"]["endCursor"]


def exported(service: Service, name: str, **parameters: Any) -> bytes:
    answer = service.http.get(f"/export/events.{name}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.parametrize("name", FORMATS)
def test_every_reader_gets_the_events_of_the_graph(any_week: Service, name: str, tmp_path: Path) -> None:
    expected, total = of_graph(any_week)
    body = exported(any_week, name)
    file = tmp_path / f"events.{name}"
    file.write_bytes(body)

    found = {reader: [*map(of_record, read(body, file))] for reader, read in READERS[name].items()}

    assert {reader: len(rows) for reader, rows in found.items()} == dict.fromkeys(READERS[name], total)
    assert {reader: checksum(rows) for reader, rows in found.items()} == dict.fromkeys(
        READERS[name], checksum(expected)
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_filter_selects_what_it_selects_in_the_graph(any_week: Service, name: str, tmp_path: Path) -> None:
    filter_ = {
        "minMagnitude": 1.5,
        "types": ["earthquake", "quarry blast"],
        "box": {"minLat": 30, "maxLat": 70, "minLon": 170, "maxLon": -110},
    }
    expected, total = of_graph(any_week, filter_)
    body = exported(any_week, name, filter=json.dumps(filter_))
    one_by_one = {**filter_, "types": "earthquake,quarry blast", "box": json.dumps(filter_["box"])}
    (read, *_) = READERS[name].values()

    assert 100 < total < 1000
    assert [*map(of_record, read(body, tmp_path))] == expected
    assert [*map(of_record, read(exported(any_week, name, **one_by_one), tmp_path))] == expected


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_export_can_be_read(week: Service, name: str, tmp_path: Path) -> None:
    body = exported(week, name, minMagnitude=9.9)
    (read, *_) = READERS[name].values()

    assert list(read(body, tmp_path)) == []


def test_a_line_of_json_has_every_field_of_the_graph(week: Service) -> None:
    names = [column.name for column in COLUMNS]
    lists = ("ids", "sources", "types")
    nodes = week.ask(f"{{ events(first: 200) {{ nodes {{ {' '.join(names)} }} }} }}")["events"]["nodes"]
    *lines, _ = map(orjson.loads, exported(week, "ndjson").splitlines())

    assert lines[:200] == nodes
    assert list(lines[0]) == names
    assert all(any(line[name] for line in lines) for name in (*names, *lists))


def test_csv_and_parquet_and_arrow_have_the_values_of_the_json(week: Service) -> None:
    *lines, _ = map(orjson.loads, exported(week, "ndjson").splitlines())
    by_csv = [*csv.DictReader(io.StringIO(exported(week, "csv").decode(), newline=""))]
    parquet = pyarrow.parquet.read_table(io.BytesIO(exported(week, "parquet")))
    arrow = pa.ipc.open_stream(exported(week, "arrow")).read_all()

    def text(value: Any) -> str:
        match value:
            case None:
                return ""
            case str():
                return value
            case list():
                return ",".join(value)
        return orjson.dumps(value).decode()

    assert by_csv == [{name: text(value) for name, value in line.items()} for line in lines]
    assert parquet.drop(["geometry"]).to_pylist() == arrow.drop(["geometry"]).to_pylist()
    times = {name for name in lines[0] if pa.types.is_timestamp(parquet.schema.field(name).type)}
    assert times == {"time", "ingestedAt", "updated", "recordedAt", "publishedAt"}
    assert all(parquet.schema.field(name).type == pa.timestamp("ms", tz="UTC") for name in times)
    rows = parquet.drop(["geometry", *times]).to_pylist()
    assert rows == [{name: value for name, value in line.items() if name not in times} for line in lines]


def test_geojson_can_be_ingested_into_the_same_catalogue(
    week: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("week.geojson").write_bytes(exported(week, "geojson"))

    assert quakegraph("ingest", "week.geojson").exit_code == 0
    assert quakegraph("export", "again.geojson").exit_code == 0

    first, again = (json.loads(Path(name).read_bytes())["features"] for name in ("week.geojson", "again.geojson"))
    assert again == first


def test_geoparquet_has_the_epicentres(week: Service) -> None:
    body = exported(week, "parquet")
    table = pyarrow.parquet.read_table(io.BytesIO(body))
    geo = json.loads(pyarrow.parquet.read_metadata(io.BytesIO(body)).metadata[b"geo"])
    lons, lats = table["lon"].to_pylist(), table["lat"].to_pylist()

    assert geo == {
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
    points = [struct.unpack("<BIdd", each) for each in table["geometry"].to_pylist()]
    assert points == [(1, 1, lon, lat) for lon, lat in zip(lons, lats, strict=True)]


# Proofs of completeness


def hash_of_ids(ids: list[str]) -> str:
    return hashlib.sha256("".join(f"{each}\n" for each in ids).encode()).hexdigest()


def test_the_last_line_of_ndjson_has_the_count_and_the_hash_of_the_lines_before_it(week: Service) -> None:
    answer = week.http.get("/export/events.ndjson")
    *lines, last = answer.content.splitlines(keepends=True)

    assert orjson.loads(last) == {
        "_end": {
            "count": len(lines),
            "sha256": hashlib.sha256(b"".join(lines)).hexdigest(),
            "asOf": answer.headers["X-As-Of"],
        }
    }


def test_csv_ends_with_a_comment_on_request_alone(week: Service) -> None:
    plain = week.http.get("/export/events.csv").content
    answer = week.http.get("/export/events.csv", params={"comments": "1"})
    comment = answer.content.removeprefix(plain).decode()

    count, digest = plain.count(b"\n") - 1, hashlib.sha256(plain).hexdigest()
    assert comment == f"# end count={count} sha256={digest} asOf={answer.headers['X-As-Of']}\n"
    assert len(pandas.read_csv(io.BytesIO(answer.content), comment="#")) == count


@pytest.mark.parametrize("name", ["geojson", "parquet", "arrow"])
def test_the_other_formats_have_the_count_and_a_hash_of_the_ids_in_their_metadata(week: Service, name: str) -> None:
    answer = week.http.get(f"/export/events.{name}")
    match name:
        case "geojson":
            collection = json.loads(answer.content)
            ids = [each["id"] for each in collection["features"]]
            metadata = {key: str(value) for key, value in collection["metadata"].items()}
        case "parquet":
            ids = pyarrow.parquet.read_table(io.BytesIO(answer.content))["eventId"].to_pylist()
            found = pyarrow.parquet.read_metadata(io.BytesIO(answer.content)).metadata
            metadata = {key.decode(): value.decode() for key, value in found.items() if key in (b"count", b"asOf")}
            metadata["eventIdsSha256"] = found[b"eventIdsSha256"].decode()
        case _:
            *batches, (last, of_last) = pa.ipc.open_stream(answer.content).iter_batches_with_custom_metadata()
            ids = [each for batch, _ in batches for each in batch["eventId"].to_pylist()]
            assert last.num_rows == 0
            metadata = {key.decode(): value.decode() for key, value in of_last.items()}

    assert metadata == {"count": str(len(ids)), "eventIdsSha256": hash_of_ids(ids), "asOf": answer.headers["X-As-Of"]}
    assert max(Counter(ids).values()) == 1
