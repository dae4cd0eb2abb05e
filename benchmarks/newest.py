"""The newest events of the usual catalogue: a file of them, its ingest, and selections of them."""

import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson

from benchmarks.cache import CACHE, CHECKOUT
from benchmarks.catalogue import DAY_MS, USUAL, event_id
from benchmarks.stores import catalogue_file
from benchmarks.workload import Lookup, Selection

SPARSE = 20  # events


@dataclass(frozen=True, slots=True)
class Newest:
    """The last lines of the catalogue."""

    events: int
    file: Path  # one GeoJSON feature on each line
    start_ms: int  # origin time of the oldest
    end_ms: int  # origin time of the newest
    strong: float  # a tenth of magnitude that about twenty of them reach

    @classmethod
    def of(cls, events: int) -> "Newest":
        """The newest `events` events, from the cache if it has them."""
        file = _file(events)
        with file.open("rb") as lines:
            found = [orjson.loads(line)["properties"] for line in lines]
        strongest = sorted((each["mag"] for each in found), reverse=True)[:SPARSE]
        return cls(events, file, found[0]["time"], found[-1]["time"], int(strongest[-1] * 10) / 10)

    @property
    def everything(self) -> Selection:
        """All of them, selected by time."""
        return Selection(self.start_ms, self.end_ms + 1)

    @property
    def sparse(self) -> Selection:
        """About twenty of them: the strongest."""
        return Selection(self.start_ms, self.end_ms + 1, self.strong)

    @property
    def middle(self) -> Lookup:
        """The event in the middle."""
        return Lookup(event_id(USUAL.events - self.events // 2))

    def last_days(self, days: int, min_mag: float | None = None) -> Selection:
        """The events of the last days."""
        return Selection(self.end_ms + 1 - days * DAY_MS, self.end_ms + 1, min_mag)

    def ingest_into(self, store: str) -> None:
        """Ingest the file with `quakegraph ingest`."""
        command = [sys.executable, "-m", "graph", "ingest", str(self.file), "--store", store]
        subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL, check=True)


def _file(events: int) -> Path:
    whole = catalogue_file(USUAL.events)
    if events == USUAL.events:
        return whole
    path = CACHE / f"newest-{events}.ndjson"
    if not path.exists():
        scratch = path.with_suffix(".scratch")
        with whole.open("rb") as lines, scratch.open("wb") as last_lines:
            last_lines.writelines(islice(lines, USUAL.events - events, None))
        scratch.rename(path)
    return path
