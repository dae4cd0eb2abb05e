"""Measures service logs beside a plain table: ingest by OTLP, pages at any depth, and the size on disk.

    python -m benchmarks.service_logs --logs 1000000

starts each server on one CPU. The same requests in protobuf are sent to both, over some connections, by another CPU.
Then each is asked for pages of 100: by service, by type, and of all services, each time at another depth. The requests
are all different.
"""

import http.client
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from benchmarks.contenders import Contender, our_service, python_peer
from benchmarks.cpus import Cpus
from benchmarks.markdown import table
from benchmarks.servers import Server, running

SERVICES = 100
TYPES = ("application",) * 8 + ("system", "audit")
LEVELS = {9: "INFO", 5: "DEBUG", 13: "WARN", 17: "ERROR"}
SPAN_S = 24 * 3600  # the time range of all logs
CONNECTIONS = 4
PAGE = 100
TIMEOUT_S = 120
PAGES = """query ($filter: ServiceLogFilter!) {
  serviceLogs(filter: $filter, first: 100) {
    nodes { logId service type level message metadata timeUnixNano traceId spanId } pageInfo { hasNextPage }
  }
}"""


@dataclass(frozen=True, slots=True)
class Log:
    """One log, before it is encoded."""

    service: str
    log_type: str
    severity: int
    message: str
    metadata: Mapping[str, str | int]
    time_ns: int
    trace_id: bytes
    span_id: bytes

    @property
    def line(self) -> bytes:
        """The log as a line of JSON, as `quakegraph logs import` reads it."""
        return orjson.dumps(
            {
                "service": self.service,
                "type": self.log_type,
                "level": LEVELS[self.severity],
                "message": self.message,
                "metadata": self.metadata,
                "timeUnixNano": str(self.time_ns),
                "traceId": self.trace_id.hex(),
                "spanId": self.span_id.hex(),
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )


def batches(number: int, size: int, end_ns: int) -> Iterator[list[Log]]:
    """So many logs in batches, each of one service, in order of time."""
    chance = random.Random(15)  # noqa: S311 - the same logs in each run
    step = SPAN_S * 1_000_000_000 // number
    severities = list(LEVELS)
    for at in range(0, number, size):
        service = f"service-{at // size % SERVICES:03}"
        batch = []
        for nth in range(at, min(at + size, number)):
            took, status = chance.randrange(2000), chance.choice((200, 200, 200, 204, 404, 500))
            metadata: dict[str, str | int] = {
                "http.method": "GET",
                "http.status_code": status,
                "duration_ms": took,
                "order": nth,
            }
            batch.append(
                Log(
                    service,
                    chance.choice(TYPES),
                    chance.choices(severities, (80, 10, 7, 3))[0],
                    f"GET /api/v1/orders/{nth} answered {status} in {took} ms",
                    {**metadata, "host.name": f"web-{nth % 7}"},
                    end_ns - (number - nth) * step,
                    chance.randbytes(16),
                    chance.randbytes(8),
                )
            )
        yield batch


def encoded(batch: list[Log]) -> bytes:
    """The request that sends a batch."""
    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    resource.resource.attributes.add(key="service.name").value.string_value = batch[0].service
    records = resource.scope_logs.add().log_records
    for log in batch:
        record = records.add(
            time_unix_nano=log.time_ns, severity_number=log.severity, trace_id=log.trace_id, span_id=log.span_id
        )
        record.body.string_value = log.message
        for name, value in log.metadata.items():
            attribute = record.attributes.add(key=name).value
            if isinstance(value, int):
                attribute.int_value = value
            else:
                attribute.string_value = value
        if log.log_type != "application":
            record.attributes.add(key="log.type").value.string_value = log.log_type
    return bytes(request.SerializeToString())


@dataclass(frozen=True, slots=True)
class Ingest:
    """The measured ingest."""

    seconds: float
    cpu_seconds: float  # of the server


def sent(server: Server, bodies: list[bytes]) -> Ingest:
    """Send all requests, over some connections."""
    cpu, began = server.cpu_seconds(), perf_counter()
    senders = [threading.Thread(target=_send, args=(server, bodies[at::CONNECTIONS])) for at in range(CONNECTIONS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    return Ingest(perf_counter() - began, server.cpu_seconds() - cpu)


def _send(server: Server, bodies: list[bytes]) -> None:
    headers = {"Content-Type": "application/x-protobuf", **server.contender.headers}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)) as connection:
        for body in bodies:
            connection.request("POST", "/v1/logs", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != http.client.OK or text:
                raise click.ClickException(f"HTTP {answer.status}: {text[:300]!r}")


Ask = Callable[[http.client.HTTPConnection, Server, Mapping[str, str], int], int]
"""Asks for the page before a time, epoch nanoseconds, and returns how many logs it has."""


def ask_ours(connection: http.client.HTTPConnection, server: Server, wanted: Mapping[str, str], before: int) -> int:
    """A page by GraphQL."""
    end = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(before // 1_000_000_000))
    selected: dict[str, object] = {"endTime": f"{end}.{before // 1000 % 1_000_000:06}Z"}
    if "service" in wanted:
        selected["services"] = [wanted["service"]]
    if "type" in wanted:
        selected["types"] = [wanted["type"].upper()]
    body = orjson.dumps({"query": PAGES, "variables": {"filter": selected}})
    connection.request("POST", "/graphql", body, {"Content-Type": "application/json", **server.contender.headers})
    return len(orjson.loads(connection.getresponse().read())["data"]["serviceLogs"]["nodes"])


def ask_peer(connection: http.client.HTTPConnection, server: Server, wanted: Mapping[str, str], before: int) -> int:
    """A page by an address."""
    parameters = "".join(f"&{name}={value}" for name, value in wanted.items())
    connection.request("GET", f"/logs?first={PAGE}&before={before}{parameters}")
    return len(orjson.loads(connection.getresponse().read()))


def paged(server: Server, ask: Ask, times: int, end_ns: int) -> dict[str, list[float]]:
    """How long pages take, milliseconds: by service, by type and of all."""
    chance = random.Random(5)  # noqa: S311 - the same pages for both
    took: dict[str, list[float]] = {"by service": [], "by type": [], "recent": []}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)) as connection:
        ask(connection, server, {}, end_ns)
        for _ in range(times):
            wanted: dict[str, Mapping[str, str]] = {
                "by service": {"service": f"service-{chance.randrange(SERVICES):03}"},
                "by type": {"type": chance.choice(sorted(set(TYPES)))},
                "recent": {},
            }
            for name, filter_ in wanted.items():
                before = end_ns - chance.randrange(SPAN_S * 9 // 10) * 1_000_000_000
                began = perf_counter()
                found = ask(connection, server, filter_, before)
                took[name].append((perf_counter() - began) * 1000)
                if found < PAGE and name != "by service":
                    raise click.ClickException(f"a page {name} has only {found} logs")
    return took


def size_of(store: Path) -> int:
    """The bytes of a file and what lies beside it."""
    return sum(path.stat().st_size for path in store.parent.glob(f"{store.name}*"))


@click.command()
@click.option("--logs", "number", default=1_000_000, show_default=True, help="Number of logs.")
@click.option("--batch", default=1000, show_default=True, help="Logs of one request.")
@click.option("--pages", default=300, show_default=True, help="Pages of each kind.")
def main(number: int, batch: int, pages: int) -> None:
    """Measure ingest and pages of service logs."""
    cpus = Cpus.of_this_machine()
    end_ns = time.time_ns()
    raw, bodies = 0, []
    for logs in batches(number, batch, end_ns):
        raw += sum(len(log.line) for log in logs)
        bodies.append(encoded(logs))
    click.echo(f"{cpus}. {number:,} logs of {raw / number:.0f} bytes as JSON lines.\n")
    rows = []
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        peer = python_peer("plain_logs", folder / "plain.db")
        plain = Contender(peer.key, peer.command, {**peer.environment, "LOGS_DB": str(folder / "plain.db")})
        ours = our_service(folder / "ours.db", scopes="servicelogs:read,servicelogs:write")
        for name, contender, ask in (("ours", ours, ask_ours), ("a plain table", plain, ask_peer)):
            store = folder / ("ours.db" if contender is ours else "plain.db")
            with running(contender, cpus.server, folder) as server:
                found = sent(server, bodies)
                took = paged(server, ask, pages, end_ns)
            cells = [name, f"{number / found.seconds:,.0f}", f"{number / found.cpu_seconds:,.0f}"]
            for times in took.values():
                cut = quantiles(times, n=100)
                cells.append(f"{cut[49]:.1f} / {cut[94]:.1f}")
            rows.append([*cells, f"{size_of(store) / 1e6:,.0f}", f"{size_of(store) / raw:.2f}"])
    head = ["server", "logs/s", "logs per CPU second", *(f"page {kind}, ms p50 / p95" for kind in took)]
    click.echo(table([*head, "MB on disk", "of the raw JSON"], rows))


if __name__ == "__main__":
    main()
