"""Spans, as a collector of OpenTelemetry receives them over OTLP: real HTTP, real protobuf."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.processes import NOWHERE, TIMEOUT_S, environment, started
from tests.service import running, serving, settings
from tests.settings import Settings

EVENT = '{ event(eventId: "us1") { mag } }'
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"  # pragma: allowlist secret
STORE = {"db.system.name": "sqlite", "db.collection.name": "earthquake-events"}


@dataclass
class Collector:
    """A service that traces, and what arrived of it."""

    settings: Settings
    spans: list[Span] = field(default_factory=list)
    resources: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def trace(self, *asked: str, headers: Sequence[dict[str, str]] = ({},)) -> None:
        """Ask the service with each of the headers, and end it, which exports what is left."""
        with running(self.settings) as service:
            for query, sent in product(asked, headers):
                answer = service.http.post("/graphql", json={"query": query}, headers=sent)
                assert answer.status_code == 200, answer.text

    async def take(self, request: Request) -> Response:
        """One export."""
        self.bodies.append(await request.body())
        for resource in ExportTraceServiceRequest.FromString(self.bodies[-1]).resource_spans:
            self.resources.append(attributes(resource.resource))
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return Response()

    @property
    def operations(self) -> list[Span]:
        """The spans of operations, in the order of their beginning."""
        found = [span for span in self.spans if span.kind == Span.SPAN_KIND_SERVER]
        return sorted(found, key=lambda span: span.start_time_unix_nano)

    def below(self, parent: Span) -> list[Span]:
        """The spans whose parent that is."""
        return [span for span in self.spans if span.parent_span_id == parent.span_id]


def attributes(of: Any) -> dict[str, str]:
    """The attributes of a span or a resource that are text."""
    each: list[KeyValue] = list(of.attributes)
    return {attribute.key: attribute.value.string_value for attribute in each}


@pytest.fixture
def collector(tmp_path: Path, usgs: UsgsServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that OpenTelemetry's variables name."""
    collector = Collector(settings(tmp_path / "traced.db", usgs, tracing=True))
    app = Starlette(routes=[Route("/v1/traces", collector.take, methods=["POST"])])
    with serving(app) as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        yield collector


def test_an_operation_is_a_span_with_its_store_calls_below(collector: Collector) -> None:
    ingest = 'ingestEvents(input: {events: [{eventId: "us1", eventTsMs: 0, mag: 1, lat: 1, lon: 1}]}) { upserted }'
    collector.trace(f"query Named {EVENT}", EVENT, f"mutation {{ {ingest} }}")

    named, anonymous, mutation = collector.operations
    named_query = {"graphql.operation.type": "query", "graphql.operation.name": "Named"}
    assert (named.name, attributes(named)) == ("query", named_query)
    assert (anonymous.name, attributes(anonymous)) == ("query", {"graphql.operation.type": "query"})
    for operation in (named, anonymous):
        call, _ = collector.below(operation)  # by its id, and as an alias
        assert (call.name, call.kind) == ("get earthquake-events", Span.SPAN_KIND_CLIENT)
        assert attributes(call) == {**STORE, "db.operation.name": "get"}
        assert call.trace_id == operation.trace_id
        assert operation.start_time_unix_nano <= call.start_time_unix_nano <= call.end_time_unix_nano
        assert call.end_time_unix_nano <= operation.end_time_unix_nano
        assert (operation.status.code, call.status.code) == (Status.STATUS_CODE_UNSET, Status.STATUS_CODE_UNSET)
    assert named.trace_id != anonymous.trace_id
    assert mutation.name == "mutation"
    calls = [collector.below(operation) for operation in collector.operations]
    assert len(collector.spans) == 3 + sum(map(len, calls))  # calls outside of operations are no spans
    stored = ["get_many", "get_many", "get", "transact", "get_many"]
    # Before it, the payload's file and its run; after it, the run's end, and logs.
    expected = ["transact", *stored, "transact", "put", "update"]
    assert [attributes(call)["db.operation.name"] for call in calls[-1]] == expected


def test_the_trace_of_the_client_is_continued_if_it_samples_it(collector: Collector) -> None:
    parents = (f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00", "00-nonsense-01")
    collector.trace(EVENT, headers=[{"traceparent": parent} for parent in parents])

    continued, new = collector.operations
    assert (continued.trace_id.hex(), continued.parent_span_id.hex()) == (TRACE, PARENT)
    assert [call.trace_id.hex() for call in collector.below(continued)] == [TRACE, TRACE]
    assert new.parent_span_id == b""


def test_a_failed_operation_tells_its_code_and_nothing_that_was_looked_for(collector: Collector) -> None:
    sesame = '{ event(eventId: "sesame") { mag } }'
    collector.trace('{ events(after: "sesame") { nodes { mag } } }', "{ event", sesame)

    invalid, unparsed, _ = collector.operations
    assert attributes(invalid) == {"graphql.operation.type": "query", "error.type": "INVALID_CURSOR"}
    assert (unparsed.name, attributes(unparsed)) == ("GraphQL Operation", {"error.type": "GRAPHQL_PARSE_FAILED"})
    assert {span.status.code for span in (invalid, unparsed)} == {Status.STATUS_CODE_ERROR}
    assert b"sesame" not in b"".join(collector.bodies)


def test_the_service_is_named_by_opentelemetrys_variables(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.trace(EVENT)
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=tremors,deployment.environment.name=test")
    collector.trace(EVENT)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "quakes")
    collector.trace(EVENT)

    assert [resource["service.name"] for resource in collector.resources] == ["quakegraph", "tremors", "quakes"]


def test_an_unreachable_collector_fails_no_request(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", NOWHERE)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")  # s; so long the end waits for what is left to be exported

    collector.trace(EVENT, EVENT)


# Without it


def test_opentelemetry_is_not_imported_if_tracing_is_off(tmp_path: Path) -> None:
    program = """
import asyncio, sys
import graph.cli
from graph.app import create_app
from graph.domains import DOMAINS
from graph.opening import open_services, read_settings
from graph.observability.tracing import open_tracing

async def main():
    settings = read_settings(DOMAINS)
    create_app(settings)
    async with open_tracing(False) as tracing, open_services(settings, DOMAINS, tracing=tracing):
        with tracing.operation({}) as span:
            span.end("query", None, "OK")
        # The messages of OTLP are no part of the extra: the service logs need them.
        print(sorted(name for name in sys.modules if name.startswith("opentelemetry.") and ".proto" not in name))

asyncio.run(main())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )

    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_tracing_without_the_extra_ends_with_one_line(tmp_path: Path) -> None:
    exporter = tmp_path / "opentelemetry" / "exporter"  # is found before the real one, and has nothing in it
    exporter.mkdir(parents=True)
    (exporter / "__init__.py").touch()

    with started("serve", "--port", "0", folder=tmp_path, settings={"GRAPH_TRACING": "true"}) as process:
        said = process.communicate(timeout=TIMEOUT_S)

    assert said == ("", "Error: GRAPH_TRACING: needs the extra `otel`: install quakegraph[otel]\n")
    assert process.returncode == 2
    assert not (tmp_path / "quakegraph.db").exists()
