"""Reads that are over before a thread would have begun them, done on the event loop itself.

To look up an event takes SQLite 3 µs, and a page of a hundred 100 µs. To hand that to a thread and
be told takes another 50, and the threads then contend for the interpreter. So a read begins on the
loop, and has a budget of steps of SQLite's machine there, which all reads of one turn of the loop
share. Values that become Python's take from the same budget. A read that needs more, or whose file is busy,
is begun again on a thread, where it may take as long as it takes: no sum of reads holds up the loop
by more than the budget. What is not in the system's memory counts by its steps like all else, so a
disk's delay adds to that.
"""

import asyncio
import sqlite3

from graph.store.sqlite.threads import ReadConnection, ReadJob, T

STEPS_A_UNIT = 1000  # of SQLite's machine, some 20 µs
VALUES_A_UNIT = 150  # of rows: to make items of them takes as long
UNITS_A_READ = 60  # of steps alone; a page of a thousand takes about half of that
UNITS_A_TURN = 200  # of steps and values; a page of a thousand with twenty attributes takes some 180


class Lengthy(Exception):
    """The read is none for the loop."""


class ShortReads:
    """One connection, which only the thread of the loop uses."""

    def __init__(self, db: ReadConnection) -> None:
        self._db = db
        self._spent = 0  # units of this turn
        self._most = 0
        db.execute("PRAGMA busy_timeout = 0")  # the loop waits for no other process
        db.set_progress_handler(self._count, STEPS_A_UNIT)
        db.before_decoding = self._count_values

    def read(self, job: ReadJob[T]) -> T:
        """Do the job.

        Raises:
            Lengthy: It would take too long, or something is wrong, which a thread has to find out again.
        """
        if self._spent >= UNITS_A_TURN:
            raise Lengthy
        if not self._spent:
            asyncio.get_running_loop().call_soon(self._begin_turn)
        self._spent += 1  # the least that a read takes
        self._most = min(self._spent + UNITS_A_READ, UNITS_A_TURN)
        try:
            return job(self._db)
        except sqlite3.Error as error:
            raise Lengthy from error

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def _count(self) -> bool:
        """Asked by SQLite after so many steps: whether to interrupt it."""
        self._spent += 1
        return self._spent > self._most

    def _count_values(self, values: int) -> None:
        """Take the reading of values from the budget, or leave it to a thread."""
        units = values // VALUES_A_UNIT
        if self._spent + units > UNITS_A_TURN:
            raise Lengthy
        self._spent += units
        self._most = min(self._most + units, UNITS_A_TURN)

    def _begin_turn(self) -> None:
        self._spent = 0
