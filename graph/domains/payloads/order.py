"""The transactions of all journals of a folder, in the order in which they were stored; see `journal` for the rules.

They are sorted in a file that is removed afterwards, so memory does not grow with their number.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph.domains.payloads.folder import Place, places_in
from graph.domains.payloads.journal import DamagedJournal, header_of, read_lines
from graph.domains.payloads.model import Payload

_TABLES = """
CREATE TABLE journals (id INTEGER PRIMARY KEY, stem TEXT, payload TEXT);
CREATE TABLE transactions (
    id INTEGER PRIMARY KEY, journal INTEGER, offset INTEGER, number INTEGER, after INTEGER, at INTEGER, turn INTEGER,
    stored INTEGER, position INTEGER
);
CREATE TABLE bases (event TEXT, state TEXT, of INTEGER);
"""
_DECIDE = """
CREATE INDEX by_number ON transactions (number, stored, at);
CREATE INDEX by_base ON bases (event, state);
DELETE FROM transactions WHERE number IS NOT NULL AND stored IS NULL AND EXISTS (
    SELECT 1 FROM transactions AS other JOIN journals AS its ON its.id = other.journal
    JOIN journals AS own ON own.id = transactions.journal
    WHERE other.number = transactions.number AND other.id <> transactions.id
    AND (other.stored OR (other.at, its.payload) > (transactions.at, own.payload))
);
DELETE FROM transactions WHERE number IS NULL AND stored IS NULL AND EXISTS (
    SELECT 1 FROM bases AS own JOIN bases AS other USING (event, state)
    JOIN transactions AS its ON its.id = other.of
    WHERE own.of = transactions.id AND its.id <> transactions.id
    AND (its.stored OR its.number IS NOT NULL OR (its.at, its.id) > (transactions.at, transactions.id))
);
"""
_PLACE = """
CREATE TABLE times AS
    SELECT number, max(at) OVER (ORDER BY number) AS latest FROM transactions WHERE number IS NOT NULL;
CREATE INDEX by_latest ON times (latest, number);
UPDATE transactions SET position = number WHERE number IS NOT NULL;
UPDATE transactions SET position = max(
    after, coalesce((SELECT max(number) FROM times WHERE latest < transactions.at), 0)
) WHERE number IS NULL;
"""


class DamagedPayload(ValueError):
    """The folder does not tell how the catalogue came about. The message names the file."""


@dataclass(frozen=True, slots=True)
class StoredTransaction:
    """A transaction that was stored."""

    payload: int  # the place of its payload in the order of time
    place: Place
    offset: int  # of its line in the journal
    is_last: bool  # of its payload


class StoredOrder:
    """The stored transactions of a folder, in order."""

    def __init__(self, scratch: Path) -> None:
        """Prepare to sort.

        Args:
            scratch: a file that does not exist.
        """
        self._db = sqlite3.connect(scratch, isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLES)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def read(self, folder: Path) -> Iterator[tuple[Place, Payload]]:
        """Read the journals, and yield the payload of each, with its size and hash where they are known.

        Raises:
            DamagedPayload: A journal is damaged, or one is missing.
        """
        self._db.execute("BEGIN")
        for number, place in enumerate(places_in(folder)):
            try:
                if payload := self._read_journal(number, place):
                    yield place, payload
            except (DamagedJournal, KeyError, TypeError, ValueError) as error:
                raise DamagedPayload(f"{place.journal}: {error}") from error
        self._db.execute("COMMIT")
        self._db.executescript(_DECIDE)
        self._check_numbers()
        self._db.executescript(_PLACE)

    @property
    def transactions(self) -> int:
        """The number of stored transactions."""
        count: int = self._db.execute("SELECT count(*) FROM transactions").fetchone()[0]
        return count

    def __iter__(self) -> Iterator[StoredTransaction]:
        rows = self._db.execute(
            "SELECT journal, stem, offset, transactions.id = max(transactions.id) OVER (PARTITION BY journal) "
            "FROM transactions JOIN journals ON journals.id = journal ORDER BY position, number IS NULL, at, "
            "turn, transactions.id"
        )
        with closing(rows):
            for journal, stem, offset, is_last in rows:
                yield StoredTransaction(journal, Place(Path(stem)), offset, bool(is_last))

    def _read_journal(self, number: int, place: Place) -> Payload | None:
        """Note the transactions of a journal. None if the process died before it began."""
        with place.journal.open("rb") as file:
            lines = read_lines(file)
            if (first := next(lines, None)) is None:
                return None
            payload = header_of(first.values)
            self._db.execute("INSERT INTO journals VALUES (?, ?, ?)", (number, str(place.stem), payload.payload_id))
            size, sha256 = payload.size, payload.sha256
            latest, at = 0, 0  # the last stored change of this journal, and the last time
            intent: tuple[int, int | None] | None = None  # the transaction in progress
            for line in lines:
                values = line.values
                if "stored" in values:
                    if intent is None:
                        raise DamagedJournal("it says that a transaction was stored, and not which one")
                    self._learn(intent, stored=values["stored"])
                    latest = (values["stored"] and intent[1]) or latest
                    intent = None
                elif "end" in values:
                    size, sha256 = values["size"], values["sha256"]
                else:
                    at = max(at, values["at"])
                    intent = self._note(number, line.offset, values, latest, at)
        return replace(payload, size=size, sha256=sha256)

    def _note(self, journal: int, offset: int, values: Any, latest: int, at: int) -> tuple[int, int | None]:
        """Note what a transaction was to store. Returns its id here, and its number."""
        change, after = values["change"], max(values.get("after", 0), latest)
        row = (journal, offset, change, after, at, values["turn"])
        noted = self._db.execute(
            "INSERT INTO transactions (journal, offset, number, after, at, turn) VALUES (?, ?, ?, ?, ?, ?)", row
        ).lastrowid
        bases = [base for write in values["writes"] if len(write) > 2 for base in write[2].items()]
        self._db.executemany("INSERT INTO bases VALUES (?, ?, ?)", [(*base, noted) for base in bases])
        return int(noted or 0), change

    def _learn(self, intent: tuple[int, int | None], *, stored: bool) -> None:
        if stored:
            self._db.execute("UPDATE transactions SET stored = 1 WHERE id = ?", intent[:1])
        else:
            self._db.execute("DELETE FROM bases WHERE of = ?", intent[:1])
            self._db.execute("DELETE FROM transactions WHERE id = ?", intent[:1])

    def _check_numbers(self) -> None:
        """Refuse a folder without a change, or with one twice."""
        wanted = 1
        for (number,) in self._db.execute("SELECT number FROM transactions WHERE number IS NOT NULL ORDER BY number"):
            if number > wanted:
                raise DamagedPayload(
                    f"change {wanted} of the catalogue is in no journal: it was stored without GRAPH_KEEP_PAYLOADS, "
                    "or a journal is missing"
                )
            if number < wanted:
                raise DamagedPayload(f"change {number} of the catalogue is in two journals: are these of two stores?")
            wanted += 1
