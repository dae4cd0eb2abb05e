"""The answers of `POST /v1/logs`, and what senders rely on when they send again."""

import gzip
import socket
from pathlib import Path
from urllib.parse import urlsplit

from graph.core.errors import (
    BadRequest,
    DatabaseUnavailable,
    Forbidden,
    GraphError,
    InternalServerError,
    KeySetUnavailable,
    Overloaded,
    RateLimited,
    Unauthenticated,
)
from graph.domains.otlp.answers import code_of, headers_of
from graph.domains.request_logs.entities import LOG
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ, SERVICE_LOGS_WRITE
from graph.store.sqlite import open_sqlite
from tests.bearers import bearer
from tests.domains.entities import ENTITIES
from tests.domains.otlp.messages import JSON, NOON_NS, PROTOBUF, SPAN, TRACE, joined, record, request
from tests.domains.otlp.senders import PATH, Answered, Sender, answered, receiving
from tests.store.samples import HeldClock

HOUR_NS = 3_600_000_000_000


def test_logs_are_stored_once_with_all_that_was_sent(sender: Sender, media_type: str) -> None:
    sent = record(
        "paid",
        attributes={"amount": 12.5, "log.record.uid": "0b7d8a1e-6f0e-4b0b-9a66-0b3a6d1c2f10"},
        time_unix_nano=NOON_NS + 123_456_789,
        severity_number=13,
        trace_id=TRACE,
        span_id=SPAN,
        event_name="payment",
    )

    for zipped in (False, True):
        assert sender.send(request(sent, name="audit"), media_type, zipped=zipped) == Answered(200)

    assert sender.stored() == [
        {
            "logId": "0b7d8a1e-6f0e-4b0b-9a66-0b3a6d1c2f10",
            "service": "checkout",
            "type": "AUDIT",
            "severityNumber": 13,
            "message": "paid",
            "loggedAt": "2023-11-14T22:13:20.123Z",
            "timeUnixNano": str(NOON_NS + 123_456_789),
            "metadata": {
                "amount": 12.5,
                "log.record.uid": "0b7d8a1e-6f0e-4b0b-9a66-0b3a6d1c2f10",
                "otel.scope.name": "audit",
            },
            "traceId": TRACE.hex(),
            "spanId": SPAN.hex(),
            "eventName": "payment",
        }
    ]


def test_records_of_one_instant_keep_their_order_and_control_characters(sender: Sender, media_type: str) -> None:
    text = "".join(map(chr, range(32))) + "\x7f\x85\u2028😀"
    odd = record(text, attributes={text: text})
    sent = joined(request(record("a"), record("b"), service="x"), request(record("c"), odd, service="y"))

    assert sender.send(sent, media_type) == Answered(200)

    assert sender.messages(services=["x"]) == ["a", "b"]
    assert [(log["message"], log["metadata"]) for log in sender.stored(services=["y"])] == [
        ("c", None),
        (text, {text: text}),
    ]


def test_a_partial_success_names_ten_rejected_records_with_reasons_and_counts_the_rest(
    sender: Sender, media_type: str
) -> None:
    sent = joined(
        request(record("first"), record("odd trace", trace_id=b"\1" * 15)),
        request(record("no service"), service="a\nb"),
        request(
            record("ahead", time_unix_nano=NOON_NS + 3 * HOUR_NS),
            record("old", time_unix_nano=1),
            record("severe", severity_number=25),
            record("last"),
        ),
    )

    answer = sender.send(sent, media_type)

    assert (answer.status, answer.rejected) == (200, 4)
    assert [each.split(": ")[:2] for each in answer.message.split("; ")] == [
        ["record 2", "SERVICE_INVALID"],
        ["record 3", "TIME_IN_FUTURE"],
        ["record 4", "EXPIRED"],
        ["record 5", "LOG_INVALID"],
        ["record 1", "trace_id left out"],
    ]
    assert sender.messages() == ["first", "odd trace", "last"]

    answer = sender.send(request(*[record(severity_number=25)] * 1234), media_type)
    assert answer.rejected == 1234
    assert answer.message.endswith(
        "record 9: LOG_INVALID: The severity number must lie between 0 and 24.; and 1,224 more"
    )
    assert len(answer.message) < 2000


def test_json_answers_as_otlp_spells_it(sender: Sender) -> None:
    wrong = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":1}]}]}]}'

    assert sender.post(b'{"resourceLogs":[]}', JSON).content == b"{}"
    assert sender.post(wrong, JSON).json() == {
        "partialSuccess": {
            "rejectedLogRecords": "1",
            "errorMessage": 'record 0: LOG_INVALID: A value must be an object such as `{"stringValue": …}`.',
        }
    }


