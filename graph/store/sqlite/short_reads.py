"""Short reads, done on the event loop itself.

SQLite takes 3 µs to look up an event, and 100 µs for a page of a hundred. Handing a read to a thread and
back takes another 50 µs, and the threads then contend for the interpreter. So a read begins on the loop.
All reads of one iteration of the loop share a budget of steps of SQLite's virtual machine, and decoding
values takes from the same budget. A read that needs more, or whose file is busy, begins again on a thread,
where it may take any time. So reads never block the loop for longer than the budget, except for the delay
of the disk when a page is not in the system's memory.
"""

import asyncio
import sqlite3

from graph.store.sqlite.threads import ReadConnection, ReadJob, T

STEPS_PER_UNIT = 1000  # of SQLite's virtual machine, some 20 µs
VALUES_PER_UNIT = 150  # of rows; decoding them takes as long
UNITS_PER_READ = 60  # of steps only; a page of a thousand takes about half of that
UNITS_PER_ITERATION = 200  # of steps and values; a page of a thousand with twenty attributes takes some 180


class Lengthy(Exception):
    """The read is too long for the loop."""


class ShortReads:
    """One connection, which only the loop's thread uses."""

    def __init__(self, db: ReadConnection) -> None:
        self._db = db
        self._spent = 0.0  # units in this iteration
        self._most = 0.0
        db.execute("PRAGMA busy_timeout = 0")  # the loop waits for no other process
        db.set_progress_handler(self._count, STEPS_PER_UNIT)
        db.before_decoding = self._count_values

    def read(self, job: ReadJob[T]) -> T:
        """Do the job.

        Raises:
            Lengthy: It would take too long, or it failed, so that a thread must try it again.
        """
        if self._spent >= UNITS_PER_ITERATION:
            raise Lengthy
        if not self._spent:
            asyncio.get_running_loop().call_soon(self._begin_iteration)
        self._spent += 1  # the least that a read takes
        self._most = min(self._spent + UNITS_PER_READ, UNITS_PER_ITERATION)
        try:
            return job(self._db)
        except sqlite3.Error as error:
            raise Lengthy from error

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def _count(self) -> bool:
        """Called by SQLite after so many steps. Returns whether to interrupt the read."""
        self._spent += 1
        return self._spent > self._most

    def _count_values(self, values: int) -> None:
        """Take the decoding of values from the budget, or leave the read to a thread."""
        units = values / VALUES_PER_UNIT
        if self._spent + units > UNITS_PER_ITERATION:
            raise Lengthy
        self._spent += units
        self._most = min(self._most + units, UNITS_PER_ITERATION)

    def _begin_iteration(self) -> None:
        self._spent = 0.0
