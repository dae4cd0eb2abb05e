"""Checks whether the store's file is damaged, for the readiness of the service.

SQLite caches the pages that it has read. So a query may succeed long after its file is damaged. Three things show it:

    a read or a write that fails     SQLite has met a damaged page, or the disk has failed
    a look at each ping              see `opened_file`
    a check of the whole file        `PRAGMA quick_check`, on a thread and a connection of its own

The first ping, after the opening, begins a check and does not wait for it: the service answers what it can from a
damaged file. A later ping begins another check if the file was found damaged, or if it has been written since, by a
checkpoint or by whatever damages or restores it. Checks take at most a hundredth of the time, however often a ping
comes. A finding holds until a check finds nothing.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Lock, Thread
from typing import TypeVar

from graph.core.errors import DatabaseUnavailable
from graph.observability.logs import get_logger
from graph.store.sqlite.opened_file import OpenedFile

C = TypeVar("C", bound=sqlite3.Connection)
T = TypeVar("T")

DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR})
PAUSES_PER_CHECK = 100  # the pause after a check, as a multiple of the check's time
STEPS_BETWEEN_CHECKS = 1000  # of SQLite's virtual machine

logger = get_logger(__name__)


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite's error is about the file, not about the statement, a lock or the space on the disk."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in DAMAGE


def forgetting_damage(job: Callable[[C], T]) -> Callable[[C], T]:
    """Wrap a job: after a damaged page, its connection drops all cached pages, since the file may be restored."""

    def run(db: C) -> T:
        try:
            return job(db)
        except sqlite3.Error as error:
            if is_damage(error):
                db.execute("PRAGMA shrink_memory")  # drops the cached pages that it does not use at the moment
            raise

    return run


class FileMoved(sqlite3.OperationalError):
    """The file was removed or replaced while it is open."""


class Integrity:
    """The known state of the file."""

    def __init__(self, path: str | Path, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin, once a connection is open.

        Raises:
            OSError: The file cannot be read.
        """
        self._path = Path(path).absolute()
        self._clock = clock  # seconds
        self._file = OpenedFile(self._path)
        self._look: asyncio.Future[str | None] | None = None  # shared by concurrent calls
        self._lock = Lock()  # protects the attributes below, which threads change
        self._damage: str | None = None
        self._noticed = 0  # failures of reads and writes
        self._checking: Thread | None = None
        self._checked: object = None  # the file's state when the last check began
        self._rests_until = 0.0  # by the clock
        self._is_closing = False

    def notice(self, error: BaseException | None) -> None:
        """Note the error of a failed read or write."""
        if is_damage(error):
            with self._lock:
                self._noticed += 1
                self._find(f"a read or a write has failed: {error}")

    async def verify(self) -> None:
        """Look at the file and at earlier findings.

        Raises:
            DatabaseUnavailable: The file is damaged.
        """
        if self._look is None or self._look.done():
            self._look = asyncio.ensure_future(asyncio.to_thread(self._fault))
        if fault := await asyncio.shield(self._look):
            raise DatabaseUnavailable(fault)

    def check_place(self) -> None:
        """Check that the file is at its path, since what is written to a removed file is lost. May be called anywhere.

        Raises:
            FileMoved: It is not.
        """
        if moved := self._file.moved():
            raise FileMoved(moved)

    def stop(self) -> None:
        """End a check in progress. Blocks."""
        with self._lock:
            self._is_closing = True
        if self._checking:
            self._checking.join()

    def close(self) -> None:
        """Close the file, after all connections are closed."""
        self._file.close()

    def _fault(self) -> str | None:
        if fault := self._file.fault():
            return fault
        damage = self._damage
        if damage or self._file.state() != self._checked:
            self._begin_check()
        return damage

    def _begin_check(self) -> None:
        with self._lock:
            is_under_way = self._checking is not None and self._checking.is_alive()
            if not (self._is_closing or is_under_way or self._clock() < self._rests_until):
                self._checking = Thread(target=self._check, name="sqlite-check", daemon=True)
                self._checking.start()

    def _check(self) -> None:
        began, noticed, state = self._clock(), self._noticed, self._file.state()
        try:
            finding = self._finding()
        except sqlite3.Error as error:
            with self._lock:
                self._rest(began)
                if not self._is_closing:
                    logger.warning("The store's file cannot be checked", file=str(self._path), cause=str(error))
            return
        with self._lock:
            self._checked = state
            self._rest(began)
            if finding:
                self._find(finding)
            elif self._damage and noticed == self._noticed:
                self._damage = None
                logger.info("The store's file is sound again", file=str(self._path))

    def _finding(self) -> str | None:
        """The first finding of a check of the whole file.

        A connection to an empty file would remove the write-ahead log of the others, and what only the log holds.

        Raises:
            sqlite3.Error: The check failed, which says nothing about the file.
        """
        if self._file.is_empty():
            return "it is empty"
        try:
            with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=rw", uri=True)) as db:  # never creates the file
                db.set_progress_handler(lambda: self._is_closing, STEPS_BETWEEN_CHECKS)
                (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as error:
            if is_damage(error):
                return str(error)
            raise
        return None if found == "ok" else " ".join(found.split())  # in one line

    def _find(self, finding: str) -> None:
        if self._damage is None:
            logger.error("The store's file is damaged: restore it", file=str(self._path), finding=finding)
        self._damage = f"{self._path} is damaged: {finding}"

    def _rest(self, began: float) -> None:
        now = self._clock()
        self._rests_until = now + PAUSES_PER_CHECK * (now - began)
