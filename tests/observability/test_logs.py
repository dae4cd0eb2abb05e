"""How the service logs: one line a record, in both formats, that no input can forge."""

import asyncio
import json
import logging
import re
import warnings
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph.observability.logs import (
    LogFormat,
    configure_logging,
    during_request,
    formatter,
    get_logger,
    on_behalf_of,
)
from tests.processes import serving

FORGED = "2024-03-02T00:00:00Z error    graph.serving.server: the store is gone"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (debug|info|warning|error|critical) +[\w.]+: .*")

HOSTILE = {
    "line feed": "\n",
    "carriage return": "\r",
    "both": "\r\n",
    "vertical tab": "\v",
    "form feed": "\f",
    "next line": "\x85",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "erased line": "\x1b[2K\x1b[1G",
    "colours": "\x1b[31m",
    "C1 control": "\x9b2J",
    "NUL": "\0",
    "backspace": "\b" * 80,
    "turned direction": "\u202e",
    "lone surrogate": "\ud800",
}

FORMATS = pytest.mark.parametrize("log_format", ["console", "json"])
hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


class Log:
    """A logger of its own, and what it wrote."""

    def __init__(self, log_format: LogFormat) -> None:
        self.stream = StringIO()
        handler = logging.StreamHandler(self.stream)
        handler.setFormatter(formatter(log_format))
        self.raw = logging.getLogger(f"tests.{log_format}")
        self.raw.handlers, self.raw.propagate = [handler], False
        self.raw.setLevel("INFO")
        self.logger = get_logger(self.raw.name)

    @property
    def text(self) -> str:
        """All that was written."""
        return self.stream.getvalue()

    def only(self) -> Any:
        """The one line, read as JSON, as strictly as any reader does."""
        (line,) = self.text.splitlines()
        return orjson.loads(line)


@pytest.fixture
def console() -> Log:
    return Log("console")


@pytest.fixture
def as_json() -> Log:
    return Log("json")


# What a line says


def test_a_line_for_people_has_time_level_logger_sentence_and_values(console: Log) -> None:
    console.logger.warning(
        "Polling failed", every_s=60.0, reason="USGS is away", code="UPSTREAM_UNAVAILABLE", none=None
    )

    time, _, rest = console.text.partition(" ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time)
    values = "every_s=60.0 reason='USGS is away' code=UPSTREAM_UNAVAILABLE none=None"
    assert rest == f"warning  tests.console: Polling failed {values}\n"


def test_a_line_of_json_has_the_same(as_json: Log) -> None:
    as_json.logger.info("Polled", place="Kīlauea", new=3)

    line = as_json.only()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line.pop("timestamp"))
    assert line == {"level": "info", "logger": "tests.json", "event": "Polled", "place": "Kīlauea", "new": 3}


def test_a_library_that_logs_by_itself_is_written_alike(as_json: Log) -> None:
    as_json.raw.warning("Started %s [%d]", "it", 7, extra={"color_message": "\x1b[1mit\x1b[0m", "attempt": 2})

    line = as_json.only()
    assert (line["event"], line["level"], line["attempt"]) == ("Started it [7]", "warning", 2)
    assert "color_message" not in line


def test_messages_below_the_level_are_not_written(console: Log) -> None:
    console.logger.debug("Nobody asked")

    assert console.text == ""


def test_an_exception_is_a_field_of_its_line(as_json: Log) -> None:
    try:
        raise ValueError("spilt\nmilk")
    except ValueError:
        as_json.logger.exception("A field could not be resolved")

    line = as_json.only()
    assert (line["event"], line["level"]) == ("A field could not be resolved", "error")
    assert line["exception"].startswith("Traceback (most recent call last):\n")
    assert line["exception"].endswith("ValueError: spilt\nmilk")


def test_a_value_of_any_kind_is_written(as_json: Log, console: Log) -> None:
    for log in (as_json, console):
        log.logger.info("Odd", path=Path("/a"), error=KeyError("k"), nested={"a": [1, "b"]}, raw=b"\xff")

    assert as_json.only()["nested"] == {"a": [1, "b"]}
    assert console.text.count("\n") == 1


# What a request is


@pytest.mark.parametrize("log_format", ["console", "json"])
async def test_every_line_of_a_request_tells_its_id_and_its_caller(log_format: LogFormat) -> None:
    log = Log(log_format)

    async def request(request_id: str, subject: str | None) -> None:
        with during_request(request_id):
            log.logger.info("Came")
            on_behalf_of(subject)
            await asyncio.sleep(0)
            log.raw.warning("Known")  # as a library does

    await asyncio.gather(request("r1", "ann"), request("r2", None))
    log.logger.info("Outside")

    assert [parse_line(line) for line in log.text.splitlines()] == [
        ("Came", "r1", None),
        ("Came", "r2", None),
        ("Known", "r1", "ann"),
        ("Known", "r2", None),
        ("Outside", None, None),
    ]


def parse_line(line: str) -> tuple[str, str | None, str | None]:
    """Sentence, request id and subject of a line."""
    if line.startswith("{"):
        read = json.loads(line)
        return read["event"], read.get("request_id"), read.get("subject")
    values = dict(re.findall(r" (\w+)=(\S+)", line))
    return line.split(": ", 1)[1].split(" ")[0], values.get("request_id"), values.get("subject")


