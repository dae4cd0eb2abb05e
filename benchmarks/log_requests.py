"""What attacks on service logs send: requests of OTLP as large as they may be, and fields that read all logs."""

import gzip
import random
import time
from collections.abc import Callable, Iterator
from functools import cache

import orjson
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from benchmarks.service_logs import Log, batches, encoded

RECORDS = 10_000  # the most of a request
JSON_RECORDS = 5_000  # some 3.9 MiB
MUTATED_LOGS = 1000  # the most of a mutation
MOST_PROTOBUF = 16 * 1024 * 1024  # bytes
BOMB_BYTES = 512 * 1024 * 1024  # of zeros
MINUTE_NS = 60 * 1_000_000_000

ALL_FIELDS = (
    "id logId service type level severityNumber message loggedAt timeUnixNano metadata traceId spanId eventName"
)
WRITE = "mutation ($logs: [ServiceLogInput!]!) { writeServiceLogs(input: {logs: $logs}) { accepted skipped rejected } }"


def page_of(condition: str) -> str:
    """The field for a page of all logs that fulfil a condition."""
    return f"serviceLogs(first: 100, filter: {{{condition}}}) {{ nodes {{ id message }} }}"


RARE_TEXT = page_of('text: "no such text %d"')
NO_METADATA = page_of('metadata: [{key: "http.method", value: "NONE%d"}]')
NO_TRACE = page_of(f'traceId: "{"%d" * 32}"')
SERVICES = orjson.dumps([f"service-{number:03}" for number in range(100)]).decode()
PAGE_OF_SERVICES = f"{{ serviceLogs(first: 1000, filter: {{services: {SERVICES}}}) {{ nodes {{ {ALL_FIELDS} }} }} }}"
RECENT_PAGE = f"{{ serviceLogs(first: 1000) {{ edges {{ cursor node {{ {ALL_FIELDS} }} }} }} }}"


def volume() -> str:
    """The field for the volume of a day by service and minute."""
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 24 * 3600))
    return f'serviceLogVolume(interval: MINUTE, by: SERVICE, startTime: "{start}") {{ startsAt service count }}'


def protobuf_requests() -> Iterator[bytes]:
    """Requests of 10,000 records, whose times all differ."""
    batch = ExportLogsServiceRequest.FromString(encoded(_logs(RECORDS)))
    records = batch.resource_logs[0].scope_logs[0].log_records
    while True:
        moved_ns = random.randrange(MINUTE_NS)  # noqa: S311
        for record in records:
            record.time_unix_nano -= moved_ns
        yield bytes(batch.SerializeToString())


def json_requests() -> Iterator[bytes]:
    """Requests of nearly 4 MiB in JSON, whose times all differ."""
    message = ExportLogsServiceRequest.FromString(encoded(_logs(JSON_RECORDS)))
    batch = MessageToDict(message, use_integers_for_enums=True)
    records = batch["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    for record in records:
        record |= {"traceId": "5b8efff7" * 4, "spanId": "eee19b7e" * 2}
    while True:
        moved_ns = random.randrange(MINUTE_NS)  # noqa: S311
        for record in records:
            record["timeUnixNano"] = str(int(record["timeUnixNano"]) - moved_ns)
        yield orjson.dumps(batch)


def mutations() -> Iterator[bytes]:
    """Requests of `writeServiceLogs` with 1,000 logs, each of another minute and most of another service."""
    while True:
        second = int(time.time()) - random.randrange(24 * 3600)  # noqa: S311
        logs = [
            {
                "service": f"service-{number % 100:03}",
                "message": f"log {number}",
                "loggedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second - 60 * number)),
            }
            for number in range(MUTATED_LOGS)
        ]
        yield orjson.dumps({"query": WRITE, "variables": {"logs": logs}})


def _logs(number: int) -> list[Log]:
    (batch,) = batches(number, number, time.time_ns())
    return batch


@cache
def bomb() -> bytes:
    """A gzip body that would be far larger than a body may be."""
    return gzip.compress(bytes(BOMB_BYTES))


@cache
def zipped_records() -> bytes:
    """A gzip body of 16 MiB of records of two bytes."""
    return gzip.compress(two_byte_records())


@cache
def two_byte_records() -> bytes:
    """A body of 16 MiB of records of two bytes."""
    scope = _field(2, b"\x12\x00" * (MOST_PROTOBUF // 2 - 16))
    return _field(1, scope)


@cache
def many_scopes() -> bytes:
    """A body of 10,000 records, each in a scope of its own, of one resource with many attributes."""
    resource = b"".join(_field(1, _field(1, b"%0100d" % number)) for number in range(100))
    return _field(1, _field(1, resource) + _field(2, _field(2, b"")) * RECORDS)


@cache
def tiny_objects() -> bytes:
    """A body of 4 MiB of JSON, which is a list of empty objects."""
    values = b"{}," * (4 * 1024 * 1024 // 3 - 100) + b"{}"
    return b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":[%s]}]}]}]}' % values


def _field(number: int, content: bytes) -> bytes:
    """A field that holds a message, as protobuf writes it."""
    size, written = len(content), bytearray([number << 3 | 2])
    while size > 127:
        written.append(size & 127 | 128)
        size >>= 7
    return bytes([*written, size]) + content


@cache
def stream(make: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """The bodies that all connections of an attacker take from."""
    return make()
