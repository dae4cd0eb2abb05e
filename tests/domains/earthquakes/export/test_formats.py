"""Every format of text has the events of the graph, and proves that it is whole."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from graph.domains.earthquakes.export.columns import COLUMNS
from tests.domains.earthquakes.export.readers import TEXTS, exported, of_graph, of_record
from tests.processes import quakegraph
from tests.service import Service


def test_every_format_has_the_events_of_the_graph(week: Service) -> None:
    filter_ = {
        "minMagnitude": 1.5,
        "types": ["earthquake", "quarry blast"],
        "box": {"minLat": 30, "maxLat": 70, "minLon": 170, "maxLon": -110},
    }
    one_by_one = {**filter_, "types": "earthquake,quarry blast", "box": json.dumps(filter_["box"])}
    everything, some = of_graph(week), of_graph(week, filter_)
    assert (len(everything), 100 < len(some) < 1000) == (2124, True)

    for name, read in TEXTS.items():
        assert [*map(of_record, read(exported(week, name)))] == everything, name
        for parameters in ({"filter": json.dumps(filter_)}, one_by_one):
            assert [*map(of_record, read(exported(week, name, **parameters)))] == some, name
        assert list(read(exported(week, name, minMagnitude=9.9))) == []


def test_json_has_every_field_of_the_graph_and_csv_the_values_of_the_json(week: Service) -> None:
    names = [column.name for column in COLUMNS]
    nodes = week.ask(f"{{ events(first: 200) {{ nodes {{ {' '.join(names)} }} }} }}")["events"]["nodes"]
    *lines, _ = map(orjson.loads, exported(week, "ndjson").splitlines())

    assert lines[:200] == nodes
    assert list(lines[0]) == names
    assert all(any(line[name] for line in lines) for name in names)

    def text(value: Any) -> str:
        match value:
            case None:
                return ""
            case str():
                return value
            case list():
                return ",".join(value)
        return orjson.dumps(value).decode()

    by_csv = csv.DictReader(io.StringIO(exported(week, "csv").decode(), newline=""))
    assert [*by_csv] == [{name: text(value) for name, value in line.items()} for line in lines]


def test_geojson_can_be_ingested_into_the_same_catalogue(week: Service, folder: Path) -> None:
    Path("week.geojson").write_bytes(exported(week, "geojson"))

    assert quakegraph("ingest", "week.geojson").exit_code == 0
    assert quakegraph("export", "again.geojson").exit_code == 0

    first, again = (json.loads(Path(name).read_bytes())["features"] for name in ("week.geojson", "again.geojson"))
    assert again == first


# Proofs of completeness


def hash_of_ids(ids: Iterable[str]) -> str:
    """The hash that formats without lines have in their metadata."""
    return hashlib.sha256("".join(f"{each}\n" for each in ids).encode()).hexdigest()


def test_ndjson_csv_and_geojson_end_with_their_count_and_hash(week: Service) -> None:
    answer = week.http.get("/export/events.ndjson")
    as_of = answer.headers["X-As-Of"]
    *lines, last = answer.content.splitlines(keepends=True)
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    assert orjson.loads(last) == {"_end": {"count": 2124, "sha256": digest, "asOf": as_of}}
    assert len(lines) == 2124

    plain, commented = exported(week, "csv"), exported(week, "csv", comments="1")
    comment = commented.removeprefix(plain).decode()  # on request alone
    assert comment == f"# end count=2124 sha256={hashlib.sha256(plain).hexdigest()} asOf={as_of}\n"

    collection = json.loads(exported(week, "geojson"))
    ids = [each["id"] for each in collection["features"]]
    assert collection["metadata"] == {"count": 2124, "eventIdsSha256": hash_of_ids(ids), "asOf": as_of}
    assert len(set(ids)) == 2124