def test_a_request_leaves_nothing_behind(as_json: Log) -> None:
    with during_request("r1"):
        on_behalf_of("ann")
    as_json.logger.info("Outside")

    assert as_json.only().keys() == {"event", "level", "logger", "timestamp"}


# Forging


@hostile
@FORMATS
def test_no_value_forges_a_line(log_format: LogFormat, text: str) -> None:
    log = Log(log_format)

    log.logger.info("Asked", name=f"x{text}{FORGED}", other={"deep": [f"x{text}{FORGED}"]})

    check_one_clean_line(log)


@hostile
@FORMATS
def test_no_message_of_a_library_forges_a_line(log_format: LogFormat, text: str) -> None:
    log = Log(log_format)

    log.raw.warning("Invalid header %s", f"x{text}{FORGED}")

    check_one_clean_line(log)


@hostile
@FORMATS
def test_no_subject_forges_a_line(log_format: LogFormat, text: str) -> None:
    log = Log(log_format)

    with during_request("r1"):
        on_behalf_of(f"x{text}{FORGED}")
        log.logger.info("Asked")

    check_one_clean_line(log)


def check_one_clean_line(log: Log) -> None:
    """All that was written is one line, of nothing but printable characters, as strict readers take it."""
    assert log.text.endswith("\n")
    line = log.text[:-1]
    assert line.isprintable()
    if line.startswith("{"):
        assert line.isascii()
        assert orjson.loads(line)["level"] in ("info", "warning")
    else:
        assert LINE.fullmatch(line)


@hostile
def test_no_trace_forges_a_line_for_people(console: Log, text: str) -> None:
    try:
        raise ValueError(f"x{text}{FORGED}")
    except ValueError:
        console.logger.exception("Failed")

    line, *trace = console.text.removesuffix("\n").split("\n")
    assert LINE.fullmatch(line)
    assert all(below.startswith("    ") and below.isprintable() for below in trace)


def test_no_value_passes_for_another(console: Log) -> None:
    console.logger.info("Asked", name="x code=OK", quoted='" code=OK', empty="", code="FORBIDDEN")

    assert console.text.endswith(" name='x code=OK' quoted='\" code=OK' empty='' code=FORBIDDEN\n")


def test_json_keeps_a_value_as_it_was(as_json: Log) -> None:
    as_json.logger.info("Asked", name="a\r\n\0\u2028\x1b[31mb")

    assert as_json.only()["name"] == "a\r\n\0\u2028\x1b[31mb"


# Set-up


@pytest.fixture
def root() -> Iterator[None]:
    """The standard library's logging, put back as it was."""
    root, chatty = logging.getLogger(), [logging.getLogger(name) for name in ("httpx", "botocore", "aiobotocore")]
    before, levels = (root.handlers[:], root.level), [logger.level for logger in chatty]
    root.handlers = []  # they are pytest's, which would be closed
    yield
    logging.captureWarnings(False)
    root.handlers, root.level = before
    for logger, level in zip(chatty, levels, strict=True):
        logger.setLevel(level)


@pytest.mark.usefixtures("root")
def test_logging_takes_in_all_loggers_and_the_warnings_of_python() -> None:
    stream = StringIO()
    configure_logging("warning", "json", stream)

    logging.getLogger("some.library").info("below the level")
    logging.getLogger("some.library").error("above")
    logging.getLogger("httpx").info("chatter")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    above, warned = map(orjson.loads, stream.getvalue().splitlines())
    assert (above["event"], above["logger"]) == ("above", "some.library")
    assert (warned["logger"], "DeprecationWarning: old" in warned["event"]) == ("py.warnings", True)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_that_logs_json_writes_nothing_else_after_its_first_lines(tmp_path: Path, workers: str) -> None:
    settings = {"GRAPH_LOG_FORMAT": "json", "GRAPH_LOG_LEVEL": "debug"}
    with serving("--workers", workers, "--demo", folder=tmp_path, settings=settings) as server:
        server.wait_for_output("Application startup complete", times=int(workers))
        assert server.ask('query Named { event(eventId: "nc73919986") { mag } }').status_code == 200
        assert server.ask(f"query {{ event(eventId: {json.dumps(FORGED)}) {{ mag }} }}").status_code == 200
        server.wait_for_output('"Answered"', times=2)
        assert server.end() == 0
        server.read_to_end()

    first = ("GraphiQL", "Dashboard", "Loaded", "Reported", "Registered")
    lines = [line for line in server.output if not line.startswith(first)]
    read = [orjson.loads(line) for line in lines]
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in read)
    answers = [line for line in read if line["event"] == "Answered"]
    assert [(line["operation"], line.get("operation_name"), line["code"], line["status"]) for line in answers] == [
        ("query", "Named", "OK", 200),
        ("query", None, "OK", 200),
    ]
    assert all(line["subject"] == "tester" and len(line["request_id"]) == 36 for line in answers)
    assert all(line["milliseconds"] >= 0 for line in answers)
    assert FORGED not in "\n".join(lines)
