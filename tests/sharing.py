"""What the processes of one run share: pytest-xdist runs the tests in several, each with a session of its own.

`-n auto` starts one process more than there are processors, as tests also wait: for disks, browsers and children.
What only reads is made once for all of them: `made_once`. What has to run is started by the process that all others
stand under, and ended by it: see `tests.store.emulator`.
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_xdist_auto_num_workers() -> int:
    return (os.cpu_count() or 1) + 1


def folder_of_run(factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run see, and no other run."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_once(path: Path, make: Callable[[Path], None]) -> Path:
    """The path, at which `make` has put a file: here, or in whichever process came first."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the end of a process releases it
        if not path.exists():
            begun = path.with_name(f"{path.name}.begun")
            begun.unlink(missing_ok=True)  # of a process that failed
            make(begun)
            begun.rename(path)
    return path
