"""How much memory a process or a part of a test takes."""

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def traced() -> Iterator[Callable[[], tuple[int, int]]]:
    """Trace allocations. Yields what tells how many bytes there are, and how many there were at most."""
    tracemalloc.start()
    try:
        yield tracemalloc.get_traced_memory
    finally:
        tracemalloc.stop()


def peak(process: int) -> int:
    """The most memory that a process has had resident, KiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
