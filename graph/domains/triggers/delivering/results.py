"""Stores what became of attempts: the delivery, the attempt, the event's status and the queue, in one transaction.

Attempts that end at the same time are stored together.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.domains.triggers.deliveries import key_of_its_event
from graph.domains.triggers.delivering.outcomes import DeliveryOutcome
from graph.domains.triggers.entities import ATTEMPT, DELIVERY, QUEUE
from graph.domains.triggers.inbox import progressed
from graph.domains.triggers.model import PROGRESS, TriggerEvent
from graph.domains.triggers.queues import EXISTS
from graph.observability.logs import get_logger
from graph.store.conditions import unchanged
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item, Key
from graph.store.rounds import until_applied
from graph.work.together import WrittenTogether

ACTIONS_OF_ONE = 4  # a delivery, an attempt, an event, a queue
MOST_AT_ONCE = 200  # results of a transaction, so that it does not hold the writer for long

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What is stored of an outcome."""

    outcome: DeliveryOutcome
    queue: Callable[[], Item]  # its attributes that a worker knows, when the result is stored

    @property
    def event_key(self) -> Key:
        """The primary key of the delivery's event."""
        return key_of_its_event(self.outcome.before)

    @property
    def queue_key(self) -> Key:
        """The primary key of the endpoint's queue."""
        return QUEUE.key_for(self.outcome.before.endpoint_id)


class Results:
    """Writes results."""

    def __init__(self, database: Database) -> None:
        self._database = database
        most = min(database.transaction_limit // ACTIONS_OF_ONE, MOST_AT_ONCE)
        self._together = WrittenTogether(self._write, most=most)

    async def write(self, result: Result) -> None:
        """Store a result, unless the delivery has changed since it was read.

        Raises:
            DatabaseUnavailable: It may be stored or not.
        """
        await self._together.write(result)

    @until_applied("other changes of the same events kept coming first")
    async def _write(self, results: Sequence[Result]) -> Collection[Result] | None:
        refused = await self._database.transact(await self._actions(results))
        if not refused:
            return results
        if changed := [results[at] for at in refused if at < len(results)]:
            logger.warning("Deliveries were changed by another process", number=len(changed))
        return changed or None

    async def _actions(self, results: Sequence[Result]) -> list[Action]:
        """The deliveries first, then all that follows from them."""
        queues = {result.queue_key: result.queue() for result in results}
        outcomes = [result.outcome for result in results]
        events = await self._database.get_many({result.event_key for result in results}, attributes=PROGRESS)
        existing = await self._database.get_many(queues.keys(), attributes=())
        return [
            *(Put(DELIVERY, it.after, condition=unchanged(it.before.item, "state", "attempts")) for it in outcomes),
            *(Put(ATTEMPT, each.attempt) for each in outcomes if each.attempt),
            *_progress_of_events(results, events),
            *(_queue_of(key, state, results) for key, state in queues.items() if key in existing),
        ]


def _progress_of_events(results: Sequence[Result], events: Mapping[Key, Item]) -> Iterator[Update]:
    """The changes of the existing events, each with all of its results."""
    of_events: dict[Key, list[Result]] = {}
    for result in results:
        of_events.setdefault(result.event_key, []).append(result)
    for key, some in of_events.items():
        if key in events:
            before = after = TriggerEvent(events[key]).progress
            for result in some:
                after = result.outcome.advance(after)
            if after != before:
                yield progressed(key, before, after)


def _queue_of(key: Key, state: Item, results: Sequence[Result]) -> Update:
    """The change of an endpoint's queue."""
    ended = sum(result.outcome.due is None for result in results if result.queue_key == key)
    return Update(key, set=state, add={"waiting": -ended}, condition=EXISTS)
