"""Several processes that serve one listener: started, started anew when one dies, and ended together.

uvicorn's supervisor would do, were it not that it makes the servers itself, keeps the listener open
after the last of them has gone, and passes on no second signal.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread

from uvicorn.config import STARTUP_FAILURE

from graph.observability.logs import get_logger

RESTART_AFTER_S = 1.0  # so that one that dies at its start does not take all of the processor's time

SIGNALS = (signal.SIGTERM, signal.SIGINT)

Work = Callable[[socket.socket, Callable[[], bool]], None]
"""What a worker does with the listener; the function tells whether all of them end. A function of a module."""

logger = get_logger(__name__)


class Workers:
    """A number of processes that do the same."""

    def __init__(self, number: int, work: Work, listener: socket.socket) -> None:
        self._number = number
        self._work = work
        self._listener = listener
        self._processes: list[SpawnProcess] = []
        self._told, self._teller = get_context("spawn").Pipe(duplex=False)  # its end is the workers'

    def run(self) -> None:
        """Keep so many at work until a signal comes, and wait until all have ended."""
        failed = False
        with _signals() as signals:
            self._fill_up()
            while self._processes or not self._ending:
                missing = not self._ending and len(self._processes) < self._number
                ready = wait(
                    [signals, *(process.sentinel for process in self._processes)],
                    timeout=RESTART_AFTER_S if missing else None,
                )
                if not ready:
                    self._fill_up()
                if signals in ready:
                    for number in signals.recv(1024):
                        self._end(number)
                for process in [process for process in self._processes if process.sentinel in ready]:
                    self._processes.remove(process)
                    process.join()
                    if process.exitcode == STARTUP_FAILURE and not self._ending:
                        failed = True  # so would the next one
                        self._end(signal.SIGTERM)
                    elif not self._ending:
                        logger.warning("A worker ended and is replaced", pid=process.pid, status=process.exitcode)
        if failed:
            sys.exit(STARTUP_FAILURE)

    @property
    def _ending(self) -> bool:
        return self._teller.closed

    def _fill_up(self) -> None:
        while len(self._processes) < self._number:
            process = get_context("spawn").Process(target=_run, args=(self._work, self._listener, self._told))
            process.daemon = True  # ends with this one, should something unforeseen end that
            resource_tracker.ensure_running()  # here, as to start it unblocks the signals
            signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # which the process inherits, and unblocks in `_run`
            process.start()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            self._processes.append(process)

    def _end(self, number: int) -> None:
        """Pass on a signal, the second of any kind as SIGINT."""
        if self._ending:
            number = signal.SIGINT
        else:
            self._teller.close()
            self._listener.close()  # else the kernel would take connections that nobody accepts
        for process in self._processes:
            if process.pid is not None:
                os.kill(process.pid, number)


def _run(work: Work, listener: socket.socket, told: Connection) -> None:
    os.setpgrp()  # Ctrl-C reaches the supervisor alone, which tells its workers
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends one that still starts as silently as SIGTERM does
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    Thread(target=_end_with_supervisor, daemon=True).start()
    work(listener, told.poll)


def _end_with_supervisor() -> None:
    """Were it killed, its workers would go on, and nobody could take their port."""
    if supervisor := parent_process():
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """Where the numbers of the signals can be read that come, a byte each."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        handlers = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
        before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        try:
            yield ours
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in handlers.items():
                signal.signal(number, handler)
