"""A test that hangs is ended at its deadline and named, and leaves no process behind.

Each hangs in a pytest of its own.
"""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.children import Child
from tests.processes import TIMEOUT_S, environment

ROOT = Path(__file__).parent.parent
IMPORTS = """
import asyncio, pytest, sys, threading
from contextlib import suppress
from pathlib import Path
from tests.children import Child

def sleeper():
    process = Child([sys.executable, "-c", "import time; time.sleep(3600)"])
    Path("pid").write_text(str(process.pid))
    return process

pytestmark = pytest.mark.timeout(3)
"""
NEXT = """
@pytest.mark.timeout(0)
def test_next():
    pass
"""

HANGS = """
@pytest.mark.asyncio
async def test_hangs():
    with sleeper():
        await asyncio.Event().wait()
"""

HANGS_ON = {
    "a test that catches the failure": """
def test_hangs():
    process = sleeper()
    while True:
        with suppress(BaseException):
            process.wait()
""",
    "a thread after the last test": """
@pytest.mark.timeout(0)
def test_hangs():
    threading.Thread(target=sleeper().wait).start()
""",
}

LONG = """
@pytest.mark.timeout(0)
def test_takes_longer():
    threading.Event().wait(3)  # beyond the deadline of a run that has ended
"""
WAITS, WAIT_S = 100, 0.1
WORKERS = ("-p", "xdist.plugin", "-n", "2")


def run(folder: Path, test: str, *options: str) -> tuple[int, str]:
    """The exit status of a pytest that runs a test, and all that it printed."""
    (folder / "test_it.py").write_text(IMPORTS + test)
    plugins = [part for name in ("pytest_timeout", "pytest_asyncio.plugin", "tests.deadlines") for part in ("-p", name)]
    with Child(
        [sys.executable, "-m", "pytest", *plugins, "-rA", *options],
        cwd=folder,
        env={**environment(), "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        printed, _ = process.communicate(timeout=TIMEOUT_S)
    return process.returncode, printed


def sleeps(folder: Path) -> bool:
    """Whether the process that the test started goes on. One that is being killed may take a moment to end."""
    for _ in range(WAITS):
        if not exists(folder):
            return False
        time.sleep(WAIT_S)
    return True


def exists(folder: Path) -> bool:
    try:
        status = Path("/proc", (folder / "pid").read_text(), "stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"  # one that has ended, and has no parent that asks how


def test_a_test_that_hangs_fails_at_its_deadline_and_the_next_one_runs(tmp_path: Path) -> None:
    status, printed = run(tmp_path, HANGS + NEXT)

    assert status == 1
    assert "test_it.py::test_hangs - Failed: Timeout (>3.0s)" in printed
    assert "await asyncio.Event().wait()" in printed
    assert "PASSED test_it.py::test_next" in printed
    assert not sleeps(tmp_path)


@pytest.mark.parametrize("where", HANGS_ON)
def test_a_hang_after_the_deadline_ends_the_run(tmp_path: Path, where: str) -> None:
    status, printed = run(tmp_path, HANGS_ON[where], "-o", "timeout_grace=1")

    name = "the end of the run" if "after the last" in where else "test_it.py::test_hangs"
    assert status == 1
    assert f"Timeout: {name} has not ended within " in printed
    assert "subprocess.py" in printed  # in the stack of what waits for the process
    assert not sleeps(tmp_path)


def test_a_worker_of_xdist_may_wait_for_the_others(tmp_path: Path) -> None:
    status, printed = run(tmp_path, LONG + NEXT, *WORKERS, "-o", "timeout_grace=1")

    assert status == 0, printed
    assert "PASSED test_it.py::test_takes_longer" in printed
    assert "Timeout" not in printed
