"""Measures and checks random filters of all kinds on a million events, each a request of a page and its total.

    python -m benchmarks.filters [--store sqlite:///FILE] [--requests 500]

starts `quakegraph serve` on a catalogue whose events vary in type, network, magnitude type, status, alert, felt
reports, significance, gap and area. A client sends one request after the other, no filter twice. Then each total and
each first page is compared with those of an SQL query that shares nothing with the service but the file. The command
ends with status 1 if one is wrong.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import asin, cos, dist, radians, sin
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple
from unicodedata import category, normalize

import click
import orjson

from benchmarks import markdown
from benchmarks.catalogue import DAY_MS, REGIONS, USUAL
from benchmarks.contenders import our_service
from benchmarks.cpus import Cpus
from benchmarks.servers import Connection, Refused, running
from benchmarks.stores import import_file, varied_file
from benchmarks.workload import iso

PAGE = 20
DOCUMENT = f"""query ($filter: EventFilter) {{
  events(first: {PAGE}, filter: $filter) {{ nodes {{ eventId mag }} totalCount }}
}}"""
SLOWEST = 10
SPANS = (1, 7, 30, 365, 3 * 365, USUAL.days, None, None)  # days
HOW_MANY = (1, 1, 2, 2, 3)  # conditions of a filter, beside its time
EARTH_RADIUS_KM = 6371.0088
KM_OF_A_DEGREE = 111


# The filters


class Condition(NamedTuple):
    """A condition as the service takes it, and the same in SQL."""

    arguments: Mapping[str, Any]  # of `EventFilter`
    sql: str
    values: Sequence[Any] = ()


def _point(rng: random.Random) -> tuple[float, float]:
    """In a region with many events or anywhere, in degrees north and east."""
    regions = [(region.lat, region.lon) for region in REGIONS]
    return rng.choice([*regions, (0.0, 0.0), (rng.uniform(-80, 80), rng.uniform(-170, 170))])


def _size(rng: random.Random) -> float:
    """Of an area, in degrees."""
    return rng.choice((0.2, 1, 3, 8, 20, 60))


def _within(lat: float, lon: float) -> tuple[float, float]:
    return min(max(lat, -90.0), 90.0), min(max(lon, -180.0), 180.0)


def _mag(rng: random.Random) -> Condition:
    least = round(rng.uniform(0.5, 7), rng.choice((1, 2)))
    if rng.random() < 0.7:
        return Condition({"minMagnitude": least}, "mag >= ?", (least,))
    greatest = least + rng.choice((0.1, 1, 2.5))
    return Condition({"minMagnitude": least, "maxMagnitude": greatest}, "mag BETWEEN ? AND ?", (least, greatest))


def _depth(rng: random.Random) -> Condition:
    depth = rng.choice((0, 5, 10, 35, 70, 100, 300, 600, rng.uniform(0, 700)))
    if rng.random() < 0.5:
        return Condition({"minDepth": depth}, "depth >= ?", (depth,))
    return Condition({"maxDepth": depth}, "depth <= ?", (depth,))


def _box(rng: random.Random) -> Condition:
    (lat, lon), size = _point(rng), _size(rng)
    (south, west), (north, east) = _within(lat - size / 2, lon - size), _within(lat + size / 2, lon + size)
    box = {"minLat": south, "maxLat": north, "minLon": west, "maxLon": east}
    return Condition({"box": box}, "lat BETWEEN ? AND ? AND lon BETWEEN ? AND ?", (south, north, west, east))


def _circle(rng: random.Random) -> Condition:
    (lat, lon), radius_km = _point(rng), _size(rng) * KM_OF_A_DEGREE / 2
    circle = {"lat": lat, "lon": lon, "radiusKm": radius_km}
    reach = radius_km / KM_OF_A_DEGREE * 1.01
    sql = "lat BETWEEN ? AND ? AND distance_km(lat, lon, ?, ?) <= ?"
    return Condition({"circle": circle}, sql, (lat - reach, lat + reach, lat, lon, radius_km))


def _polygon(rng: random.Random) -> Condition:
    """It is concave."""
    (lat, lon), size = _point(rng), _size(rng)
    corners = ((-1, -1), (-0.7, 1), (1, 0.8), (0.5, -0.2), (0.9, -0.9))
    points = [_within(lat + north * size / 2, lon + east * size / 2) for north, east in corners]
    souths, wests = zip(*points, strict=True)
    bounds = (min(souths), max(souths), min(wests), max(wests))
    sql = "lat BETWEEN ? AND ? AND lon BETWEEN ? AND ? AND in_polygon(lat, lon, ?)"
    given = [{"lat": north, "lon": east} for north, east in points]
    return Condition({"polygon": given}, sql, (*bounds, orjson.dumps(points)))


def _texts(argument: str, column: str, *choices: Sequence[str]) -> Callable[[random.Random], Condition]:
    def texts(rng: random.Random) -> Condition:
        values = rng.choice(choices)
        sql = f"{column} IN ({', '.join('?' * len(values))})"
        return Condition({argument: values}, sql, [plain(value) for value in values])

    return texts


def _number(argument: str, sql: str, *choices: float) -> Callable[[random.Random], Condition]:
    def number(rng: random.Random) -> Condition:
        value = rng.choice(choices)
        return Condition({argument: value}, sql, (value,))

    return number


def _tsunami(rng: random.Random) -> Condition:
    linked = rng.random() < 0.7
    return Condition({"tsunami": linked}, "ifnull(tsunami, 0) = ?", (int(linked),))


def _place(rng: random.Random) -> Condition:
    text = rng.choice(("alaska", "pahala", "Ridgecrest", "km NNE of", "turkiye", "nowhere", "100 km N of", "Ōfunato"))
    return Condition({"place": text}, "instr(place, ?) > 0", (plain(text),))


def _ids(rng: random.Random) -> Condition:
    ids = [f"sy{rng.randrange(2 * USUAL.events):08x}" for _ in range(rng.choice((1, 10, 100)))]
    return Condition({"eventIds": ids}, f"eventId IN ({', '.join('?' * len(ids))})", ids)


KINDS: Mapping[str, Callable[[random.Random], Condition]] = {
    "magnitude": _mag,
    "depth": _depth,
    "box": _box,
    "circle": _circle,
    "polygon": _polygon,
    "types": _texts(
        "types", "type", ["earthquake"], ["QUARRY_BLAST"], ["ice quake", "explosion"], ["nuclear explosion"], ["zzz"]
    ),
    "networks": _texts("networks", "net", ["ci"], ["nc", "ci"], ["us"], ["mb"], ["HV"], ["zz"]),
    "magTypes": _texts("magTypes", "magType", ["mww"], ["mb"], ["MD"], ["mh"]),
    "statuses": _texts("statuses", "status", ["AUTOMATIC"], ["REVIEWED"], ["DELETED"]),
    "alerts": _texts("alerts", "alert", ["RED"], ["ORANGE", "RED"], ["GREEN"], ["YELLOW"]),
    "tsunami": _tsunami,
    "minFelt": _number("minFelt", "felt >= ?", 1, 10, 100, 777, 1000),
    "minSig": _number("minSig", "sig >= ?", 100, 333, 500, 600, 1000, 2000),
    "maxGap": _number("maxGap", "gap <= ?", 20, 40, 66, 90, 180),
    "place": _place,
    "eventIds": _ids,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A filter as the service takes it, and in SQL."""

    kinds: Sequence[str]
    conditions: Sequence[Condition]

    @property
    def filter(self) -> dict[str, Any]:
        """The argument of `events`."""
        return {name: value for condition in self.conditions for name, value in condition.arguments.items()}


