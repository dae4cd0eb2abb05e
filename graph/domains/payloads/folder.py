"""The folder of kept payloads: a folder for each day, in it the body and the journal of each payload.

    2023-08-03/20230803T120000.000Z_<payload id>.gz        its body, compressed
    2023-08-03/20230803T120000.000Z_<payload id>.gz.part   a body that is being written, or was when the process died
    2023-08-03/20230803T120000.000Z_<payload id>.journal   see `journal`

A body that is known before its first record is stored is complete and on the disk by then. A file that is read bit by
bit is written alongside: what a transaction needs of it is on the disk before the transaction is sent.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graph.core.days import datetime_of
from graph.core.errors import GraphError
from graph.domains.payloads.model import Payload

JOURNAL = ".journal"
BODY = ".gz"
PART = ".gz.part"


class PayloadNotKept(GraphError):
    """The folder of payloads cannot be written."""

    code, status = "PAYLOAD_NOT_KEPT", 503

    def __init__(self, cause: OSError) -> None:
        super().__init__("What is ingested cannot be kept at the moment, so it is not ingested: tell the operator.")
        self.detail = f"GRAPH_KEEP_PAYLOADS: {cause}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files of a payload are."""

    stem: Path  # without a suffix

    @classmethod
    def of(cls, folder: Path, payload: Payload) -> "Place":
        """The place of a payload in a folder."""
        time = datetime_of(payload.received_at)
        begins = f"{time:%Y%m%dT%H%M%S}.{payload.received_at % 1000:03}Z"
        return cls(folder / f"{time:%Y-%m-%d}" / f"{begins}_{payload.payload_id}")

    @property
    def journal(self) -> Path:
        """The journal."""
        return self._with(JOURNAL)

    @property
    def body(self) -> Path:
        """The complete body."""
        return self._with(BODY)

    @property
    def part(self) -> Path:
        """The body that is not complete."""
        return self._with(PART)

    def make(self) -> None:
        """Make the folder of the day, on the disk too."""
        day = self.stem.parent
        if not day.is_dir():
            day.mkdir(parents=True, exist_ok=True)
            sync_folder(day.parent)

    def complete(self) -> None:
        """Give the body, which is on the disk, its name."""
        self.part.rename(self.body)
        sync_folder(self.stem.parent)

    def _with(self, suffix: str) -> Path:
        return self.stem.with_name(self.stem.name + suffix)


def places_in(folder: Path) -> Iterator[Place]:
    """The places of all payloads that have a journal, in order of time."""
    for day in sorted(path for path in folder.iterdir() if path.is_dir()):
        for journal in sorted(day.glob(f"*{JOURNAL}")):
            yield Place(journal.with_name(journal.name.removesuffix(JOURNAL)))


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
