"""The record of one version of an event, and what changed in it. No I/O."""

from functools import cached_property
from typing import Any

from graph.core.described import described, value
from graph.domains.earthquakes.model import POSSIBLE_ID, Event, EventVersion
from graph.domains.earthquakes.revisions.versions import RevisionKind, changed, kind_of
from graph.store.attributes import Whole
from graph.store.entity import Item
from graph.store.ordering import Order
from graph.store.records import Record

REVISIONS = Order("revisions", Whole("revision", least=1), POSSIBLE_ID)


@value
class RevisionChange:
    """A value that differs from the version before."""

    field: str = described("The name of the event's field.")
    before: Any | None = described("The value before; null for none.")
    after: Any | None = described("The value of this version; null for none.")


class EventRevision(Record):
    """One version of an event, with the one before it, and with the latest one as of its reading."""

    __slots__ = ("__dict__", "before", "latest")

    def __init__(self, item: Item, before: Item | None = None, latest: Item | None = None) -> None:
        super().__init__(item)
        self.before = before
        self.latest = latest or item

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key of its event."""
        return self.present.identity

    @property
    def present(self) -> Event:
        """The event as it is now."""
        return Event(self.latest)

    @property
    def event(self) -> EventVersion:
        """The event as it was."""
        return EventVersion(self.item)

    @property
    def number(self) -> int:
        """From 1."""
        number: int = self.item["revision"]
        return number

    @property
    def kind(self) -> RevisionKind:
        """What made the version."""
        return kind_of(self.item)

    @property
    def published_at(self) -> int | None:
        """When the source published it, epoch milliseconds."""
        return self.item.get("publishedAt")

    @property
    def recorded_at(self) -> int:
        """When it was stored, epoch milliseconds."""
        recorded: int = self.item["recordedAt"]
        return recorded

    @property
    def seconds_after_origin(self) -> float | None:
        """The time from the event to the publication."""
        return None if self.published_at is None else (self.published_at - self.item["eventTsMs"]) / 1000

    @cached_property
    def changes(self) -> list[RevisionChange]:
        """The tracked values that differ from the version before; of the first version, none."""
        if self.before is None:
            return []
        return [
            RevisionChange(name, before, after) for name, (before, after) in changed(self.before, self.item).items()
        ]

    @property
    def notice_cursor(self) -> str:
        """Its cursor in a notice: of a first version, that of the event's edge."""
        return self.event.cursor if self.number == 1 else self.cursor

    @property
    def cursor(self) -> str:
        """Its position among the versions, as text."""
        return REVISIONS.cursor_of(self.item)
