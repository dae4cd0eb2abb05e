"""Every format of text has the events of the graph, a line for each, and proves that it is whole."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.model import Event
from graph.domains.export.columns import COLUMNS
from graph.domains.export.text import NAMES, Csv, Ndjson
from tests.domains.earthquakes.builders import an_event
from tests.domains.export.readers import TEXTS, exported, of_graph, of_record
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


# Lines, whatever stands in a text of an event


HOSTILE = st.sampled_from([*'"\\\n,ö \0#', "\r\n", "null", "],[", '},{"time":', '"],["', "true", "],[null", "end"])
PLACES = st.lists(st.one_of(HOSTILE, st.text(st.characters(codec="utf-8"), max_size=3)), min_size=1, max_size=6).map(
    "".join
)
EVENTS = st.lists(
    st.builds(
        lambda place, time, depth: Event({**an_event(event_ts_ms=time, place=place).item, "depth": depth}),
        PLACES.filter(bool),
        st.integers(FIRST_MS, LAST_MS),
        st.one_of(st.integers(0, 9), st.floats(0, 700)),
    ),
    min_size=1,
    max_size=4,
)


@given(EVENTS)
async def test_ndjson_has_a_line_for_each_event_and_csv_a_record(events: list[Event]) -> None:
    lines = (await Ndjson().rows(events)).split(b"\n")
    text = (await Csv().rows(events)).decode()

    assert lines.pop() == b""
    assert [found(orjson.loads(line)) for line in lines] == list(map(expected, events))
    assert list(map(found, csv.DictReader(io.StringIO(text, newline=""), NAMES))) == list(map(expected, events))


def found(record: dict[str, Any]) -> tuple[Any, ...]:
    return record["eventId"], record["time"], record["place"], float(record["depth"]), record["alert"] or None


def expected(event: Event) -> tuple[Any, ...]:
    item = event.item
    return item["eventId"], rfc3339_of_millis(item["eventTsMs"]), item["place"], float(item["depth"]), item.get("alert")


def test_csv_for_a_spreadsheet_has_no_text_that_it_would_compute(service: Service) -> None:
    places = ["=1+1", "+x", "-y", "@z", "\tq", "'p", "10 km N of X"]
    events = [{"eventId": f"={place[:3].strip()}", "place": place} for place in places]
    filled = [{**event, "eventTsMs": at, "mag": -1, "lat": -2, "lon": 3} for at, event in enumerate(events)]
    service.ask(
        "mutation ($some: [EventInput!]!) { ingestEvents(input: {events: $some}) { upserted } }", {"some": filled}
    )

    def rows(**parameters: str) -> list[dict[str, str]]:
        text = exported(service, "csv", orderBy="TIME_ASC", **parameters).decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))

    plain, inert = rows(), rows(spreadsheet="1")
    assert [row["place"] for row in plain] == places
    assert [row["place"] for row in inert] == [*(f"'{place}" for place in places[:-1]), places[-1]]
    assert {row["mag"] for row in inert} == {"-1.0"}  # a number stays one
    read = Csv(spreadsheet=True).read_text
    assert [{name: read(value) for name, value in row.items()} for row in inert] == plain
