"""The official exporters of OpenTelemetry send to a running service."""

import os
import subprocess
import tempfile
from pathlib import Path

import orjson
import pytest
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.common.http import Compression
from opentelemetry.exporter.otlp.json.http._log_exporter import OTLPLogExporter as JsonExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as ProtobufExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

from graph.core.clock import now_ms
from graph.domains.service_logs.scopes import SERVICE_LOGS_WRITE
from scripts.npm_package import NpmPackage
from tests.bearers import bearer
from tests.domains.service_logs.otlp.senders import PATH, receiving
from tests.processes import TIMEOUT_S

PACKAGES = (
    NpmPackage(
        "@opentelemetry/api",
        "1.9.1",
        sha512="gLyJlPHPZYdAk1JENA9LeHejZe1Ti77/pTeFm/nMXmQH/HFZlcS/O2XJB+L8fkbrNSqhdtlvjBVjxwUYanNH5Q==",
    ),
    NpmPackage(
        "@opentelemetry/api-logs",
        "0.223.1",
        sha512="DtIY6YRp0Q0GRVtiKH+N6zAoXQzYtlwbXqZEN/UhBgkKgHYPo2RF6vvB8jGebwcESwquS0S3Vn5fouu7dI17Tg==",
    ),
    NpmPackage(
        "@opentelemetry/core",
        "2.12.1",
        sha512="3hr6Pj0/G0oVgIGb97IVcw9BjZ6eudonKjrmQxw7JquyU/XmVbJelkmyoU0sT/OvHGkv+r1tcrwv8MbSX7aKHw==",
    ),
    NpmPackage(
        "@opentelemetry/exporter-logs-otlp-http",
        "0.223.1",
        sha512="8YEUwMllir4SyAOmFb3NjcLJqBdUNqaRwTDZ4+yegnWnTAzMBbJzd06ZTewhOstPJUblPwqHuwpXM8aSHIXtTw==",
    ),
    NpmPackage(
        "@opentelemetry/otlp-exporter-base",
        "0.223.1",
        sha512="TVbeqdBiYKS12OWZOk3y709l0yh66mCSAO8bSbIK8/Og3MQmy1vVBWEp+HbJvONmc02c226/8t2r7hmEgGcMvA==",
    ),
    NpmPackage(
        "@opentelemetry/otlp-transformer",
        "0.223.1",
        sha512="22EJNk0qjI3klrON0aFR0BXye6FOM2vrkpjXjW8KDeSSiMez7+T4ARXfAh8+ucS3dEnhpSoGdfs4E/z4EIYjXQ==",
    ),
    NpmPackage(
        "@opentelemetry/resources",
        "2.12.1",
        sha512="IwrNcuLCvnJAnNLkXxx0Uw+rjBkVW6VGQrhd7PanNf0LavOzkTk9sDAjdqegM7p/VdxefNRrii6d+wBRJfz35g==",
    ),
    NpmPackage(
        "@opentelemetry/sdk-logs",
        "0.223.1",
        sha512="GpL453eVjCUn2fC3LYBuckCyPleN7FqpvmndT2kZ8gO8c6hHRL5X1BqLLDbVmdw1QDT4ZVyK9G4MNfz5xEkXew==",
    ),
    NpmPackage(
        "@opentelemetry/sdk-metrics",
        "2.12.1",
        sha512="HeSblYhpds4QWliBE7ANCfoa2p3QH83uUxX4vO2qtk6BhIcqP7qDYYT36z3LOXftEBpdfbDStZxv+Cw5mqKX5g==",
    ),
    NpmPackage(
        "@opentelemetry/sdk-trace",
        "2.12.1",
        sha512="vANdmCYnn+Ka/alBKxwICMl4Koa+aQBlRC9zAZy+Ig1Obbo3RZt2oiyv+8/gET5rrBBYrO3YniPcXfwZrN01rg==",
    ),
    NpmPackage(
        "@opentelemetry/semantic-conventions",
        "1.45.0",
        sha512="aOP45mbcOKbQVvFWfQmgoOPT8R2iwbbbgl83k4CujGV9BrJhFr3qG55MFpwFs4YLabpuW3HhzUY9eQxPlDqaZw==",
    ),
)
RUNNER = Path(__file__).with_name("exporter.cjs")
TRACE_ID, SPAN_ID = "0102030405060708090a0b0c0d0e0f10", "0102030405060708"


