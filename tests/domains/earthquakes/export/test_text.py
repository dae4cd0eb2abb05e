"""Lines of text: whatever stands in a text of an event, each line is that event's row."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.domains.earthquakes.export.encoders import iso
from graph.domains.earthquakes.export.text import NAMES, Csv, Ndjson
from graph.domains.earthquakes.model import Event
from tests.domains.earthquakes.builders import an_event

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
    lines = (await Ndjson().rows(read_with(Ndjson.defaults, events))).split(b"\n")
    text = (await Csv().rows(read_with(Csv.defaults, events))).decode()

    assert lines.pop() == b""
    assert [found(orjson.loads(line)) for line in lines] == list(map(expected, events))
    assert list(map(found, csv.DictReader(io.StringIO(text, newline=""), NAMES))) == list(map(expected, events))


@given(st.integers(FIRST_MS, LAST_MS))
def test_a_time_is_written_as_the_graph_writes_it(time_ms: int) -> None:
    event = an_event(event_ts_ms=time_ms)

    assert iso(time_ms) == event.time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_with(defaults: Mapping[str, Any], events: list[Event]) -> list[Event]:
    """The events as a store gives them."""
    return [Event({**defaults, **event.item}) for event in events]


def found(record: dict[str, Any]) -> tuple[Any, ...]:
    return record["eventId"], record["time"], record["place"], float(record["depth"]), record["alert"] or None


def expected(event: Event) -> tuple[Any, ...]:
    item = event.item
    return item["eventId"], iso(item["eventTsMs"]), item["place"], float(item["depth"]), item.get("alert")
