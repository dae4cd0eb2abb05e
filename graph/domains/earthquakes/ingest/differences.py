"""What is different between the catalogue and USGS."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from graph.domains.earthquakes.ingest.changed_events import ChangedEvents
from graph.domains.earthquakes.ingest.write import Write
from graph.domains.earthquakes.revisions.versions import RevisionKind, changed, kind_of

DifferenceKind = Literal["created", "revised", "renamed", "merged", "deleted", "restored", "unknown", "other"]
"""What is different: a kind of version; an id that USGS does not know, or that it has given to another event."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between the catalogue and USGS."""

    event_id: str  # of the catalogue
    kind: DifferenceKind
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # attribute → before, after
    now: str | None = None  # the event that it was merged into, or to which USGS has given the id


def differences_of(write: Write) -> Iterator[Difference]:
    """The differences that a write removes: one for each version that it makes."""
    if not isinstance(write, ChangedEvents):
        yield Difference(write.record.event_id, "created")
        return
    for step in write.versions:
        item = step.item
        kind: DifferenceKind = kind_of(item).value.lower()  # type: ignore[assignment]
        into = item.get("mergedInto") if kind_of(item) is RevisionKind.MERGED else None
        before = step.first or step.stored
        yield Difference(item["eventId"], kind, changed(before, item) if before else {}, into)