@pytest.mark.parametrize("exporter_type", [ProtobufExporter, JsonExporter], ids=["protobuf", "json"])
@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP], ids=["plain", "gzip"])
def test_the_exporters_of_python_send_protobuf_and_json(
    tmp_path: Path, exporter_type: type[ProtobufExporter] | type[JsonExporter], compression: Compression
) -> None:
    now = now_ms() * 1_000_000
    span = NonRecordingSpan(SpanContext(int(TRACE_ID, 16), int(SPAN_ID, 16), is_remote=False))
    with receiving(tmp_path, clock=now_ms) as sender:
        exporter = exporter_type(
            endpoint=sender.service.url + PATH, headers=bearer(SERVICE_LOGS_WRITE), compression=compression
        )
        provider = LoggerProvider(Resource({"service.name": "checkout", "host.name": "h1"}), shutdown_on_exit=False)
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        logger = provider.get_logger("shop.audit", "1.2")
        for at in range(1000):
            logger.emit(
                LogRecord(
                    timestamp=now + at,
                    context=set_span_in_context(span),
                    severity_number=SeverityNumber.WARN,
                    body=f"paid {at}",
                    attributes={"order": 18, "amount": 12.5, "paid": True, "items": ["tea", "milk"]},
                    event_name="payment",
                )
            )
        assert provider.force_flush()
        provider.shutdown()

        answer = sender.service.ask("{ serviceLogs(first: 1000, orderBy: TIME_ASC) { nodes { message } } }")
        newest = sender.service.ask(
            """{ serviceLogs(first: 1) {
              nodes { service type severityNumber timeUnixNano metadata traceId spanId eventName } } }"""
        )

    assert [log["message"] for log in answer["serviceLogs"]["nodes"]] == [f"paid {at}" for at in range(1000)]
    assert newest["serviceLogs"]["nodes"] == [
        {
            "service": "checkout",
            "type": "AUDIT",
            "severityNumber": 13,
            "timeUnixNano": str(now + 999),
            "metadata": {
                "host.name": "h1",
                "otel.scope.name": "shop.audit",
                "otel.scope.version": "1.2",
                "order": 18,
                "amount": 12.5,
                "paid": True,
                "items": ["tea", "milk"],
            },
            "traceId": TRACE_ID,
            "spanId": SPAN_ID,
            "eventName": "payment",
        }
    ]


@pytest.mark.needs("npm", "node")
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_the_exporter_of_javascript_sends_json(tmp_path: Path, compression: str) -> None:
    with receiving(tmp_path, clock=now_ms) as sender, tempfile.TemporaryDirectory() as modules:
        for package in PACKAGES:
            link = Path(modules, package.name)
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(package.fetched())
        result = subprocess.run(
            [
                *("node", "--preserve-symlinks", "--preserve-symlinks-main", str(RUNNER)),
                *(sender.service.url + PATH, bearer(SERVICE_LOGS_WRITE)["Authorization"], compression),
            ],
            env={**os.environ, "NODE_PATH": modules},
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        logs = sender.stored()

    assert result.stderr == b""
    assert orjson.loads(result.stdout) == {"code": 0}  # ExportResultCode.SUCCESS
    assert [log["message"] for log in logs] == ["first", '{"a":[1,"b"]}', "third"]
    assert {(log["service"], log["type"]) for log in logs} == {("cart", "SYSTEM")}
    first = logs[0]
    assert (first["severityNumber"], first["eventName"]) == (17, "failed")
    assert (first["traceId"], first["spanId"]) == (TRACE_ID, SPAN_ID)
    metadata = first["metadata"]
    assert {name: metadata[name] for name in ("count", "ratio", "ok", "names")} == {
        "count": 3,
        "ratio": 0.5,
        "ok": True,
        "names": ["a", "b"],
    }
