"""The report of an ingest, for its caller and its record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from graph.domains.earthquakes.ingest.write import Outcome
from graph.domains.earthquakes.rules import EventRejection

REJECTIONS_LISTED = 1000  # of an ingest; further ones are only counted


@dataclass(slots=True)
class IngestReport:
    """The outcome of an ingest: what became of its events, and what fetching them took."""

    request_id: str = field(default_factory=lambda: str(uuid4()))
    fetched: int = 0  # always upserted + revised + skipped + rejected
    upserted: int = 0  # inserted now
    revised: int = 0  # stored already, and changed by a new version
    deleted: int = 0  # those of the revised ones that the source has deleted
    skipped: int = 0  # stored already, as they are now or later
    rejected: int = 0  # against a rule of the catalogue
    rejections: list[EventRejection] = field(default_factory=list)  # the first REJECTIONS_LISTED
    truncated: bool = False  # whether USGS had more events of the window than the limit
    retries: int = 0  # attempts on USGS after the first
    upstream_size: int | None = None  # bytes of the body or file, or of all bodies
    upstream_hash: str | None = None  # its SHA-256, hexadecimal; None of several bodies
    latency_ms: int = 0

    @property
    def all_new(self) -> bool:
        """Whether events were stored, and all of them were new."""
        return self.upserted > 0 and not self.revised and not self.skipped

    def part(self) -> "PartReport":
        """A report of some events of this ingest, which count here, too."""
        return PartReport(self)

    def count(self, outcome: Outcome, number: int) -> None:
        """Count events of which this became."""
        self.fetched += number
        if outcome == "deleted":
            self.revised += number
        setattr(self, outcome, getattr(self, outcome) + number)

    def reject(self, rejection: EventRejection) -> None:
        """Count an event that was not taken."""
        self.fetched += 1
        self.rejected += 1
        if len(self.rejections) < REJECTIONS_LISTED:
            self.rejections.append(rejection)

    @property
    def log_facts(self) -> Mapping[str, int]:
        """The counts for a line of the log."""
        revised = self.revised - self.deleted
        return {"new": self.upserted, "revised": revised, "deleted": self.deleted, "fetched": self.fetched}

    @property
    def counts(self) -> Mapping[str, int]:
        """What became of its events."""
        names = ("fetched", "upserted", "revised", "deleted", "skipped", "rejected")
        return {name: getattr(self, name) for name in names}

    @property
    def facts(self) -> Mapping[str, int | str | bool | None]:
        """The facts for its record."""
        return {
            **{name: count for name, count in self.counts.items() if name != "deleted"},
            "retries": self.retries,
            "upstream_size": self.upstream_size,
            "upstream_hash": self.upstream_hash,
            **({"truncated": True} if self.truncated else {}),
        }


class PartReport(IngestReport):
    """The outcome of a part of an ingest."""

    __slots__ = ("_whole",)

    def __init__(self, whole: IngestReport) -> None:
        super().__init__(whole.request_id)
        self._whole = whole

    @property
    def all_new(self) -> bool:
        return self._whole.all_new

    def count(self, outcome: Outcome, number: int) -> None:
        super().count(outcome, number)
        self._whole.count(outcome, number)

    def reject(self, rejection: EventRejection) -> None:
        super().reject(rejection)
        self._whole.reject(rejection)
