"""The report of an ingest, for its caller and its record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from graph.domains.earthquakes.model import Rejection

REJECTIONS_LISTED = 1000  # of an ingest; further ones are only counted


@dataclass(slots=True)
class IngestReport:
    """The outcome of an ingest: what became of its events, and what fetching them took."""

    request_id: str = field(default_factory=lambda: str(uuid4()))
    fetched: int = 0  # always upserted + skipped + rejected
    upserted: int = 0  # inserted now
    skipped: int = 0  # stored already
    rejected: int = 0  # against a rule of the catalogue
    rejections: list[Rejection] = field(default_factory=list)  # the first REJECTIONS_TOLD
    retries: int = 0  # attempts on USGS after the first
    upstream_size: int | None = None  # bytes of the body or file, or of all bodies
    upstream_hash: str | None = None  # its SHA-256, hexadecimal; None of several bodies
    latency_ms: int = 0

    def reject(self, rejection: Rejection) -> None:
        """Count an event that was not taken."""
        self.fetched += 1
        self.rejected += 1
        if len(self.rejections) < REJECTIONS_LISTED:
            self.rejections.append(rejection)

    @property
    def facts(self) -> Mapping[str, int | str | None]:
        """The facts for its record."""
        return {
            "fetched": self.fetched,
            "upserted": self.upserted,
            "skipped": self.skipped,
            "rejected": self.rejected,
            "retries": self.retries,
            "upstream_size": self.upstream_size,
            "upstream_hash": self.upstream_hash,
        }
