"""Data files over HTTP, beside the documented way, on the same data and in turn. No request comes twice."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from benchmarks.data_files.world import (
    APIDS,
    CALIBRATIONS,
    GRANULES,
    PACKETS_A_DAY,
    PRODUCTS,
    CalibrationFile,
    Granule,
    World,
    date_of,
    packets,
)
from benchmarks.servers import Connection, Server
from benchmarks.side_by_side import Question, asked_in_turn

PAGE = 50
NODES = 200  # the default of `maxNodes`
FIELDS = "name level product revision archiveTime ingestTime algorithmVersion checksum size url applicableDates"
PAGES = f"""query ($first: Int!, $after: String, $filter: DataFileFilter) {{
  dataFiles(first: $first, after: $after, filter: $filter) {{
    nodes {{ {FIELDS} }} pageInfo {{ hasNextPage endCursor }}
  }}
}}"""
ONE = f"""query ($name: String!) {{
  dataFile(name: $name) {{
    {FIELDS}
    sortable {{ identifier type applicableDate firstPacketTime lastPacketTime missingPacketCount filledGapCount }}
    additional {{ identifier attributes }}
    calibrations {{ calibrates calibrationVersion }}
  }}
}}"""
NODE_FIELDS = "nodes { distance file { name revision level product } } complete truncated { omittedNodes }"
LINEAGE = f"""query ($name: String!, $direction: LineageDirection!, $depth: Int!, $most: Int!) {{
  dataFile(name: $name) {{
    lineage(direction: $direction, depth: $depth, maxNodes: $most) {{ {NODE_FIELDS} }}
  }}
}}"""
WITH_EDGES = LINEAGE.replace("complete", "edges { relation runId file { name revision } } complete")
PLAN = """query ($calibration: String!, $version: String!) {
  affectedBy(calibration: $calibration, version: $version) {
    files stages { number groups { product day files { file { name revision } state } } }
  }
}"""
COUNTED_PLAN = PLAN.replace("files { file { name revision } state }", "")
CALIBRATION_PAGES = f"""query ($product: String!, $first: Int!) {{
  calibrations(filter: {{calibrates: $product}}, first: $first) {{ nodes {{ calibrationVersion file {{ {FIELDS} }} }} }}
}}"""


def questions(world: World, times: int, server: Server) -> dict[str, Iterator[Question]]:
    """So many questions of each kind, all different."""
    rng = random.Random(5)  # noqa: S311 - reproducible on purpose

    def granule(level: str) -> str:
        number = rng.randrange(GRANULES)
        return Granule(level, rng.choice(PRODUCTS[level]), rng.randrange(world.days), number).name

    def packet_file() -> str:
        return packets(rng.randrange(world.days), rng.randrange(PACKETS_A_DAY)).name

    def lineages(name: Callable[[], str], direction: str, depth: int, query: str = LINEAGE) -> Iterator[Question]:
        return (_lineage(each, direction, depth, query) for each in _different(name, times))

    hubs = [each for each in world.calibrations if each.level == "L1A"]
    return {
        "files of a day": _days(rng, world, times, lambda _: {}),
        "of a level": _days(rng, world, times, lambda n: {"levels": [("L0", *PRODUCTS)[n % 4]]}),
        "of a product": _days(rng, world, times, lambda n: {"levels": ["L1B"], "products": [PRODUCTS["L1B"][n % 3]]}),
        "of a type": _days(rng, world, times, lambda n: {"type": f"APID{APIDS[n % 4]}"}),
        "of a version": _days(rng, world, times, lambda n: {"version": ("1.9.0", "1.10.0")[n % 2]}),
        "LATEST": _days(rng, world, times, lambda _: {"version": "LATEST"}),
        "with missing packets": _days(rng, world, times, lambda n: {"missingPackets": {"gt": n % 30}}),
        "fourth page of a day": _later_pages(rng, world, times, server),
        "until a day, with missing packets": _until(rng, world, times, {"missingPackets": {"gt": 50}}),
        "until a day, LATEST of a product": _until(rng, world, times, {"product": "SSW", "version": "LATEST"}),
        "a file with all metadata": (_one(each) for each in _different(packet_file, times)),
        "calibrations of a product": _calibrations(times),
        "lineage, 1 upstream": lineages(lambda: granule("L2"), "UPSTREAM", 1),
        "3 upstream": lineages(lambda: granule("L2"), "UPSTREAM", 3),
        "3 downstream": lineages(packet_file, "DOWNSTREAM", 3),
        "3 both": lineages(lambda: granule("L1B"), "BOTH", 3),
        "3 both, with edges": lineages(lambda: granule("L1A"), "BOTH", 3, WITH_EDGES),
        "20 upstream": lineages(lambda: granule("L2"), "UPSTREAM", 20),
        "20 downstream": lineages(lambda: granule("L1A"), "DOWNSTREAM", 20),
        "a calibration, 1 downstream": (_lineage(each.name, "DOWNSTREAM", 1, LINEAGE) for each in hubs[:times]),
        "a calibration, 20 both": (_lineage(each.name, "BOTH", 20, LINEAGE) for each in hubs[:times]),
        "a plan, counted": (_plan(each, COUNTED_PLAN) for each in hubs[::2][:times]),
        "a plan, with its files": (_plan(each, PLAN) for each in hubs[1::2][:times]),
    }


def measured(world: World, times: int, ours: Server, plain: Server, only: str = "") -> str:
    """Ask both in turn, only what has these words in its name. Returns a table."""
    asked = {name: each for name, each in questions(world, times, ours).items() if only in name}
    return asked_in_turn(asked, ours, plain)


def _different(name: Callable[[], str], times: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < times:
        names[name()] = None
    return list(names)


def _days(rng: random.Random, world: World, times: int, more: Callable[[int], Mapping[str, Any]]) -> Iterator[Question]:
    for number, day in enumerate(rng.sample(range(world.days), min(times, world.days))):
        given = more(number)
        parameters = {
            name.removesuffix("s"): value[0] if isinstance(value, list) else value for name, value in given.items()
        }
        if "missingPackets" in given:
            parameters["gt"] = parameters.pop("missingPacket")["gt"]
        date = date_of(day).isoformat()
        yield Question(
            PAGES,
            {"first": PAGE, "filter": {"startDate": date, "endDate": date, **given}},
            _listed,
            "by_date",
            {"date": date, "first": PAGE, **parameters},
            _names,
        )


def _later_pages(rng: random.Random, world: World, times: int, server: Server) -> Iterator[Question]:
    """Pages behind a cursor, which comes with a page that is not measured."""
    connection = Connection(server)
    for day in rng.sample(range(world.days), min(times, world.days)):
        given = dict.fromkeys(("startDate", "endDate"), date_of(day).isoformat())
        body = orjson.dumps({"query": PAGES, "variables": {"first": 3 * PAGE, "filter": given}})
        after = connection.ask(body)["dataFiles"]["pageInfo"]["endCursor"]
        yield Question(PAGES, {"first": PAGE, "after": after, "filter": given}, _listed)


def _until(rng: random.Random, world: World, times: int, more: Mapping[str, Any]) -> Iterator[Question]:
    for day in rng.sample(range(world.days), min(times, world.days)):
        yield Question(PAGES, {"first": PAGE, "filter": {"endDate": date_of(day).isoformat(), **more}}, _listed)


def _listed(data: Any) -> list[str]:
    return [node["name"] for node in data["dataFiles"]["nodes"]]


def _names(items: list[Mapping[str, Any]]) -> list[str]:
    return [item["file-name"] for item in items]


def _one(name: str) -> Question:
    def of_ours(data: Any) -> list[str]:
        file = data["dataFile"]
        parts = [*file["sortable"], *file["additional"]]
        return [file["checksum"], *sorted(part["identifier"] for part in parts)]

    def of_plain(items: list[Mapping[str, Any]]) -> list[str]:
        return [items[0]["checksum"], *sorted(part["identifier"] for part in items[1:])]

    return Question(ONE, {"name": name}, of_ours, "file", {"name": name}, of_plain)


def _calibrations(times: int) -> Iterator[Question]:
    """Pages of other sizes, since there are few products."""
    products = [f"{level}-{kind}" for level, kinds in CALIBRATIONS.items() for kind in kinds]
    for number in range(min(times, PAGE * len(products))):
        product, first = products[number % len(products)], PAGE - number // len(products)
        yield Question(
            CALIBRATION_PAGES,
            {"product": product, "first": first},
            lambda data: [node["file"]["name"] for node in data["calibrations"]["nodes"]],
            "calibrations",
            {"product": product, "first": first},
            _names,
        )


def _lineage(name: str, direction: str, depth: int, query: str) -> Question:
    """Both find as many. What is beyond `most` is left out in another order."""
    return Question(
        query,
        {"name": name, "direction": direction, "depth": depth, "most": NODES},
        lambda data: [None] * len(data["dataFile"]["lineage"]["nodes"]),
        "lineage",
        {"name": name, "direction": direction, "depth": depth, "most": NODES},
        lambda items: [None] * len(items),
    )


def _plan(calibration: CalibrationFile, query: str) -> Question:
    return Question(
        query,
        {"calibration": calibration.name, "version": calibration.version},
        lambda data: [None] * data["affectedBy"]["files"],
        "affected",
        {"name": calibration.name},
        lambda references: [None] * len(references),
    )
