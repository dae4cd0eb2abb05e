"""Children of this process that leave nothing behind. Nothing of the service is imported here."""

import os
import signal
import subprocess
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import AnyStr


class Child(subprocess.Popen[AnyStr]):
    """A process that is killed at the end of its `with`. Otherwise, a failed test would wait for it without limit."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.poll() is None:
            kill_descendants(self.pid)
            self.kill()
        super().__exit__(kind, error, trace)


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