def questions(seed: int) -> Iterator[Question]:
    """Filters, each another one."""
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    begin_ms = int(USUAL.start.timestamp() * 1000)
    seen: set[bytes] = set()
    while True:
        kinds = rng.sample(list(KINDS), rng.choice(HOW_MANY))
        conditions = [KINDS[kind](rng) for kind in kinds]
        if (days := rng.choice(SPANS)) is not None:
            start = begin_ms + rng.randrange((USUAL.days - days) * DAY_MS + 1)
            end = start + days * DAY_MS
            times = {"startTime": iso(start), "endTime": iso(end)}
            conditions.append(Condition(times, "eventTsMs BETWEEN ? AND ?", (start, end)))
        question = Question(kinds, conditions)
        body = orjson.dumps(question.filter)
        if body not in seen:
            seen.add(body)
            yield question


# The answers


@dataclass(frozen=True, slots=True)
class Answer:
    """The service's answer to a question."""

    question: Question
    milliseconds: float
    ids: Sequence[str] = ()
    total: int | None = None
    error: str | None = None  # its code, or the status


def ask(connection: Connection, question: Question) -> Answer:
    """Send a request, and wait for its answer."""
    body = orjson.dumps({"query": DOCUMENT, "variables": {"filter": question.filter}})
    began = perf_counter()
    try:
        answer = orjson.loads(connection.post(body))
    except Refused as refused:
        answer = {"errors": [{"extensions": {"code": str(refused)}}]}
    took = (perf_counter() - began) * 1000
    if errors := answer.get("errors"):
        return Answer(question, took, error=errors[0]["extensions"]["code"])
    events = answer["data"]["events"]
    return Answer(question, took, [node["eventId"] for node in events["nodes"]], events["totalCount"])


