"""Threads for SQLite's blocking calls, so that they never block the event loop.

One thread writes and a few read, each through its own connection: in WAL mode readers see the last
commit and never wait. Readers serve callers in rotation (`work.fair_queue`). Writes that wait at the same
time are committed together, since a durable commit costs one flush of the disk, whatever its size.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import orjson

from graph.store.conditions import kind_of
from graph.store.folding import fold
from graph.store.meter import PoolUse
from graph.store.sqlite.folded import FOLD
from graph.store.sqlite.sql import UNDECLARED
from graph.work.threads import FairThreads

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

OPERATIONS_BETWEEN_CHECKS = 1000  # of SQLite's virtual machine: some 20 µs; a check takes 0.2 µs
VALUES_PER_FOLDING = 8  # to fold a text costs as much as to decode so many values, and one for each character
CHARACTERS_PER_VALUE = 16  # of JSON
LARGEST_COMMIT = 64  # jobs; with more, the first would wait too long for the last


class Writer:
    """The one connection that writes. A job is applied completely or not at all."""

    def __init__(self, db: sqlite3.Connection, check_place: Callable[[], None] = lambda: None) -> None:
        """Begin. `check_place` raises SQLite's error if what is written would be lost."""
        self._db = db
        self._check_place = check_place
        self._unfinished: set[Future[Any]] = set()  # of jobs that are not finished, nor cancelled before their begin
        self._waiting: SimpleQueue[tuple[Job[Any], Future[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="sqlite-writer", daemon=True)
        self._thread.start()

    async def run(self, job: Job[T]) -> T:
        """Apply a job, and return when it is on the disk."""
        future: Future[T] = Future()
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)  # on any thread
        self._waiting.put((job, future))
        return await asyncio.wrap_future(future)

    def use(self) -> PoolUse:
        """The use of the thread."""
        return PoolUse.of(len(self._unfinished), 1)

    def close(self) -> None:
        """Finish the waiting jobs and close the connection."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        closing = False
        while not closing:
            jobs = [self._waiting.get()]
            with suppress(Empty):
                while len(jobs) < LARGEST_COMMIT:
                    jobs.append(self._waiting.get_nowait())
            closing = None in jobs
            self._commit([job for job in jobs if job is not None and job[1].set_running_or_notify_cancel()])
        self._db.close()

    def _commit(self, jobs: list[tuple[Job[Any], Future[Any]]]) -> None:
        outcomes: list[Callable[[], None]] = []
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for job, future in jobs:
                outcomes.append(self._apply(job, future))
            self._check_place()
            self._db.execute("COMMIT")
            self._check_place()  # the file may have been removed meanwhile
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            for _, future in jobs:
                future.set_exception(error)
        else:
            for resolve in outcomes:
                resolve()

    def _apply(self, job: Job[Any], future: Future[Any]) -> Callable[[], None]:
        """Run one job. The returned function sets its result, and is called after the commit."""
        self._db.execute("SAVEPOINT job")
        try:
            answer = job(self._db)
        except Exception as error:
            if not self._db.in_transaction:
                raise  # SQLite has undone the whole transaction with all jobs, for example on a full disk
            self._db.execute("ROLLBACK TO job")
            self._db.execute("RELEASE job")
            reason = error
            return lambda: future.set_exception(reason)
        self._db.execute("RELEASE job")
        return lambda: future.set_result(answer)


class ReadConnection(sqlite3.Connection):
    """A connection for reading. Its jobs call `before_decoding` for every few rows, and SQL for what Python tests."""

    before_decoding: Callable[[int], None] = staticmethod(lambda values: None)
    """Called with a number of values. It raises if the job must not go on."""

    interruptions = 0
    """How often SQLite was interrupted between rows. CPython 3.11 takes the statement for one in use from then on, and
    compiles its text each time, which takes up to 30 µs. So `fetch` changes the text."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Open it as `sqlite3.connect` does."""
        super().__init__(*arguments, **options)
        self.create_function(FOLD, 1, self._fold, deterministic=True)
        self.create_function(UNDECLARED, 3, self._undeclared, deterministic=True)

    def _fold(self, text: str) -> str:
        self.before_decoding(len(text) + VALUES_PER_FOLDING)
        return fold(text)

    def _undeclared(self, others: str | None, name: str, kind: str | None) -> Any:
        """The value of an undeclared attribute, None if its type is another; without a type, whether it is there."""
        self.before_decoding(len(others or "") // CHARACTERS_PER_VALUE + 1)
        attributes = orjson.loads(others or "{}")
        if kind is None:
            return name in attributes
        value = attributes.get(name)
        return value if kind_of(value).__name__ == kind else None


ReadJob = Callable[[ReadConnection], T]


class Readers:
    """A few threads that read, and as many connections. A job takes the connection that was used last.

    Each connection has a cache. So reads that follow one another find in it what those before them have read, and
    fill no second one with the same pages.
    """

    def __init__(self, connections: Sequence[ReadConnection]) -> None:
        """Begin, with open connections: one that is opened to an emptied file would remove the write-ahead log."""
        self._connections = connections
        self._idle = list(connections)  # the one that was used last is the last
        self._threads = FairThreads(len(connections), "sqlite-reader")

    async def run(self, job: ReadJob[T]) -> T:
        """Run a job and return its result. A cancelled job is interrupted, or never begins.

        Raises:
            Overloaded: Too many operations have heavy work in progress.
        """
        is_cancelled = False

        def end_if_cancelled(values: int) -> None:
            if is_cancelled:
                raise sqlite3.OperationalError("interrupted")

        def read() -> T:
            db = self._idle.pop()
            # SQLite checks regularly whether this job is cancelled, so no other job is ever interrupted.
            db.set_progress_handler(lambda: is_cancelled, OPERATIONS_BETWEEN_CHECKS)
            db.before_decoding = end_if_cancelled
            try:
                return job(db)
            finally:
                db.set_progress_handler(None, 0)
                self._idle.append(db)

        try:
            return await self._threads.run(read)
        except asyncio.CancelledError:
            is_cancelled = True
            raise

    def use(self) -> PoolUse:
        """The use of the threads."""
        return PoolUse(self._threads.slots.busy, self._threads.slots.waiting)

    def close(self) -> None:
        """Wait for the jobs in progress and close the connections."""
        self._threads.close()
        for db in self._connections:
            db.close()
