"""Children of this process that leave nothing behind. Nothing of the service is imported here."""

import os
import signal
import subprocess
from collections import defaultdict
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import IO, AnyStr


class Child(subprocess.Popen[AnyStr]):
    """A process that is killed at the end of its `with`. Otherwise, a failed test would wait for it without limit."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.poll() is None:
            kill_descendants(self.pid)
            self.kill()
        super().__exit__(kind, error, trace)


class Fork:
    """A forked process, with what a test of a service does to a `Child`."""

    def __init__(self, process: BaseProcess, stderr: IO[str]) -> None:
        assert process.pid
        self.pid = process.pid
        self.stderr = stderr
        self._process = process
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self) -> int | None:
        """The exit status, unless it runs."""
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        """Wait for the exit status."""
        self._process.join(timeout)
        if (status := self.poll()) is None:
            raise subprocess.TimeoutExpired("quakegraph", timeout)
        return status

    def send_signal(self, number: int) -> None:
        """Send the signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)


def children() -> dict[int, list[int]]:
    """The children of each process. Without /proc, none are found."""
    found = defaultdict[int, list[int]](list)
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # of a process that has just ended
            parent = status.read_bytes().rpartition(b")")[2].split()[1]
            found[int(parent)].append(int(status.parent.name))
    return found


def descendants(ancestor: int) -> list[int]:
    """The children of a process, and their children."""
    of = children()
    found = list(of[ancestor])
    for process in found:
        found += of[process]
    return found


def kill_descendants(ancestor: int) -> None:
    """Kill the children of a process, and their children."""
    for process in descendants(ancestor):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
