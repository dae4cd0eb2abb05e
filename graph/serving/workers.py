"""Several processes that serve one listener: uvicorn's supervisor with our own workers and shutdown.

uvicorn's own workers run a plain `uvicorn.Server`. Its supervisor ends them by SIGTERM, waits, and ignores further
signals meanwhile. Here a worker serves by `DrainingServer`, and the shutdown loses no request. So the supervisor

* passes on the signal that it received, and a second one as SIGINT,
* closes the listener when the shutdown begins, and tells the workers that all of them end,
* replaces a worker that has ended, and never one that is slow: imports can take long on a busy machine,
* leaves all signals but SIGTERM and SIGINT as they were.
"""

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from threading import Thread

from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.supervisors.multiprocess import SIGNALS, Multiprocess, Process

from graph.observability.logs import get_logger

LOOK_EVERY_S = 0.1  # for signals, while workers end
ENDING = (signal.SIGTERM, signal.SIGINT)

Work = Callable[[socket.socket, Callable[[], bool]], None]
"""What a worker does with the listener. The second argument returns whether all workers end.

It is a function of a module, since another process imports it.
"""

logger = get_logger(__name__)


class WorkerProcess(Process):
    """One of the processes."""

    def __init__(self, config: Config, listener: socket.socket, work: Work, all_end: Connection) -> None:
        self._work = work
        self._all_end = all_end
        super().__init__(config, [listener])
        self.process.daemon = True  # ends with the supervisor, even after an unforeseen error

    def start(self) -> None:
        """Start the process. Signals are blocked in it until `target` can handle them."""
        resource_tracker.ensure_running()  # before the signals are blocked, since its start unblocks them
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        super().start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Work, in the new process."""
        os.setpgrp()  # Ctrl-C reaches only the supervisor, which signals its workers
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends a starting worker without a traceback
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        Thread(target=_end_with_supervisor, daemon=True).start()
        for listener in sockets or []:
            self._work(listener, self._all_end.poll)

    def is_alive(self, timeout: float = 0) -> bool:
        """Whether the process lives. uvicorn's own check kills a worker that imports for more than five seconds."""
        return self.process.is_alive()


class Workers(Multiprocess):
    """A number of processes that do the same work."""

    def __init__(self, number: int, work: Work, listener: socket.socket) -> None:
        self._work = work
        self._failed = False
        self._all_end, self._all_end_sender = get_context("spawn").Pipe(
            duplex=False
        )  # closing the sender is the signal
        handlers = {number: signal.getsignal(number) for number in SIGNALS if number not in ENDING}
        super().__init__(Config("", workers=number, log_config=None), [listener])
        for other, handler in handlers.items():
            signal.signal(other, handler)
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # hides lines about the supervisor alone

    def run(self) -> None:
        """Keep all workers running until a signal comes, and wait until they have ended."""
        super().run()
        if self._failed:
            sys.exit(STARTUP_FAILURE)

    def init_processes(self) -> None:
        """Start the workers."""
        for _ in range(self.processes_num):
            self.processes.append(self._started())

    def _started(self) -> WorkerProcess:
        worker = WorkerProcess(self.config, self.sockets[0], self._work, self._all_end)
        worker.start()
        return worker

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that have ended."""
        for at, process in enumerate(self.processes):
            if self.should_exit.is_set() or process.is_alive():
                continue
            if process.exitcode == STARTUP_FAILURE:
                self._failed = True  # the next one would fail too
                self._end(signal.SIGTERM)
            else:
                logger.warning("A worker ended and is replaced", pid=process.pid, status=process.exitcode)
                self.processes[at] = self._started()

    def handle_term(self) -> None:
        """End, after the drain."""
        self._end(signal.SIGTERM)

    def handle_int(self) -> None:
        """End without a drain."""
        self._end(signal.SIGINT)

    def terminate_all(self) -> None:
        """Do nothing: `_end` has signalled the workers."""

    def join_all(self) -> None:
        """Wait until all have ended. A second signal hurries them."""
        while living := [process.process.sentinel for process in self.processes if process.is_alive()]:
            wait(living, LOOK_EVERY_S)
            self.handle_signals()

    def _end(self, number: signal.Signals) -> None:
        """Pass on a signal; a second one of any kind becomes SIGINT."""
        if self.should_exit.is_set():
            number = signal.SIGINT
        else:
            self.should_exit.set()
            self._all_end_sender.close()
            self.sockets[0].close()  # else the kernel takes connections, and no process accepts them
        for process in self.processes:
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, number)


def _end_with_supervisor() -> None:
    """End this worker when the supervisor is killed. Otherwise it would keep the port."""
    if supervisor := parent_process():
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)