def test_names_that_otlp_does_not_have_are_named_in_a_warning(sender: Sender) -> None:
    record = '{"time_unix_nano":"1","severity_text":"x","body":{"string_value":"a"},"attributes":[{"name":"b"}]}'
    scope = f'{{"scope":{{"Name":"x"}},"log_records":[],"logRecords":[{record}]}}'
    resource = f'{{"resource":{{"attrs":[]}},"scope_logs":1,"scopeLogs":[{scope}]}}'
    body = f'{{"resource_logs":[],"resourceLogs":[{resource}]}}'

    for _ in range(2):  # each request has a warning of its own
        partial = sender.post(body.encode(), JSON).json()["partialSuccess"]
        assert partial["rejectedLogRecords"] == "0"
        assert partial["errorMessage"] == (
            "ignored, since OTLP does not have it: `Name` of a scope, `attrs` of a resource, `log_records` of "
            "`scopeLogs`, `name` of an attribute, `resource_logs` of the request, `scope_logs` of `resourceLogs`, "
            "`severity_text` of a log record, `string_value` of a value, `time_unix_nano` of a log record"
        )
    known = '{"resourceLogs":[{"schemaUrl":"x","scopeLogs":[{"scope":{"name":"x"},"logRecords":[{"flags":1}]}]}]}'
    assert sender.post(known.encode(), JSON).content == b"{}"


def test_a_wrong_type_in_a_resource_refuses_the_request(sender: Sender) -> None:
    scopes = '[{"logRecords":[{"body":{"stringValue":"a"}}]}]'
    for resource in ('{"attributes":1}', '{"attributes":[{"key":"a","value":{"intValue":"x"}}]}'):
        body = f'{{"resourceLogs":[{{"scopeLogs":{scopes}}},{{"resource":{resource},"scopeLogs":{scopes}}}]}}'
        answer = answered(sender.post(body.encode(), JSON))
        assert (answer.status, answer.code) == (400, 3)
    assert sender.messages() == []


def test_a_resource_that_no_log_can_hold_rejects_its_records_alone(sender: Sender, media_type: str) -> None:
    attributes = {str(number): number for number in range(129)}
    sent = joined(request(record("lost"), record("lost"), resource=attributes), request(record("kept")))

    answer = sender.send(sent, media_type)

    assert (answer.status, answer.rejected) == (200, 2)
    assert answer.message.startswith("record 0: METADATA_INVALID: Its resource or scope: ")
    assert sender.messages() == ["kept"]


EMPTY = {PROTOBUF: b"", JSON: b"{}"}
SCOPED = bearer(SERVICE_LOGS_WRITE)["Authorization"]
UNSCOPED = bearer(SERVICE_LOGS_READ)["Authorization"]
MIB = 1024 * 1024


REQUESTS: list[tuple[bytes | None, dict[str, str], int, int]] = [
    (None, {}, 200, 0),
    (None, {"authorization": SCOPED}, 200, 0),
    (None, {"content_encoding": "identity"}, 200, 0),
    (None, {"authorization": ""}, 401, 16),
    (None, {"authorization": "Bearer x"}, 401, 16),
    (None, {"authorization": UNSCOPED}, 403, 7),
    (None, {"content_encoding": "deflate"}, 415, 3),
    (None, {"content_encoding": "gzip, gzip"}, 415, 3),
    (b"", {"content_encoding": "gzip"}, 400, 3),
    (b"no gzip", {"content_encoding": "gzip"}, 400, 3),
    (gzip.compress(b"\xff", mtime=0), {"content_encoding": "gzip"}, 400, 3),
    (gzip.compress(bytes(17 * MIB), mtime=0), {"content_encoding": "GZIP"}, 413, 3),
    (b"\xff", {}, 400, 3),
    (bytes(16 * MIB + 1), {}, 413, 3),
]


def test_each_request_is_answered_in_its_own_format(hostile: Sender, media_type: str) -> None:
    for body, headers, status, code in REQUESTS:
        answer = hostile.post(EMPTY[media_type] if body is None else body, media_type, **headers)

        read = answered(answer)
        assert (read.status, read.code) == (status, code), (body and body[:10], headers)
        assert "retry-after" not in answer.headers


def test_json_has_four_mebibytes_before_and_after_decompression(hostile: Sender) -> None:
    body = b"{" + b" " * (4 * MIB - 2) + b"}"
    for sent, status in ((body, 200), (body + b" ", 413)):
        assert answered(hostile.post(sent, JSON)).status == status
        assert answered(hostile.post(gzip.compress(sent), JSON, content_encoding="gzip")).status == status


def test_any_other_type_or_method_is_refused_and_parameters_of_a_type_are_passed_over(hostile: Sender) -> None:
    for content_type in ("text/plain", "", "application/grpc", "application/protobuf"):
        answer = answered(hostile.post(b"{}", content_type))
        assert (answer.status, answer.code) == (415, 3), content_type
    assert hostile.post(b"{}", "Application/JSON; charset=utf-8").status_code == 200
    refused = hostile.service.http.get(PATH)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_a_request_has_at_most_ten_thousand_records(hostile: Sender, media_type: str) -> None:
    expired = request(*[record(time_unix_nano=1)] * 10_000)

    assert hostile.send(expired, media_type).rejected == 10_000
    answer = hostile.send(joined(expired, request(record())), media_type)
    assert (answer.status, answer.code) == (413, 3)


