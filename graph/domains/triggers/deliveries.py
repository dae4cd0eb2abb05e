"""The access patterns of deliveries: by endpoint and sequence number, by event, their attempts, and their replay."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.core.errors import BadUserInput, NotThere
from graph.core.paging import Page
from graph.domains.triggers.entities import ATTEMPT, DELIVERY, TRIGGER_EVENT, key_of_delivery
from graph.domains.triggers.inbox import Inbox, progressed
from graph.domains.triggers.model import Attempt, Delivery, DeliveryOfEvent, DeliveryState, TriggerEvent, delivery_key
from graph.domains.triggers.queues import called
from graph.store.conditions import AllOf, Compare, OneOf, predicate, unchanged
from graph.store.contract import Action, Database, Put
from graph.store.entity import Item, Key
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Query
from graph.store.records import records_at
from graph.store.rounds import until_applied
from graph.store.time_walk import Keep, Walk
from graph.work.account import give_way

ENDED = (DeliveryState.DELIVERED, DeliveryState.FAILED)
MOST_REPLAYED = 1000  # deliveries of one call
READ_AT_ONCE = 200  # deliveries, in search of those to replay
ATTEMPTS_SHOWN = 100  # the latest of a delivery


@dataclass(frozen=True, slots=True)
class DeliverySelection:
    """The deliveries of a query. None means no condition."""

    states: tuple[DeliveryState, ...] | None = None
    first_ms: int | None = None  # when they were created, epoch milliseconds, inclusive
    last_ms: int | None = None

    def __post_init__(self) -> None:
        if self.first_ms is not None and self.last_ms is not None and self.first_ms > self.last_ms:
            raise BadUserInput("The end of the time range must not be before its beginning.")

    @property
    def keep(self) -> Keep | None:
        """The filter; None for all deliveries."""
        conditions = [
            *([OneOf("state", tuple(state.value for state in self.states))] if self.states is not None else ()),
            *([Compare("created_at", ">=", self.first_ms)] if self.first_ms is not None else ()),
            *([Compare("created_at", "<=", self.last_ms)] if self.last_ms is not None else ()),
        ]
        return Keep(predicate(AllOf(tuple(conditions))), frozenset(("state", "created_at"))) if conditions else None


class Deliveries:
    """The stored deliveries."""

    def __init__(self, database: Database, inbox: Inbox, clock: Clock) -> None:
        self._database = database
        self._inbox = inbox
        self._clock = clock

    async def page(
        self, user_id: str, endpoint_id: str, selection: DeliverySelection, request: PageRequest
    ) -> Page[Delivery]:
        """A page of the deliveries of a user's endpoint, in order of their sequence numbers.

        Raises:
            QueryTooComplex: The operation in progress may not read so many.
        """
        query = Query(entity=DELIVERY, partitions=[(endpoint_id, user_id)], attributes=request.attributes)
        return await Walk(self._database, query, keep=selection.keep).page(
            request.paging,
            forward=True,
            place_of=lambda place: {**place, "endpoint_id": endpoint_id, "user_id": user_id},
            record_of=Delivery.reading(request.attributes),
        )

    async def by_key(self, user_id: str, keys: Collection[str], attributes: Needed = None) -> Mapping[str, Delivery]:
        """The existing deliveries of a user by what identifies them."""
        wanted = [key for each in keys if (key := key_of_delivery(user_id, each))]
        deliveries = await records_at(self._database, Delivery, wanted, attributes)
        return {delivery_key(each.endpoint_id, each.sequence): each for each in deliveries}

    async def of_event(self, event: TriggerEvent, request: PageRequest) -> Page[DeliveryOfEvent]:
        """A page of an event's deliveries, which it names itself.

        Raises:
            InvalidCursor: A cursor is not that of one of them.
        """
        keys, paging = event.delivery_keys, request.paging
        paging.check(lambda position: delivery_key(**position) in keys)
        page = paging.of_list(len(keys), lambda position: keys.index(delivery_key(**position)))
        shown = [keys[at] for at in page.records]
        found = await self.by_key(event.user_id, shown, request.attributes)
        record_of = DeliveryOfEvent.reading(request.attributes)
        return page.of([record_of(found[key].item) for key in shown if key in found])

    async def attempts(self, delivery: Delivery) -> list[Attempt]:
        """The latest attempts of a delivery, the last one first."""
        query = Query(
            entity=ATTEMPT,
            partitions=((delivery.endpoint_id, delivery.user_id),),
            between=(delivery.sequence, delivery.sequence),
            forward=False,
            limit=ATTEMPTS_SHOWN,
        )
        return list(map(Attempt, (await self._database.query(query)).items))

    async def replay(self, user_id: str, endpoint_id: str, selection: DeliverySelection) -> tuple[list[str], bool]:
        """Begin the newest of the selected deliveries that have ended again, of these the oldest first.

        Returns:
            What identifies them, and whether more are left.

        Raises:
            NotThere: The endpoint was deleted just now.
        """
        keys, has_more = await self._ended(user_id, endpoint_id, selection)
        keys.reverse()
        replayed = list[str]()
        for at in range(0, len(keys), self._at_once):
            replayed += await self._begin(user_id, endpoint_id, keys[at : at + self._at_once])
            await give_way()
        return replayed, has_more

    async def _ended(self, user_id: str, endpoint_id: str, selection: DeliverySelection) -> tuple[list[Key], bool]:
        """The keys of the selected deliveries that have ended, newest first, and whether there are more."""
        keep = selection.keep
        query = Query(entity=DELIVERY, partitions=((endpoint_id, user_id),), forward=False, limit=READ_AT_ONCE)
        keys = list[Key]()
        async for items in self._database.pages(query, charged=READ_AT_ONCE):
            ended = [item for item in items if _is_ended(item) and (keep is None or keep.holds(item))]
            keys += map(DELIVERY.key_of, ended)
            before = selection.first_ms is not None and items and items[-1]["created_at"] < selection.first_ms
            if before or len(keys) > MOST_REPLAYED:
                break
        return keys[:MOST_REPLAYED], len(keys) > MOST_REPLAYED

    @property
    def _at_once(self) -> int:
        """Deliveries of one transaction, with their events, and the queue."""
        return min((self._database.transaction_limit - 1) // 2, READ_AT_ONCE)

    @until_applied("other changes of the same events kept coming first")
    async def _begin(self, user_id: str, endpoint_id: str, keys: Sequence[Key]) -> list[str] | None:
        """Begin some deliveries again in one transaction. Returns what identifies those that there were."""
        found = await self._database.get_many(keys)
        deliveries = [Delivery(found[key]) for key in keys if key in found and _is_ended(found[key])]
        if not deliveries:
            return []
        refused = await self._database.transact(await self._actions(user_id, endpoint_id, deliveries))
        if 0 in refused:
            raise NotThere("endpointId", "endpoint")
        return None if refused else [delivery_key(each.endpoint_id, each.sequence) for each in deliveries]

    async def _actions(self, user_id: str, endpoint_id: str, deliveries: Sequence[Delivery]) -> list[Action]:
        now = self._clock()
        events = await self._inbox.by_key(user_id, [each.event_key for each in deliveries])
        actions: list[Action] = [called(endpoint_id, now, more=len(deliveries))]
        for each in deliveries:
            again = {
                **each.item,
                "state": DeliveryState.WAITING.value,
                "first_attempt": each.attempt_count + 1,
                "due": now,
            }
            again.pop("ended_at", None)
            actions.append(Put(DELIVERY, again, condition=unchanged(each.item, "state", "attempts")))
            if event := events.get(each.event_key):
                before = event.progress
                after = before.replayed(was_given_up=each.state is DeliveryState.FAILED)
                actions.append(progressed(key_of_its_event(each), before, after))
        return actions


def key_of_its_event(delivery: Delivery) -> Key:
    """The primary key of a delivery's event."""
    return TRIGGER_EVENT.key_for(delivery.user_id, delivery.event_timestamp, delivery.event_id)


def _is_ended(item: Item) -> bool:
    return DeliveryState(item["state"]) in ENDED
