"""Registered files and recorded runs a second, over some connections."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson

from benchmarks.data_files.world import GRANULES, PRODUCTS, Granule, World, file_of, inputs, packets
from benchmarks.many_requests import CONNECTIONS, Taken, ask, connection_to, send_all
from benchmarks.markdown import table
from benchmarks.servers import Server
from graph.domains.data_files.datasets import OWN_NAMESPACE
from graph.domains.data_files.new_files import NewFile

FILES = 100  # or events, of a request
LINEAGE_PATH = "/api/v1/lineage"
REGISTER = "mutation ($input: RegisterFilesInput!) { registerFiles(input: $input) { registered rejected } }"
RECORD = "mutation ($input: RecordRunInput!) { recordRun(input: $input) { run { id state } } }"


def measured(server: Server, world: World, requests: int) -> str:
    """So many requests of each kind, with files that are not there yet. Returns a table."""
    token = server.contender.headers["Authorization"].removeprefix("Bearer ")

    def register(number: int) -> None:
        files = [_register_input(number * FILES + each) for each in range(FILES)]
        done = ask(server, token, REGISTER, {"input": {"files": files}})["registerFiles"]
        if done["registered"] != FILES:
            raise RuntimeError(f"not all were registered: {done}")

    def record(number: int) -> None:
        ask(server, token, RECORD, {"input": run_input(world, number)})

    def report(number: int) -> None:
        _report(server, [_event(world, number)])

    def report_many(number: int) -> None:
        _report(server, [_event(world, 1_000_000 + number * FILES + each) for each in range(FILES)])

    rows = [
        _row(f"files in requests of {FILES}", server, register, requests, FILES),
        _row("runs that used ten files and made one", server, record, 10 * requests, 1),
        _row("OpenLineage events of such runs", server, report, 10 * requests, 1),
        _row(f"the same in requests of {FILES}", server, report_many, max(requests // 10, 1), FILES),
    ]
    return table([f"{CONNECTIONS} connections", "a second", "per CPU second", "MB"], rows)


def _row(name: str, server: Server, send: Callable[[int], None], requests: int, each: int) -> list[str]:
    taken = send_all(server, send, range(requests))
    of_all: Taken = replace(taken, requests=taken.requests * each)
    return [name, *of_all.cells, f"{server.memory_mb():.0f}"]


def _report(server: Server, events: list[dict[str, Any]]) -> None:
    answer = orjson.loads(connection_to(server).post(orjson.dumps(events), server.contender.headers, LINEAGE_PATH))
    if answer["summary"]["successful"] != len(events):
        raise RuntimeError(f"not all were taken in: {answer}")


def _event(world: World, number: int) -> dict[str, Any]:
    """An event that completes a further run on what is there."""
    run = run_input(world, number)
    return {
        "eventType": "COMPLETE",
        "eventTime": "2030-01-01T00:00:00Z",
        "run": {"runId": str(UUID(int=number, version=4))},
        "job": {"namespace": "benchmark", "name": run["algorithm"]},
        "inputs": [{"namespace": OWN_NAMESPACE, "name": file["name"]} for file in run["used"]],
        "outputs": [{"namespace": "benchmark", "name": f"reported-{number}"}],
        "producer": "https://example.org/scheduler",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def _register_input(number: int) -> dict[str, Any]:
    """A file of packets from after the mission."""
    return file_input(packets(10_000 + number // 23, number % 23))


def run_input(world: World, number: int) -> dict[str, Any]:
    """A further run on what is there."""
    level = list(PRODUCTS)[number % len(PRODUCTS)]
    like = Granule(level, PRODUCTS[level][number % 7 % 3], number % world.days, number % GRANULES)
    made = file_of(like)
    return {
        "algorithm": "further",
        "version": "2.0.0",
        "used": [{"name": name} for name in inputs(like)],
        "generated": [file_input(replace(made, name=f"FURTHER-{number}-{made.name}", algorithm_version="2.0.0"))],
    }


def file_input(file: NewFile) -> dict[str, Any]:
    """A file as a mutation takes it."""
    return {
        "name": file.name,
        "level": file.level,
        "product": file.product,
        "archiveTime": file.archive_time and file.archive_time.isoformat(),
        "ingestTime": file.ingest_time and file.ingest_time.isoformat(),
        "algorithmVersion": file.algorithm_version,
        "checksum": file.checksum,
        "size": file.size,
        "url": file.url,
        "sortable": [
            {
                "type": part.type,
                "applicableDates": [day.isoformat() for day in part.applicable_dates],
                "firstPacketTime": part.first_packet_time and part.first_packet_time.isoformat(),
                "lastPacketTime": part.last_packet_time and part.last_packet_time.isoformat(),
                "missingPacketCount": part.missing_packet_count,
                "filledGapCount": part.filled_gap_count,
            }
            for part in file.sortable
        ],
        "additional": [
            {"identifier": part.identifier, "attributes": dict(part.attributes)} for part in file.additional
        ],
    }
