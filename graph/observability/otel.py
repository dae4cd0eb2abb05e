"""Spans by OpenTelemetry's semantic conventions, exported over OTLP by HTTP.

OpenTelemetry's own variables set the target, the sampling and the service's name
(`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, `OTEL_SERVICE_NAME`, ...). A document and
its variables are never part of a span: they may hold private data.

Source: https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/ and
https://opentelemetry.io/docs/specs/semconv/database/database-spans/
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from graph import __version__
from graph.core.errors import outcome_of
from graph.observability.tracing import OperationSpan, Tracing

SYSTEMS = {"dynamodb": "aws.dynamodb"}  # an engine of the store → its name in the conventions

_TRACE_CONTEXT = TraceContextTextMapPropagator()


@asynccontextmanager
async def exporting() -> AsyncIterator["OtelTracing"]:
    """Export spans in the background, and the remaining ones at the end."""
    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    try:
        yield OtelTracing(provider.get_tracer("quakegraph", __version__))
    finally:
        await asyncio.to_thread(provider.shutdown)


def _resource() -> Resource:
    named = SERVICE_NAME in OTELResourceDetector().detect().attributes  # set by a variable
    own = {SERVICE_VERSION: __version__} if named else {SERVICE_NAME: "quakegraph", SERVICE_VERSION: __version__}
    return Resource.create(own)


class OtelTracing(Tracing):
    """Makes spans with one tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def operation(self, headers: Mapping[str, str]) -> Iterator["_OperationSpan"]:
        """Open the span of an operation. Until its type is known, it has the name of the conventions."""
        caller = _TRACE_CONTEXT.extract(headers)
        with self._tracer.start_as_current_span(
            "GraphQL Operation",
            caller,
            SpanKind.SERVER,
            record_exception=False,  # its message may hold internal details
            set_status_on_exception=False,
        ) as span:
            yield _OperationSpan(span)

    def store(self, engine: str) -> "_StoreSpans":
        """Makes spans of the calls of a store."""
        return _StoreSpans(self._tracer, SYSTEMS.get(engine, engine))


class _OperationSpan(OperationSpan):
    def __init__(self, span: Span) -> None:
        self._span = span

    def end(self, operation: str | None, name: str | None, code: str | None) -> None:
        if operation:
            self._span.update_name(operation)  # clients choose operation names, so there are too many of them
            self._span.set_attribute("graphql.operation.type", operation)
        if name:
            self._span.set_attribute("graphql.operation.name", name)
        if code:
            _fail(self._span, code)


class _StoreSpans:
    def __init__(self, tracer: Tracer, system: str) -> None:
        self._tracer = tracer
        self._system = system

    @contextmanager
    def call(self, operation: str, tables: Iterable[str] = ()) -> Iterator[None]:
        """Open the span of a call that an operation makes. Background work belongs to no trace."""
        if not get_current_span().get_span_context().is_valid:
            yield
            return
        # The span does not become the current one: it has no children, and a scan may end in another context.
        collections = dict.fromkeys(tables)
        span = self._tracer.start_span(
            " ".join([operation, *collections]),
            kind=SpanKind.CLIENT,
            attributes={"db.system.name": self._system, "db.operation.name": operation},
        )
        if len(collections) == 1:  # the conventions have no attribute for several
            span.set_attribute("db.collection.name", *collections)
        try:
            yield
        except asyncio.CancelledError:
            _fail(span, "CANCELLED")
            raise
        except Exception as error:
            _fail(span, str(outcome_of(error)[1]))
            raise
        finally:
            span.end()


def _fail(span: Span, code: str) -> None:
    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR))
