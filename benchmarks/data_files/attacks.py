"""Attacks on data files, by one client. In the store, thousands of runs used each calibration of `HOSTILE`."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cache
from itertools import count, cycle
from typing import TYPE_CHECKING, Any

import orjson

from benchmarks.data_files.reading import PLAN, WITH_EDGES
from benchmarks.data_files.world import APIDS, PRODUCTS, START, Granule, World, date_of, packets
from benchmarks.data_files.writing import LINEAGE_PATH, RECORD, REGISTER, file_input
from graph.domains.data_files.datasets import OWN_NAMESPACE

if TYPE_CHECKING:
    from benchmarks.attacks import Attack

HOSTILE = World(400)
JSON = "application/json"
FILES = 1000  # of a request
METADATA = {f"key-{number}": "x" * 100 for number in range(6)}  # with it, a request has nearly the most bytes
OUTPUTS = 400  # of an OpenLineage event; as many as a transaction holds
PAUSE_S = 0.2  # between two bytes of a slow client
SLOW_BYTES, LARGE_BYTES = 20, 4_000_000  # that come, and that are announced
WIDE = """lineage(direction: BOTH, depth: 20, maxNodes: 1000) {
  nodes { distance file { name revision level product archiveTime checksum } run { algorithm version startedAt } }
  edges { relation runId file { name revision } }
}"""
LISTS = """query ($filter: DataFileFilter) {
  dataFiles(first: 1000, filter: $filter) { nodes { name level product applicableDates sortable { identifier } } }
}"""
NO_TYPE = 'dataFiles(first: 100, filter: {type: "X%d", version: LATEST}) { nodes { name } }'


async def plans(attack: "Attack") -> None:
    """Plans of ten thousand files."""
    calibration = next(_hubs())
    await attack.post_variables(PLAN, {"calibration": calibration.name, "version": calibration.version})


async def hubs(attack: "Attack") -> None:
    """The largest lineages of calibrations, with the runs of all files."""
    await attack.post(f'{{ dataFile(name: "{next(_hubs()).name}") {{ {WIDE} }} }}')


async def ten_hubs(attack: "Attack") -> None:
    """Ten lineages of hubs at once."""
    fields = (f'f{n}: dataFile(name: "{next(_hubs()).name}") {{ {WIDE} }}' for n in range(10))
    await attack.post(f"{{ {' '.join(fields)} }}")


async def unbounded(attack: "Attack") -> None:
    """Lineages of more nodes than there may be."""
    given = {"name": next(_hubs()).name, "direction": "BOTH", "depth": 2**31 - 1, "most": 2**31 - 1}
    await attack.post_variables(WITH_EDGES, given)


async def lists(attack: "Attack") -> None:
    """Pages of a thousand files with random filters, of the latest versions on all days."""
    level = random.choice(list(PRODUCTS))  # noqa: S311
    filters: Mapping[str, Any] = {
        "version": random.choice(["LATEST", "LATEST_MAJOR"]),  # noqa: S311
        "endDate": date_of(random.randrange(HOSTILE.days)).isoformat(),  # noqa: S311
        **random.choice(  # noqa: S311
            [
                {},
                {"levels": [level]},
                {"products": [PRODUCTS[level][0]]},
                {"missingPackets": {"gt": 90}},
                {"type": "none"},
            ]
        ),
    }
    await attack.post_variables(LISTS, {"filter": filters})


def registrations(attack: "Attack") -> Awaitable[None]:
    """A thousand new files with as much metadata as a request may have."""

    def body() -> bytes:
        first = next(_numbers()) * FILES
        files = [_large_file(first + each) for each in range(FILES)]
        return orjson.dumps({"query": REGISTER, "variables": {"input": {"files": files}}})

    return attack.upload(body, JSON, "/graphql")


def runs(attack: "Attack") -> Awaitable[None]:
    """Runs that used a thousand files."""

    def body() -> bytes:
        number, day = next(_numbers()), random.randrange(HOSTILE.days - 20)  # noqa: S311
        names = [each.name for apart in range(14) for each in HOSTILE.granules("L1A", day + apart)][:FILES]
        made = {"name": f"made-{number}", "level": "L2", "product": "SW"}
        run = {"algorithm": "a", "used": [{"name": name} for name in names], "generated": [made]}
        return orjson.dumps({"query": RECORD, "variables": {"input": run}})

    return attack.upload(body, JSON, "/graphql")


async def cycles(attack: "Attack") -> None:
    """Runs that would make a file of packets from what was made from it in twenty days."""
    day = 19 + 20 * random.randrange(HOSTILE.days // 20)  # noqa: S311
    used = [{"name": each.name} for each in HOSTILE.granules("L2", day)]
    run = {"algorithm": "a", "used": used, "generated": [file_input(packets(day - 19, 3))]}
    await attack.post_variables(RECORD, {"input": run})


def open_lineage(attack: "Attack") -> Awaitable[None]:
    """OpenLineage events with 400 outputs each."""
    return attack.upload(lambda: orjson.dumps([_event(OUTPUTS)]), JSON, LINEAGE_PATH)


def small_events(attack: "Attack") -> Awaitable[None]:
    """A thousand OpenLineage events, each of another run."""
    return attack.upload(lambda: orjson.dumps([_event(1) for _ in range(FILES)]), JSON, LINEAGE_PATH)


async def slow_clients(attack: "Attack") -> None:
    """OpenLineage events that come byte by byte, and never end."""
    async with attack.connection() as (_, writer):
        writer.write(_head())
        for _ in range(SLOW_BYTES):
            if not attack.has_time:
                break
            writer.write(b"[")
            await writer.drain()
            await asyncio.sleep(PAUSE_S)
    attack.answers["left"] += 1


def broken_events(attack: "Attack") -> Awaitable[None]:
    """Bodies of OpenLineage that are none."""
    return next(_broken())(attack)


def _head() -> bytes:
    """The head of a request whose body is large."""
    token = os.environ["ATTACK_TOKEN"]
    lines = (f"POST {LINEAGE_PATH} HTTP/1.1", "Host: x", f"Content-Type: {JSON}", f"Authorization: Bearer {token}")
    return "\r\n".join([*lines, f"Content-Length: {LARGE_BYTES}", "", ""]).encode()


@cache
def _broken() -> Iterator[Callable[["Attack"], Awaitable[None]]]:
    deep = b"[" * 100_000 + b"]" * 100_000
    wide = orjson.dumps([{}] * 1_000_000)
    bodies = (deep, wide, b"[" + b"0," * 2_000_000 + b"0]", b"\xff" * 1000, orjson.dumps([_event(1) | {"run": 7}]))
    return cycle([lambda attack, body=body: attack.upload(lambda: body, JSON, LINEAGE_PATH) for body in bodies])


@cache
def _hubs() -> Iterator[Any]:
    return cycle([each for each in HOSTILE.calibrations if each.level == "L1A"])


@cache
def _numbers() -> Iterator[int]:
    return count()


def _large_file(number: int) -> dict[str, Any]:
    day = date_of(number % HOSTILE.days).isoformat()
    made = {"name": f"FLOOD-{number}", "level": "L0", "checksum": f"{number:032x}", "metadata": METADATA}
    return made | {"sortable": [{"type": f"APID{APIDS[number % 4]}", "applicableDates": [day]}]}


def _event(outputs: int) -> dict[str, Any]:
    number = next(_numbers())
    inputs = [each.name for each in (Granule("L1A", "RAD", number % HOSTILE.days, n) for n in range(10))]
    return {
        "eventType": "COMPLETE",
        "eventTime": START.isoformat(),
        "run": {"runId": f"00000000-0000-4000-8000-{number:012x}"},
        "job": {"namespace": "flood", "name": "job"},
        "inputs": [{"namespace": OWN_NAMESPACE, "name": name} for name in inputs],
        "outputs": [{"namespace": "flood", "name": f"flood-{number}-{each}"} for each in range(outputs)],
        "producer": "https://example.org/flood",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
