"""`quakegraph logs tail`: order, filters, escapes, what other processes store meanwhile, and Ctrl-C."""

import asyncio
import os
import queue
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from graph.core.paging import Page
from graph.domain import Resources, Services
from graph.domains import DOMAINS
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.model import NewLog, ServiceLog
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.tail_command import tail_logs
from graph.domains.service_logs.writing import LogWriter
from graph.opening import open_services
from graph.store.ordering import PageRequest
from graph.work.tasks import BackgroundTasks
from tests.domains.service_logs.lines import KEPT, SECOND, a_line, imported, logs
from tests.forking import forked
from tests.processes import TIMEOUT_S, Child, started
from tests.settings import Settings

pytestmark = pytest.mark.usefixtures("folder")

MIXED = [
    a_line("four", timestamp=SECOND + 4, level="error", metadata={"region": "eu", "ms": 1500}),
    a_line("one", timestamp=SECOND + 1, service="billing", type="audit"),
    a_line("three", timestamp=SECOND + 3, level="warn", metadata={"region": "us"}),
    a_line("two", timestamp=SECOND + 2, service="search", type="system", level="debug"),
]


def messages(*options: str) -> list[str]:
    """The messages that are printed, by their order."""
    result = logs("tail", "--no-follow", *options)
    assert (result.exit_code, result.stderr) == (0, "")
    return [line.split(": ", 1)[1].split(" ")[0] for line in result.stdout.splitlines()]


SELECTED: list[tuple[list[str], list[str]]] = [
    ([], ["one", "two", "three", "four"]),
    (["--lines", "2"], ["three", "four"]),
    (["--lines", "0"], []),
    (["--service", "checkout"], ["three", "four"]),
    (["--service", "billing", "--service", "search"], ["one", "two"]),
    (["--service", "unknown"], []),
    (["--type", "audit", "--type", "SYSTEM"], ["one", "two"]),
    (["--level", "DEBUG"], ["one", "two", "three", "four"]),
    (["--level", "warn"], ["three", "four"]),
    (["--level", "ERROR"], ["four"]),
    (["--text", "THRE"], ["three"]),
    (["--metadata", "region=eu"], ["four"]),
    (["--metadata", "region=eu", "--metadata", "ms=1500"], ["four"]),
    (["--metadata", "region=eu", "--metadata", "ms=1"], []),
    (["--level", "WARN", "--lines", "1"], ["four"]),
]


def test_the_newest_logs_that_the_options_select_are_printed_in_order_of_time() -> None:
    imported(*MIXED)

    assert [(options, messages(*options)) for options, _ in SELECTED] == SELECTED


EVIL = ("\x1b[2J", "\x9b2J", "\r", "\n", "\x07", "\u2028", "\u202e", "\u0085", "\x7f")


def test_a_line_has_time_level_service_message_and_metadata_and_nothing_unescaped() -> None:
    metadata = {"path": "/a b", "ms": 5, "tags": ["x", None], "empty": ""}
    exact = {"timestamp": None, "time": "2023-11-14T22:13:20.123456789Z"}
    imported(
        *[a_line(f"a{evil}b", metadata={f"c{evil}": f"d{evil}", "list": [evil]}) for evil in EVIL],
        a_line("Paid", **exact, level="warn", metadata=metadata),
    )

    *evil_lines, said = logs("tail", "--no-follow").stdout.removesuffix("\n").split("\n")

    assert said == "2023-11-14T22:13:20.123456Z WARN  checkout: Paid path='/a b' ms=5 tags='[\"x\",null]' empty=''"
    for line, evil in zip(evil_lines, EVIL, strict=True):
        assert line.isprintable()
        assert evil.encode("unicode_escape").decode() in line


def test_an_impossible_option_ends_with_one_line() -> None:
    for option in ("--text=", "--metadata=region", "--level=LOUD", "--type=debug", "--lines=-1"):
        result = logs("tail", "--no-follow", option)

        assert result.exit_code in (1, 2)
        assert result.stderr.splitlines()[-1].startswith("Error: ")
        assert result.stdout == ""


def test_the_level_is_coloured_on_a_terminal_alone(folder: Path) -> None:
    imported(a_line("Paid", level="error"))
    ours, theirs = os.openpty()
    terminal = os.ttyname(theirs)
    with forked("logs", "tail", "--no-follow", folder=folder, settings=KEPT, output=terminal) as process:
        process.join(TIMEOUT_S)
    shown = os.read(ours, 4096).decode()
    os.close(theirs)
    os.close(ours)

    assert "\x1b[31mERROR\x1b[0m checkout: Paid" in shown
    assert "\x1b" not in logs("tail", "--no-follow").stdout


# Following


class Tail:
    """A running `logs tail`, and the lines that it prints."""

    def __init__(self, process: "Child[str]") -> None:
        self.process = process
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def line(self) -> str:
        """The next message that it prints."""
        return self._lines.get(timeout=TIMEOUT_S).split(": ", 1)[1]

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C. Returns the exit status, and what it printed to standard error."""
        assert self.process.stderr
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(TIMEOUT_S)
        self._reader.join()
        return status, self.process.stderr.read()

    @property
    def rest(self) -> list[str]:
        """The lines that nobody has read."""
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))


@contextmanager
def tailing(folder: Path, *options: str) -> Iterator[Tail]:
    with started("logs", "tail", *options, folder=folder, settings=KEPT) as process:
        yield Tail(process)


def test_what_other_processes_store_is_printed_once_and_sigint_ends_quietly(folder: Path) -> None:
    imported(a_line("old", level="warn"), a_line("quiet"))
    with tailing(folder, "--level", "WARN") as tail:
        assert tail.line() == "old"
        for number in range(3):
            imported(a_line(f"new-{number}", timestamp=SECOND - number, level="error"), a_line(f"quiet-{number}"))
            assert tail.line() == f"new-{number}"

        assert tail.interrupt() == (0, "")
        assert tail.rest == []


class LateLogs(ServiceLogs):
    """Stored logs, before each page of which another one is stored."""

    def __init__(self, services: Services) -> None:
        super().__init__(services.of(Resources).database, services.of(LoggingServices))
        self._writer = services.of(LogWriter)

    async def page(
        self, selection: ServiceLogSelection, request: PageRequest, *, forward: bool = False
    ) -> Page[ServiceLog]:
        await self._writer.write([a_log("late")])
        return await super().page(selection, request, forward=forward)


async def test_a_log_that_is_stored_before_the_newest_are_read_is_printed_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(store=f"sqlite:///{folder}/logs.db", application_log_days=0)
    async with open_services(settings, DOMAINS) as services:
        writer = services.of(LogWriter)
        await writer.write([a_log("old")])
        following = Services([services.of(ServiceLogBroadcast)])
        following.add(LateLogs(services), ServiceLogs)
        work = tail_logs(following, selection=ServiceLogSelection, lines=10, follow=True, as_json=False)
        async with BackgroundTasks() as tasks:
            tasks.start("following", lambda: work)
            printed = ""
            for message in ("late", "new"):
                while f": {message}\n" not in printed:
                    await asyncio.sleep(0.01)
                    printed += capsys.readouterr().out
                await writer.write([a_log("new")])

    assert [line.split(": ")[1] for line in printed.splitlines()] == ["old", "late", "new"]


def a_log(message: str) -> NewLog:
    return NewLog("checkout", message, SECOND * 1_000_000_000)
