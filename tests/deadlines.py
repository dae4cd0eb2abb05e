"""What happens at a test's deadline, which pytest-timeout sets, and at a last one after it.

At the deadline (`timeout` in pyproject.toml), pytest-timeout prints the stacks of all threads and fails
the test by an exception in the main thread, from a signal handler. This interrupts a wait for a thread, a
lock, a socket or a child. Fixtures and context managers then end what the test has started, and the other
tests run. Its other method, a thread that ends the whole process, would leave all children behind and
print no other failure. What is added here: the stacks of all asyncio tasks, since a thread that runs an
event loop does not show where its coroutines wait.

An exception is not enough where an event loop catches it, and pytest-timeout stops its timer once a test
has failed, so a fixture could hang after that. Hence the last deadline, `timeout_grace` later: a thread
names the test, prints all stacks, kills all descendants of this process, and ends it. The same
holds for the end of the whole run, where the interpreter waits for threads. Where pytest-xdist runs the tests in
several processes, this ends one of them: xdist says which test it crashed in, and goes on in another. Such a process
waits for the others when its tests are done, so there the end of the run begins where its main thread ends.
"""

import asyncio
import faulthandler
import gc
import os
import signal
import sys
import threading
from collections.abc import Generator
from types import FrameType
from typing import Any, TextIO

import pytest

from tests.children import kill_descendants

_output = pytest.StashKey[TextIO]()  # standard error, which is not captured
_last = pytest.StashKey[threading.Timer]()

DEADLINE = "deadline"  # the name of the threads that wait for one
_WORKER_GRACE_S = 5.0  # xdist kills a worker 10 seconds after it told it to end, and leaves its children behind


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "seconds after a test's deadline at which the whole run is ended; a fixture may need TIMEOUT_S of them"
    parser.addini("timeout_grace", about, default="150")


@pytest.hookimpl(tryfirst=True)  # nothing is captured yet
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_output] = os.fdopen(os.dup(sys.__stderr__.fileno() if sys.__stderr__ else 2), "w")


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, object, object]:
    result = yield
    fail = signal.getsignal(signal.SIGALRM)
    if settings.method == "signal" and callable(fail):

        def handle(number: int, frame: FrameType | None) -> None:
            print_tasks(sys.stderr)
            fail(number, frame)

        signal.signal(signal.SIGALRM, handle)
    item.config.stash[_last] = _timer(item.config, item.nodeid, settings.timeout)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        _cancel(item.config)


def pytest_enter_pdb(config: pytest.Config) -> None:
    _cancel(config)  # as pytest-timeout does


def _cancel(config: pytest.Config) -> None:
    if timer := config.stash.get(_last, None):
        timer.cancel()


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        threading.Thread(target=_await_end_of_worker, args=(config,), daemon=True).start()
    else:
        _timer(config, "the end of the run", 0)


def _await_end_of_worker(config: pytest.Config) -> None:
    threading.main_thread().join()  # the interpreter waits for the other threads after that
    _timer(config, "the end of the run", 0, grace=min(_grace(config), _WORKER_GRACE_S))


def _grace(config: pytest.Config) -> float:
    return float(config.getini("timeout_grace"))


def _timer(config: pytest.Config, name: str, seconds: float, *, grace: float | None = None) -> threading.Timer:
    seconds += _grace(config) if grace is None else grace
    timer = threading.Timer(seconds, _end_run, (config.stash[_output], f"{name} has not ended within {seconds:g} s"))
    timer.name = DEADLINE
    timer.daemon = True  # it keeps no interpreter from its end
    timer.start()
    return timer


def _end_run(output: TextIO, reason: str) -> None:
    try:
        print(f"\n\nTimeout: {reason}. The run ends here. All stacks:", file=output, flush=True)
        faulthandler.dump_traceback(output, all_threads=True)
        print_tasks(output)
    finally:
        kill_descendants(os.getpid())
        output.flush()
        os._exit(1)


def print_tasks(output: TextIO) -> None:
    """Print where each asyncio task of this process waits, in whatever event loop."""
    for task in [found for found in gc.get_objects() if isinstance(found, asyncio.Task)]:
        if not task.done():
            task.print_stack(file=output)
    output.flush()
