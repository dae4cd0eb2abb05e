"""The access patterns of events: a user's inbox by time, type or status, and their acknowledgement.

None of them is a scan: each condition has an index. With types and statuses, the index of the statuses is read where
few events have them, and the other condition is tested on what it holds. Several types or statuses are several ranges
of an index, which are read as one list.

Other programs write times with more digits or fewer. As texts, the times of one second may then be out of order: an
index has them so, and a time range is read from the beginning of a second to the end of one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.triggers.checking import check_type
from graph.domains.triggers.entities import EVENT_TYPE_INDEX, STATUS_INDEX, TRIGGER_EVENT, key_of_event
from graph.domains.triggers.model import PROGRESS, SECOND, TriggerEvent, to_microseconds
from graph.domains.triggers.statuses import EventProgress, TriggerEventStatus
from graph.store.conditions import OneOf, predicate, unchanged
from graph.store.contract import Database, Update
from graph.store.design import Index
from graph.store.entity import Item, Key
from graph.store.merged_walks import MergedWalks, Part
from graph.store.ordering import PageRequest
from graph.store.query import Bounds, Needed, Query
from graph.store.records import records_at
from graph.store.rounds import rounds
from graph.store.time_walk import Keep, Walk, keep_all

TIME = frozenset(("timestamp",))
MOST_TYPES = 20  # of a query, each a range of the index


@dataclass(frozen=True, slots=True)
class EventSelection:
    """The events of a query. None means no condition."""

    types: tuple[str, ...] | None = None
    statuses: tuple[TriggerEventStatus, ...] | None = None
    first: str | None = None  # timestamp with microseconds, inclusive
    last: str | None = None

    def __post_init__(self) -> None:
        if len(self.types or ()) > MOST_TYPES:
            raise BadUserInput(f"`types` takes at most {MOST_TYPES} types.")
        for each in self.types or ():
            check_type(each)
        if self.first is not None and self.last is not None and self.first > self.last:
            raise BadUserInput("`startTime` must not be greater than `endTime`.")

    def admits(self, item: Item) -> bool:
        """Whether an event is one of them."""
        return (
            (self.types is None or item["event_type"] in self.types)
            and (self.statuses is None or item["status"] in self.status_values)
            and self.admits_time(item)
        )

    def admits_time(self, item: Item) -> bool:
        """Whether an event is within the time range."""
        return (self.first is None or to_microseconds(item["timestamp"]) >= self.first) and (
            self.last is None or to_microseconds(item["timestamp"]) <= self.last
        )

    @property
    def status_values(self) -> tuple[str, ...]:
        """The statuses as they are stored."""
        return tuple(status.value for status in self.statuses or ())

    @property
    def seconds(self) -> tuple[str | None, str | None]:
        """The first and the last text of a time in the whole seconds of the time range."""
        return self.first and f"{self.first[:SECOND]}+00:00", self.last and f"{self.last[:SECOND]}Z"

    @property
    def has_whole_seconds(self) -> bool:
        """Whether the time range begins with a second and ends with one."""
        return (self.first or ".000000Z").endswith(".000000Z") and (self.last or ".999999Z").endswith(".999999Z")


@dataclass(frozen=True, slots=True)
class _Way:
    """How a selection is read."""

    index: Index
    by: OneOf | None = None  # what is equal in the index's sort key, before the time
    rest: OneOf | None = None  # what is left of the filter

    def parts(self, database: Database, query: Query, selection: EventSelection) -> list[Part]:
        """The walks through the index, one for each value."""
        keep, (first, last), ((user_id,),) = self._keep(selection), selection.seconds, query.partitions
        if self.by is None:
            return [Part(Walk(database, replace(query, between=(first, last)), keep=keep), {"user_id": user_id})]
        return [
            Part(
                Walk(database, replace(query, index=self.index, between=_of_value(value, first, last)), keep=keep),
                {"user_id": user_id, self.by.attribute: value},
            )
            for value in dict.fromkeys(self.by.values)
        ]

    def _keep(self, selection: EventSelection) -> Keep | None:
        """What has to be tested on the items of the index."""
        time = None if selection.has_whole_seconds else Keep(selection.admits_time, TIME, drops_few=True)
        rest = Keep(predicate(self.rest), frozenset((self.rest.attribute,))) if self.rest else None
        return keep_all([each for each in (time, rest) if each])


def _of_value(value: Any, first: str | None, last: str | None) -> Bounds:
    """The bounds of an index's sort key with this value before the time."""
    return (value, *([first] if first else ())), (value, *([last] if last else ()))


def _way(selection: EventSelection) -> _Way:
    of_types = None if selection.types is None else OneOf("event_type", selection.types)
    of_statuses = None if selection.statuses is None else OneOf("status", selection.status_values)
    if of_types and TriggerEventStatus.DELIVERED in (selection.statuses or (TriggerEventStatus.DELIVERED,)):
        return _Way(EVENT_TYPE_INDEX, of_types, of_statuses)  # most events end as delivered
    if of_statuses:
        return _Way(STATUS_INDEX, of_statuses, of_types)
    return _Way(TRIGGER_EVENT.table.primary)


class Inbox:
    """The stored events of users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, user_id: str, selection: EventSelection, request: PageRequest) -> Page[TriggerEvent]:
        """A page of a user's events, newest first.

        Raises:
            InvalidCursor: A cursor is of another user's inbox.
            QueryTooComplex: The operation in progress may not read so many events.
        """
        request.paging.check(lambda position: position["user_id"] == user_id)
        query = Query(entity=TRIGGER_EVENT, partitions=[(user_id,)], attributes=request.attributes)
        parts = _way(selection).parts(self._database, query, selection)
        return await MergedWalks(self._database, parts, ("timestamp", "event_id")).page(
            request.paging, forward=False, record_of=TriggerEvent.reading(request.attributes)
        )

    async def by_key(self, user_id: str, keys: Sequence[str], attributes: Needed = None) -> Mapping[str, TriggerEvent]:
        """The existing events of a user by what identifies them."""
        possible = {key for each in keys if (key := key_of_event(user_id, each))}
        events = await records_at(self._database, TriggerEvent, possible, attributes)
        return {each.key: each for each in events}

    async def acknowledge(self, user_id: str, keys: Collection[str]) -> dict[str, bool]:
        """Make events delivered. Returns those that exist, and whether each was delivered already."""
        events = await self.by_key(user_id, list(keys))
        step = EventProgress.acknowledged
        return {key: not await advance(self._database, event, step) for key, event in events.items()}


async def advance(database: Database, event: TriggerEvent, step: Callable[[EventProgress], EventProgress]) -> bool:
    """Change an event's progress. False if the step does not change it, or the event has expired just now."""
    key, progress = TRIGGER_EVENT.key_of(event.item), event.progress
    others = rounds("other changes of the same event kept coming first")
    while (after := step(progress)) != progress:
        if await database.update(progressed(key, progress, after)):
            return True
        if not (found := await database.get(key, attributes=PROGRESS)):
            break
        progress = TriggerEvent(found).progress
        next(others)
    return False


def progressed(key: Key, before: EventProgress, after: EventProgress) -> Update:
    """The change of an event's progress, if it is still as it was read."""
    return Update(key, set=_attributes(after), condition=unchanged(_attributes(before), *PROGRESS))


def _attributes(progress: EventProgress) -> Item:
    status, *numbers = progress
    return dict(zip(PROGRESS, (status.value, *numbers), strict=True))
