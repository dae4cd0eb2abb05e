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
from tests.domains.otlp.senders import PATH, receiving
from tests.processes import TIMEOUT_S

HERE = Path(__file__).parent
PACKAGES = [NpmPackage(**each) for each in orjson.loads((HERE / "exporter_packages.json").read_bytes())]
RUNNER = HERE / "exporter.cjs"
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
