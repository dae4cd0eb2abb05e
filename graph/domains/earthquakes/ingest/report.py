"""The report of an ingest, for its caller and its record."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from itertools import islice
from uuid import uuid4

from graph.core.described import described, mutable, optional, value
from graph.domains.earthquakes.ingest.write import Outcome
from graph.domains.earthquakes.rules import EventRejection

EVENTS_LISTED = 100  # of an ingest; further ones are only counted
REJECTIONS_LISTED = 1000


@value
class IngestedEvent:
    """What became of an event of an ingest."""

    index: int = described("Its place from 0: among the given events, or among the features of the answer.")
    event_id: str = described("The id that it was given.")
    outcome: Outcome = described("What became of it.")


@mutable
class IngestReport:
    """The outcome of an ingest: fetched = upserted + revised + skipped + rejected."""

    request_id: str = described("UUID of the request, as in its logs.", default_factory=lambda: str(uuid4()))
    fetched: int = described("Events given, or fetched from USGS.", default=0)
    upserted: int = described("Events inserted.", default=0)
    revised: int = described("Stored events that were changed by a new version.", default=0)
    deleted: int = described("Of the revised events, those that their source has deleted.", default=0)
    skipped: int = described("Events that were stored already as they are or later, or given twice.", default=0)
    rejected: int = described("Events that break a rule of the catalogue.", default=0)
    rejections: list[EventRejection] = described(
        f"The reasons for at most the first {REJECTIONS_LISTED:,} of these.", default_factory=list
    )
    listed: list[IngestedEvent] = field(default_factory=list)  # as many that changed something, and that were skipped
    truncated: bool = described(
        "Whether more events matched a time range or `updatedSince` than USGS sent, because of `limit`.", default=False
    )
    retries: int = described("Attempts on USGS after the first.", default=0)
    upstream_size: int | None = optional("Bytes of USGS's answer; null if nothing was fetched.")
    upstream_hash: str | None = optional("SHA-256 of USGS's answer, hexadecimal.")  # None of several
    latency_ms: int = described("How long it took, milliseconds.", default=0)

    @property
    def all_new(self) -> bool:
        """Whether events were stored, and all of them were new."""
        return self.upserted > 0 and not self.revised and not self.skipped

    def part(self) -> "PartReport":
        """A report of some events of this ingest, which count here, too."""
        return PartReport(self)

    @property
    def events(self) -> list[IngestedEvent]:
        """What became of its events, at most 100: of those that changed something, and then of those that did not."""
        return sorted(self.listed, key=lambda each: (each.outcome is Outcome.SKIPPED, each.index))[:EVENTS_LISTED]

    def count(self, outcome: Outcome, number: int, events: Iterable[IngestedEvent] = ()) -> None:
        """Count events of which this became. The first ones are listed."""
        self.fetched += number
        if outcome is Outcome.DELETED:
            self.revised += number
        setattr(self, outcome.value, getattr(self, outcome.value) + number)
        skipped = outcome is Outcome.SKIPPED
        room = EVENTS_LISTED - sum((each.outcome is Outcome.SKIPPED) == skipped for each in self.listed)
        self.listed += islice(events, room)

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

    def count(self, outcome: Outcome, number: int, events: Iterable[IngestedEvent] = ()) -> None:
        super().count(outcome, number)
        self._whole.count(outcome, number, events)

    def reject(self, rejection: EventRejection) -> None:
        super().reject(rejection)
        self._whole.reject(rejection)
