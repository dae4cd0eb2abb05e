"""Requests for properties: any that protobuf can express, within the limits of a log."""

from typing import Any

from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.domains.otlp.messages import joined, record, request

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = TEXTS | st.sampled_from(["log.type", "log.record.uid", "service.name", "otel.scope.name"])
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | TEXTS | st.binary(max_size=9)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["audit", "SYSTEM"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(NAMES, inside, max_size=3),
    max_leaves=8,
)
ATTRIBUTES = st.dictionaries(NAMES, VALUES, max_size=4)
TIMES = st.integers(0, 2**64 - 1) | st.just(0)
RECORDS = st.builds(
    record,
    VALUES | st.just(...),
    attributes=ATTRIBUTES,
    time_unix_nano=TIMES,
    observed_time_unix_nano=TIMES,
    severity_number=st.integers(0, 24) | st.integers(-(2**31), 2**31 - 1),
    severity_text=TEXTS | st.sampled_from(["INFO", "Error"]),
    event_name=TEXTS,
    trace_id=st.binary(max_size=17) | st.just(bytes(16)),
    span_id=st.binary(max_size=9) | st.just(bytes(8)),
    flags=st.integers(0, 255),
)


@st.composite
def requests(draw: st.DrawFn) -> ExportLogsServiceRequest:
    """Requests of some resources."""
    made = []
    for _ in range(draw(st.integers(0, 3))):
        records = draw(st.lists(RECORDS, max_size=3))
        service: Any = draw(st.none() | TEXTS)
        attributes, scope, name = draw(ATTRIBUTES), draw(ATTRIBUTES), draw(TEXTS)
        made.append(request(*records, service=service, resource=attributes, scope=scope, name=name))
    return joined(*made)
