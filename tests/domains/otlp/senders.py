"""A service that takes logs in, and what it has stored."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse

from graph.core.clock import Clock
from tests.domains.otlp.messages import JSON, PROTOBUF, as_json
from tests.service import Service, running
from tests.settings import Settings
from tests.store.samples import HeldClock

PATH = "/v1/logs"
STORED = """query ($filter: ServiceLogFilter) { serviceLogs(first: 100, filter: $filter, orderBy: TIME_ASC) {
  nodes { logId service type severityNumber message loggedAt timeUnixNano metadata traceId spanId eventName } } }"""


@dataclass(frozen=True)
class Answered:
    """An answer of OTLP, from either format."""

    status: int
    rejected: int = 0
    message: str = ""
    code: int = 0  # of google.rpc


@dataclass(frozen=True)
class Sender:
    """Sends requests to a service."""

    service: Service

    def post(self, body: bytes, media_type: str, **headers: str) -> httpx.Response:
        """Send bytes."""
        head = {"content-type": media_type, **{name.replace("_", "-"): each for name, each in headers.items()}}
        return self.service.http.post(PATH, content=body, headers=head)

    def send(self, request: ExportLogsServiceRequest, media_type: str = PROTOBUF, *, zipped: bool = False) -> Answered:
        """Send a request in one of the formats."""
        body = request.SerializeToString() if media_type == PROTOBUF else orjson.dumps(as_json(request))
        if zipped:
            return answered(self.post(gzip.compress(body), media_type, content_encoding="gzip"))
        return answered(self.post(body, media_type))

    def stored(self, **criteria: Any) -> list[dict[str, Any]]:
        """The stored logs, oldest first."""
        nodes: list[dict[str, Any]] = self.service.ask(STORED, {"filter": criteria})["serviceLogs"]["nodes"]
        return nodes

    def messages(self, **criteria: Any) -> list[str]:
        """The messages of the stored logs, oldest first."""
        return [log["message"] for log in self.stored(**criteria)]


def answered(answer: httpx.Response) -> Answered:
    """Read an answer in its own format."""
    if answer.headers["content-type"] == PROTOBUF:
        if answer.status_code == 200:
            partial = ExportLogsServiceResponse.FromString(answer.content).partial_success
            return Answered(200, partial.rejected_log_records, partial.error_message)
        status = Status.FromString(answer.content)
        return Answered(answer.status_code, message=status.message, code=status.code)
    assert answer.headers["content-type"] == JSON
    body = answer.json()
    if answer.status_code == 200:
        partial = body.get("partialSuccess", {"rejectedLogRecords": "0", "errorMessage": ""})
        return Answered(200, int(partial["rejectedLogRecords"]), partial["errorMessage"])
    return Answered(answer.status_code, message=body["message"], code=body["code"])


@contextmanager
def receiving(folder: Path, *, clock: Clock | None = None, **settings: Any) -> Iterator[Sender]:
    """A service without logs, at noon."""
    with running(Settings(store=f"sqlite:///{folder / 'logs.db'}", **settings), clock=clock or HeldClock()) as service:
        yield Sender(service)