async def test_each_request_is_logged_with_its_outcome_and_counted_as_a_mutation(tmp_path: Path) -> None:
    with receiving(tmp_path) as sender:
        sent = request(record("a"), record("b", severity_number=25))
        sender.send(sent)
        sender.send(sent)
        sender.post(b"\xff", PROTOBUF)
        sender.post(b"", PROTOBUF, authorization=UNSCOPED)
        lines = sender.service.http.get("/metrics").text.splitlines()
    async with open_sqlite(tmp_path / "logs.db", ENTITIES, clock=HeldClock()) as database:
        logged = [item async for item in database.scan(LOG)]

    names = ("logType", "route", "status", "error", "skipped", "rejected", "facts")
    assert sorted([item.get(name) for name in names] for item in logged) == [
        ["INGEST", "/v1/logs", 200, None, 0, 1, {"accepted": 1}],
        ["INGEST", "/v1/logs", 200, None, 1, 1, {"accepted": 0}],
        ["INGEST", "/v1/logs", 400, "BAD_REQUEST", None, None, None],
        ["INGEST", "/v1/logs", 403, "FORBIDDEN", None, None, None],
    ]
    for code, number in (("OK", 2), ("BAD_REQUEST", 1)):
        assert f'quakegraph_requests_total{{code="{code}",operation="mutation"}} {number}.0' in lines
    assert 'quakegraph_service_logs_total{outcome="accepted"} 1.0' in lines


def send_and_leave(sender: Sender, body: bytes) -> None:
    """Send a request, and close the connection without reading the answer."""
    at = urlsplit(sender.service.url)
    head = [
        f"POST {PATH} HTTP/1.1",
        f"Host: {at.netloc}",
        f"Authorization: {bearer(SERVICE_LOGS_WRITE)['Authorization']}",
        f"Content-Type: {PROTOBUF}",
        f"Content-Length: {len(body)}",
    ]
    with socket.create_connection((at.hostname, at.port)) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)


def test_a_batch_that_is_sent_five_times_is_stored_once(sender: Sender, media_type: str) -> None:
    batch = request(*(record(text, time_unix_nano=NOON_NS + at) for at, text in enumerate("aabca")))

    send_and_leave(sender, batch.SerializeToString())
    while len(sender.stored()) < 5:  # it is finished although its sender has left
        pass
    for _ in range(4):
        assert sender.send(batch, media_type) == Answered(200)

    assert sender.messages() == list("aabca")


def test_a_flood_is_told_to_wait_and_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    refused = 0
    with receiving(tmp_path, rate_limit=60) as sender:
        for batch in range(20):
            texts = [f"{batch}-{at}" for at in range(50)]  # 6 points a batch
            body = request(*map(record, texts)).SerializeToString()
            answer = sender.post(body, PROTOBUF)
            if answer.status_code == 200:
                acknowledged += texts
            else:
                assert (answer.status_code, answered(answer).code) == (429, 8)
                assert int(answer.headers["retry-after"]) > 0
                refused += 1
    with receiving(tmp_path) as sender:
        stored = sender.service.ask("{ serviceLogs(first: 1000, orderBy: TIME_ASC) { nodes { message } } }")

    assert refused == 10
    assert [each["message"] for each in stored["serviceLogs"]["nodes"]] == acknowledged


def test_records_are_charged_ten_for_a_point(tmp_path: Path) -> None:
    with receiving(tmp_path, rate_limit=4) as sender:
        assert sender.send(request(*[record()] * 19)) == Answered(200)  # 2 points
        assert sender.send(request(*[record()] * 20)).status == 429  # its first point is spent
        assert sender.send(request(*[record()] * 9)) == Answered(200)
        assert sender.send(request()).status == 429


def test_only_429_and_503_make_a_sender_try_again() -> None:
    answers: list[tuple[GraphError, int, int, dict[str, str]]] = [
        (RateLimited(30), 429, 8, {"Retry-After": "30"}),
        (Overloaded(), 503, 14, {"Retry-After": "1"}),
        (DatabaseUnavailable("the disk"), 503, 14, {"Retry-After": "1"}),
        (KeySetUnavailable("the provider"), 503, 14, {"Retry-After": "1"}),
        (Unauthenticated("no"), 401, 16, {"WWW-Authenticate": "Bearer"}),
        (Forbidden("no"), 403, 7, {}),
        (BadRequest("no"), 400, 3, {}),
        (BadRequest("late", status=408), 408, 4, {}),
        (InternalServerError("1"), 500, 13, {}),
    ]
    for error, status, code, headers in answers:
        assert (error.status, code_of(error), headers_of(error)) == (status, code, headers)
