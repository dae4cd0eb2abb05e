"""What senders rely on when they send again: nothing is stored twice, and nothing that was acknowledged is lost."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

from graph.domains.service_logs.scopes import SERVICE_LOGS_WRITE
from tests.bearers import bearer
from tests.domains.otlp.messages import NOON_NS, PROTOBUF, record, request
from tests.domains.otlp.senders import PATH, Answered, Sender, answered, receiving


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