class Truth:
    """The events in a table of their own, with plain texts, in the order of pages."""

    def __init__(self, store: Path) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.create_function("plain", 1, plain, deterministic=True)
        self._db.create_function("distance_km", 4, distance_km, deterministic=True)
        self._db.create_function("in_polygon", 3, in_polygon, deterministic=True)
        self._db.execute("ATTACH ? AS store", (str(store),))
        self._db.execute(
            """CREATE TABLE events AS
            SELECT eventId, eventTsMs, mag, lat, lon, depth, tsunami, felt, sig, gap, plain(place) AS place,
            plain(type) AS type, plain(net) AS net, plain(magType) AS magType, plain(status) AS status,
            plain(alert) AS alert
            FROM store."earthquake-events.EVENT" ORDER BY eventTsMs DESC, eventId DESC"""
        )

    def is_right(self, answer: Answer) -> bool:
        """Whether the events of a page are the first ones that match, and a total is their number."""
        conditions = answer.question.conditions
        sql = f"SELECT eventId FROM events WHERE {' AND '.join(each.sql for each in conditions)} ORDER BY rowid"
        values = [value for each in conditions for value in each.values]
        ids = [event_id for (event_id,) in self._db.execute(sql, values)]
        return list(answer.ids) == ids[:PAGE] and answer.total in (None, len(ids))


def plain(text: str | None) -> str | None:
    """A text without case, accents and `_`."""
    if text is None:
        return None
    letters = [letter for letter in normalize("NFD", text) if category(letter) != "Mn"]
    return "".join(letters).lower().replace("_", " ")


def distance_km(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """The great-circle distance, by the straight line through the earth."""
    straight = dist(_vector(lat, lon), _vector(other_lat, other_lon))
    return 2 * EARTH_RADIUS_KM * asin(min(straight / 2, 1.0))


def _vector(lat: float, lon: float) -> tuple[float, float, float]:
    north, east = radians(lat), radians(lon)
    return cos(north) * cos(east), cos(north) * sin(east), sin(north)


def in_polygon(lat: float, lon: float, points: bytes) -> bool:
    """Whether an odd number of edges crosses the meridian north of a point."""
    corners = orjson.loads(points)
    inside = False
    for (north, east), (other_north, other_east) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (east <= lon) != (other_east <= lon):
            inside ^= lat < north + (other_north - north) * (lon - east) / (other_east - east)
    return inside


# The command


@click.command()
@click.option("--store", metavar="URL", help="sqlite:///FILE. Use a copy, since request logs are written to it.")
@click.option("--requests", type=click.IntRange(min=2), default=500, show_default=True, help="Number of filters.")
@click.option("--seed", type=int, default=1, show_default=True, help="Other filters for each number.")
def main(store: str | None, requests: int, seed: int) -> None:
    """Send random filters to our service, and check the answers."""
    cpus = Cpus.of_this_machine()
    with TemporaryDirectory() as folder:
        path = Path(store.removeprefix("sqlite:///")) if store else Path(folder) / "filters.db"
        if not store:
            import_file(varied_file(USUAL.events), USUAL.events, path, cpus.server)
        with running(our_service(path), cpus.server, Path(folder)) as server:
            connection = Connection(server)
            answers = [ask(connection, each) for each, _ in zip(questions(seed), range(requests), strict=False)]
        truth = Truth(path)
        wrong = [answer for answer in answers if answer.error is None and not truth.is_right(answer)]
    click.echo(f"{cpus}.\n\n{report(answers)}")
    for answer in wrong:
        click.echo(f"wrong: {answer.total} events, {list(answer.ids)} for {_text(answer)}", err=True)
    if wrong:
        raise click.ClickException(f"{len(wrong)} of {len(answers)} answers are wrong")


def report(answers: Sequence[Answer]) -> str:
    """The times of all answers and of those with each kind of condition, the slowest ones, and the errors."""
    of_kind = {kind: [answer for answer in answers if kind in answer.question.kinds] for kind in KINDS}
    head = ["filters", "number", "p50 ms", "p95 ms", "p99 ms", "worst ms", "null totals", "errors"]
    rows = [_row(name, some) for name, some in {"all": answers, **of_kind}.items() if len(some) > 1]
    slowest = sorted(answers, key=lambda answer: -answer.milliseconds)[:SLOWEST]
    lines = [f"{answer.milliseconds:.0f} ms: {_text(answer)}" for answer in slowest]
    errors = Counter(answer.error for answer in answers if answer.error)
    lines += [f"{number} × {error}" for error, number in errors.most_common()]
    return "\n".join([markdown.table(head, rows), "", *lines])


def _row(name: str, answers: Sequence[Answer]) -> list[str]:
    times = [answer.milliseconds for answer in answers]
    percentiles = quantiles(times, n=100, method="inclusive")
    shown = [f"{each:.1f}" for each in (percentiles[49], percentiles[94], percentiles[98], max(times))]
    errors = sum(answer.error is not None for answer in answers)
    nulls = sum(answer.total is None for answer in answers) - errors
    return [name, f"{len(answers):,}", *shown, f"{nulls / len(answers):.1%}", f"{errors:,}"]


def _text(answer: Answer) -> str:
    return orjson.dumps(answer.question.filter).decode()


if __name__ == "__main__":
    main()
