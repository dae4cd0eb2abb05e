"""Reading a file of logs: lines of any length, a file that is one object, and broken lines."""

from io import BytesIO
from itertools import product
from typing import Any

import orjson

from graph.domains.otlp.files import logs_of_object
from graph.domains.service_logs.log_file import LONGEST_LINE, LogReaders, read_logs
from graph.domains.service_logs.model import NewLog
from tests.domains.service_logs.lines import a_line, a_record, a_request, ndjson

READERS = LogReaders({"resourceLogs": logs_of_object})


def read(content: bytes, longest: int = LONGEST_LINE) -> list[tuple[int, str]]:
    """The lines with their messages, also of rejections."""
    return [(line, log.message) for line, log in read_logs(BytesIO(content), READERS, longest=longest)]


def test_each_line_is_a_log_or_the_whole_file_is_one() -> None:
    lines = [orjson.dumps(a_line(text)) for text in ("one", "two", "three")]
    for beginning, separator, end in product((b"", b"\xef\xbb\xbf"), (b"\n", b"\r\n", b"\n\n  \n"), (b"", b"\n")):
        assert [message for _, message in read(beginning + separator.join(lines) + end)] == ["one", "two", "three"]
    assert read(orjson.dumps(a_line("one"), option=orjson.OPT_INDENT_2)) == [(1, "one")]
    request = a_request(*[a_record(str(number)) for number in range(3)])
    assert read(orjson.dumps(request, option=orjson.OPT_INDENT_2)) == [(1, "0"), (1, "1"), (1, "2")]
    assert read(b'{"resourceLogs": [\n  {"scopeLogs": [{"logRecords": [{"body": {"stringValue": "\\ud83d"}}]}]}]}') == [
        (1, "\ud83d")
    ]
    assert read(b"") == read(b"\n \n") == []


def test_a_file_may_have_requests_of_otlp_and_logs() -> None:
    content = ndjson(
        a_request(a_record("one"), a_record("two")),
        a_line("three"),
        a_request(a_record("four", severityNumber=25), a_record("five"), a_record("six", timeUnixNano="5x")),
        {"resourceLogs": {}},
        {"resourceLogs": []},
        {"resourceLogs": [{"resource": {"attributes": 5}, "scopeLogs": [{"logRecords": [{}, {}]}]}]},
    )

    assert read(content) == [
        (1, "one"),
        (1, "two"),
        (2, "three"),
        (3, "The severity number must lie between 0 and 24."),
        (3, "five"),
        (3, "`timeUnixNano` must be a whole number between 0 and 18446744073709551615."),
        (4, "`resourceLogs` must be a list."),
        (6, "Its resource or scope: `attributes` must be a list."),
        (6, "Its resource or scope: `attributes` must be a list."),
    ]


def test_a_broken_line_is_named_by_its_number_and_harms_no_other() -> None:
    half = rb'{"service": "checkout", "message": "\ud83d", "timestamp": 1}'
    content = ndjson(b'{"service": "checkout"', a_line("two"), half, b"[]", a_line("five"), b"\xff", a_line("seven"))

    assert read(content) == [
        (1, "The line is no JSON: unexpected end of data at character 24."),
        (2, "two"),
        (3, "\ud83d"),
        (4, "The line must be a JSON object."),
        (5, "five"),
        (6, "The line is no JSON: str is not valid UTF-8: surrogates not allowed at character 1."),
        (7, "seven"),
    ]


def test_a_line_that_is_too_long_is_rejected_alone() -> None:
    others = (a_line("2" * 1000), a_line("three"), a_line("4" * 80), a_line("five"), a_line("6" * 1000))
    too_long = "The line has more than 100 bytes."
    first: dict[str, Any] | bytes
    for first in (a_line("one"), b"broken", a_line("1" * 1000), b"1" * 250):
        messages = read(ndjson(first, *others), longest=100)

        assert messages[1:] == [(2, too_long), (3, "three"), (4, too_long), (5, "five"), (6, too_long)]
        assert len(messages) == 6


def test_lines_are_read_one_by_one() -> None:
    stream = BytesIO(ndjson(*[a_line(str(number)) for number in range(1000)]))

    line, log = next(read_logs(stream, READERS))

    assert isinstance(log, NewLog)
    assert (line, log.message, stream.tell()) == (1, "0", stream.getvalue().index(b"\n") + 1)
