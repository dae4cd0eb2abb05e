"""Makes a new file for its owner alone, and refuses a file of another application before anything is written to it."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from graph.observability.logs import get_logger

logger = get_logger(__name__)

APPLICATION_ID = 0x51475248  # "QGRH", in the header of the file; `file` of Unix shows it
OWNER_ONLY = 0o600  # the store has the secrets of webhooks


class ForeignFile(Exception):
    """Another application's file."""

    def __init__(self) -> None:
        super().__init__(
            "it is another application's database: name a file that does not exist, or one of this service"
        )


def claim(path: Path) -> None:
    """Make the file unless it exists.

    Raises:
        ForeignFile: It has tables, and none of this service.
        OSError: It cannot be made.
    """
    with suppress(FileExistsError, FileNotFoundError):  # of a missing folder, SQLite says so
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
        return
    if path.exists() and path.stat().st_mode & 0o077:
        logger.warning("Others than its owner may open the store's file: run `chmod 600`", file=str(path))
    with suppress(sqlite3.Error):  # a file that cannot be read is judged when it is opened
        if _is_foreign(path):
            raise ForeignFile


def mark(db: sqlite3.Connection) -> None:
    """Write into the file whose it is."""
    if not _application_id(db):
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _application_id(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA application_id").fetchone()[0])


def _is_foreign(path: Path) -> bool:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        if (owner := _application_id(db)) != 0:
            return owner != APPLICATION_ID
        return db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
