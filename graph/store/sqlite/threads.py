"""SQLite's blocking calls, on threads of their own so that they never hold up the event loop.

One thread writes and a few read, each through its own connection: in WAL mode readers see
the last commit and wait for nothing. Readers serve callers in rotation (`work.slots`). Writes that
wait together are committed together, since a durable commit costs one flush of the disk however
much it holds.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from graph.store.meter import PoolUse
from graph.work.threads import FairThreads

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

OPERATIONS_BETWEEN_QUESTIONS = 1000  # of SQLite's virtual machine: some 20 µs, of which a question takes 0.2
LARGEST_COMMIT = 64  # jobs; more would let the first of them wait too long for the last


class Outstanding:
    """Jobs that were handed to threads and are not finished."""

    def __init__(self) -> None:
        self._futures: set[Future[Any]] = set()

    def add(self, future: Future[T]) -> Future[T]:
        """Count the job until it is finished, or is cancelled before it has begun."""
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)  # in whichever thread that comes
        return future

    def on(self, threads: int) -> PoolUse:
        """What so many threads have to do with them."""
        number = len(self._futures)
        return PoolUse(busy=min(number, threads), waiting=max(number - threads, 0))


class Writer:
    """The one connection that writes. A job is applied whole or not at all."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._outstanding = Outstanding()
        self._waiting: SimpleQueue[tuple[Job[Any], Future[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="sqlite-writer", daemon=True)
        self._thread.start()

    async def run(self, job: Job[T]) -> T:
        """Apply `job` and answer when it is on the disk."""
        future: Future[T] = self._outstanding.add(Future())
        self._waiting.put((job, future))
        return await asyncio.wrap_future(future)

    def use(self) -> PoolUse:
        """How busy the thread is."""
        return self._outstanding.on(1)

    def close(self) -> None:
        """Finish what waits and close the connection."""
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
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            for _, future in jobs:
                future.set_exception(error)
        else:
            for tell in outcomes:
                tell()

    def _apply(self, job: Job[Any], future: Future[Any]) -> Callable[[], None]:
        """Run one job; what it answered is told only once it is committed."""
        self._db.execute("SAVEPOINT job")
        try:
            answer = job(self._db)
        except Exception as error:
            if not self._db.in_transaction:
                raise  # A full disk, say, made SQLite undo the whole transaction, other jobs included.
            self._db.execute("ROLLBACK TO job")
            self._db.execute("RELEASE job")
            reason = error
            return lambda: future.set_exception(reason)
        self._db.execute("RELEASE job")
        return lambda: future.set_result(answer)


class ReadConnection(sqlite3.Connection):
    """A connection for reading. Its jobs announce the values that they read, some rows at a time."""

    before_decoding: Callable[[int], None] = staticmethod(lambda values: None)
    """Called with a number of values, it raises where the job should not go on."""


ReadJob = Callable[[ReadConnection], T]


class Readers:
    """A few threads that read, each with a connection of its own."""

    def __init__(self, connect: Callable[[], ReadConnection], threads: int) -> None:
        self._connect = connect
        self._own = threading.local()
        self._connections: list[ReadConnection] = []
        self._threads = FairThreads(threads, "sqlite-reader")

    async def run(self, job: ReadJob[T]) -> T:
        """Answer what `job` reads. A job that is cancelled is interrupted, or never begun.

        Raises:
            Overloaded: Too many operations read much already.
        """
        reading = Reading(job)
        try:
            return await self._threads.run(partial(self._read, reading))
        except asyncio.CancelledError:
            reading.call_off()
            raise

    def use(self) -> PoolUse:
        """How busy the threads are."""
        return PoolUse(self._threads.slots.busy, self._threads.slots.waiting)

    def close(self) -> None:
        """Wait for what is being read and close the connections."""
        self._threads.close()
        for db in self._connections:
            db.close()

    def _read(self, reading: "Reading[T]") -> T:
        if not hasattr(self._own, "db"):
            self._own.db = self._connect()
            self._connections.append(self._own.db)
        return reading.read(self._own.db)


class Reading(Generic[T]):
    """A job of a reader, which can be called off."""

    def __init__(self, job: ReadJob[T]) -> None:
        self._job = job
        self._called_off = False

    def read(self, db: ReadConnection) -> T:
        """Do the job. SQLite asks every so many operations whether to go on: thus no other job is ever interrupted."""
        db.set_progress_handler(lambda: self._called_off, OPERATIONS_BETWEEN_QUESTIONS)
        db.before_decoding = self._end_if_called_off
        try:
            return self._job(db)
        finally:
            db.set_progress_handler(None, 0)

    def call_off(self) -> None:
        """End the job, if it is under way. From any thread."""
        self._called_off = True

    def _end_if_called_off(self, values: int) -> None:
        if self._called_off:
            raise sqlite3.OperationalError("interrupted")
