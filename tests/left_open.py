"""Fails a module of tests that leaves something open: a task, a thread, a child process, a socket or another file.

What lasts longer than a module belongs to the run: fixtures of the session, and what is opened within `lasting`. All
else is counted when a module begins, and again after its last fixture has ended. Garbage is collected before that, so a
ResourceWarning fails a test of its own module, and not the one that happens to run at the next collection.
"""

import asyncio
import gc
import os
import socket
import threading
import time
from asyncio import runners
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from inspect import iscoroutine
from multiprocessing.forkserver import ForkServer
from typing import Any

import pytest
import uvloop

from tests.children import children

PATIENCE_S = 10.0  # for a thread or a child that is about to end; what never ends is reported after that

emulators: set[str] = set()  # URLs
_lasting: set[str] = set()  # what belongs to the run
_cancelled: list[str] = []  # tasks that were running when their event loop was closed
_cancel_all_tasks = runners._cancel_all_tasks  # type: ignore[attr-defined]


@contextmanager
def lasting() -> Iterator[None]:
    """What is opened within stays open until the end of the run."""
    before = _opened()
    try:
        yield
    finally:
        _lasting.update(_opened() - before)


def pytest_configure() -> None:
    with lasting():  # the first loop of libuv opens a pipe for signals, which stays open
        uvloop.new_event_loop().close()


def _ensure_running(server: ForkServer) -> None:
    with lasting():
        _ensure_running_for_all(server)


_ensure_running_for_all = ForkServer.ensure_running  # the process from which others are forked
ForkServer.ensure_running = _ensure_running  # type: ignore[assignment, method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    if fixturedef.scope not in ("session", "package"):
        return (yield)
    with lasting():
        return (yield)


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left_open() -> Iterator[None]:
    """Compares what is open before a module's first fixture with what is open after its last one."""
    _cancelled.clear()
    before = _opened()
    yield
    gc.collect()
    gc.freeze()  # what is left belongs to the run, so the next collection leaves it out
    until = time.monotonic() + PATIENCE_S
    while (left := _opened() - before - _lasting) and time.monotonic() < until:
        time.sleep(0.01)
    assert not left, f"this module left open: {', '.join(sorted(left))}"
    assert not _cancelled, f"tasks of this module ran when their event loop was closed: {', '.join(_cancelled)}"


def _opened() -> set[str]:
    threads = {f"thread {thread.name} {thread.ident}" for thread in threading.enumerate()}
    processes = {f"process {child}" for child in children()[os.getpid()]}
    return threads | processes | set(_files())


def _files() -> Iterator[str]:
    """The open files, but for connections to emulators, which their clients keep. Without /proc, none are found."""
    with suppress(FileNotFoundError):
        for number in os.listdir("/proc/self/fd"):
            with suppress(FileNotFoundError):  # the descriptor of the list itself, or one that another thread closes
                name = os.readlink(f"/proc/self/fd/{number}")
                if name != os.devnull and not (name.startswith("socket:") and _leads_to_an_emulator(int(number))):
                    yield f"file {number} {name}"


def _leads_to_an_emulator(number: int) -> bool:
    with suppress(OSError), socket.socket(fileno=os.dup(number)) as connection:
        peer = connection.getpeername()
        return isinstance(peer, tuple) and f"http://127.0.0.1:{peer[1]}" in emulators
    return False


def _note_and_cancel_all_tasks(loop: asyncio.AbstractEventLoop) -> None:
    running = [task.get_coro() for task in asyncio.all_tasks(loop)]
    _cancelled.extend(repr(each) for each in running if iscoroutine(each))  # and not a generator that is garbage
    _cancel_all_tasks(loop)


runners._cancel_all_tasks = _note_and_cancel_all_tasks  # type: ignore[attr-defined]
