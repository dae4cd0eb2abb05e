"""How the service logs: one line a record, in both formats, that no input can forge."""

import asyncio
import json
import logging
import re
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph.domains import DOMAINS
from graph.observability.logs import LogFormat, configure_logging, during_request, formatter, get_logger, on_behalf_of
from graph.serving import server
from tests.settings import Settings

FORGED = "2024-03-02T00:00:00Z error    graph.serving.server: the store is gone"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (debug|info|warning|error|critical) +[\w.]+: .*")

HOSTILE = (
    *("\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029", "\0", "\b" * 80),
    *("\x1b[2K\x1b[1G", "\x1b[31m", "\x9b2J"),  # which erase a line, colour it, and erase the screen
    *("\u202e", "\ud800"),  # turned direction, and a lone surrogate
)

PRINTED = ("GraphiQL: ", "Dashboard: ", "The third-party files ")
"""How lines begin that are for whoever starts the service, and no log."""


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
    console.logger.debug("Nobody asked")  # below the level
    console.logger.warning(
        "Polling failed", every_s=60.0, reason="USGS is away", code="UPSTREAM_UNAVAILABLE", none=None
    )

    time, _, rest = console.text.partition(" ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time)
    values = "every_s=60.0 reason='USGS is away' code=UPSTREAM_UNAVAILABLE none=None"
    assert rest == f"warning  tests.console: Polling failed {values}\n"


def test_a_line_of_json_has_the_same_and_keeps_a_value_as_it_was(as_json: Log) -> None:
    values = {"place": "Kīlauea", "new": 3, "raw": "a\r\n\0\u2028\x1b[31mb"}
    as_json.logger.info("Polled", **values)

    line = as_json.only()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line.pop("timestamp"))
    assert line == {"level": "info", "logger": "tests.json", "event": "Polled", **values}


def test_records_of_libraries_traces_and_values_of_any_kind_are_lines_too(console: Log, as_json: Log) -> None:
    as_json.raw.warning("Started %s [%d]", "it", 7, extra={"color_message": "\x1b[1mit\x1b[0m", "attempt": 2})
    try:
        raise ValueError("spilt\nmilk")
    except ValueError:
        as_json.logger.exception("A field could not be resolved")
    for log in (as_json, console):
        log.logger.info("Odd", path=Path("/a"), error=KeyError("k"), nested={"a": [1, "b"]}, raw=b"\xff")

    started, failed, odd = map(orjson.loads, as_json.text.splitlines())
    assert (started["event"], started["level"], started["attempt"]) == ("Started it [7]", "warning", 2)
    assert "color_message" not in started
    assert (failed["event"], failed["level"]) == ("A field could not be resolved", "error")
    assert failed["exception"].startswith("Traceback (most recent call last):\n")
    assert failed["exception"].endswith("ValueError: spilt\nmilk")
    assert odd["nested"] == {"a": [1, "b"]}
    assert console.text.count("\n") == 1


# What a request is


async def test_every_line_of_a_request_tells_its_id_and_its_caller(console: Log, as_json: Log) -> None:
    async def request(request_id: str, subject: str | None) -> None:
        with during_request(request_id):
            for log in (console, as_json):
                log.logger.info("Came")
            on_behalf_of(subject)
            await asyncio.sleep(0)
            for log in (console, as_json):
                log.raw.warning("Known")  # as a library does

    await asyncio.gather(request("r1", "ann"), request("r2", None))
    for log in (console, as_json):
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


# Forging


def test_no_value_no_subject_no_message_and_no_trace_forges_a_line() -> None:
    for text in HOSTILE:
        forged = f"x{text}{FORGED}"
        console, as_json = Log("console"), Log("json")
        for log in (console, as_json):
            log.logger.info("Asked", name=forged, other={"deep": [forged]})
            log.raw.warning("Invalid header %s", forged)
            with during_request("r1"):
                on_behalf_of(forged)
                log.logger.info("Asked")
            try:
                raise ValueError(forged)
            except ValueError:
                log.logger.exception("Failed")
            assert log.text.endswith("\n")

        lines = as_json.text[:-1].split("\n")
        assert all(line.isprintable() and line.isascii() for line in lines)
        assert [orjson.loads(line)["level"] for line in lines] == ["info", "warning", "info", "error"]
        lines = console.text[:-1].split("\n")
        assert all(map(str.isprintable, lines))
        assert all(map(LINE.fullmatch, lines[:4]))
        assert [line for line in lines[4:] if not line.startswith("    ")] == []
        assert len(lines) > 4  # of which the rest is the trace


def test_no_value_passes_for_another(console: Log) -> None:
    console.logger.info("Asked", name="x code=OK", quoted='" code=OK', empty="", code="FORBIDDEN")

    assert console.text.endswith(" name='x code=OK' quoted='\" code=OK' empty='' code=FORBIDDEN\n")


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


@pytest.mark.usefixtures("root")
def test_errors_that_nothing_handles_are_lines_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, hook in ((threading, "excepthook"), (sys, "unraisablehook"), (sys, "excepthook")):
        monkeypatch.setattr(module, hook, getattr(module, hook))  # puts it back at the end
    monkeypatch.setattr(sys, "stderr", stream := StringIO())

    class Broken:
        def __del__(self) -> None:
            raise ValueError("freed")

    def serve(*_: object) -> None:
        thread = threading.Thread(target=int, args=["x"])
        thread.start()
        thread.join()
        Broken()
        raise OSError("at last")

    monkeypatch.setattr(server, "_serve_here", serve)
    settings = Settings(store=f"sqlite:///{tmp_path}/unopened.db", port=0, log_format="json")
    with pytest.raises(OSError, match="at last"):
        server.serve(settings, DOMAINS)
    with socket.socket() as listener, pytest.raises(SystemExit):
        server._work(settings, listener, lambda: False)

    lines = [orjson.loads(line) for line in stream.getvalue().splitlines() if not line.startswith(PRINTED)]
    handled = [("A thread failed", "ValueError: invalid"), ("An error was ignored", "ValueError: freed")]
    expected = [*handled, *handled, ("The process failed", "OSError: at last")]  # of the first, Python calls the hook
    for line, (event, error) in zip(lines, expected, strict=True):
        assert line["event"] == event
        assert line["exception"].splitlines()[-1].startswith(error)
