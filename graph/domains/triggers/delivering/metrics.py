"""The metrics of deliveries, and what waits for all endpoints together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.domains.triggers.delivering.outcomes import DELIVERED, FAILED, RETRIED
from graph.domains.triggers.entities import DELIVERY, DUE_INDEX, QUEUE
from graph.domains.triggers.queues import PARKED, SHARDS
from graph.observability.metrics import Metrics
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from graph.work.tasks import repeat

READ_EVERY_S = 15.0
READ_AT_ONCE = 1000
MOST_AGES = 100  # endpoints whose first waiting delivery is looked at


@dataclass(frozen=True, slots=True)
class DeliveryStatus:
    """What waits for all endpoints together."""

    waiting: int  # deliveries
    due: int  # deliveries of endpoints that a deliverer has to look at now
    oldest_due_s: float  # the age of the oldest delivery of these, by its creation


class DeliveryStatusReader:
    """Reads what waits, again and again, and shows it as metrics."""

    def __init__(self, database: Database, clock: Clock, metrics: Metrics) -> None:
        self._database = database
        self._clock = clock
        self._waiting = metrics.gauge("deliveries_waiting", "Deliveries that have not ended.", of_all="livemax")
        self._due = metrics.gauge("deliveries_due", "Deliveries of endpoints that are due.", of_all="livemax")
        self._oldest_due = metrics.gauge(
            "deliveries_oldest_due_seconds", "Age of the oldest delivery that is due.", of_all="livemax"
        )

    async def read_forever(self) -> None:
        """Read again and again."""
        await repeat(self.read, READ_EVERY_S, failure="What waits for endpoints cannot be read")

    async def read(self) -> DeliveryStatus:
        """Read what waits now.

        Raises:
            DatabaseUnavailable: The store does not answer.
        """
        now = self._clock()
        waiting, due = 0, list[Item]()
        for shard in range(SHARDS):
            async for items in self._database.pages(_with_something(shard)):
                waiting += sum([item["waiting"] for item in items])
                due += [item for item in items if item["due"] <= now and item["waiting"]]
        oldest = await self._oldest(due)
        age_s = 0.0 if oldest is None else max(now - oldest, 0) / 1000
        status = DeliveryStatus(waiting, sum([item["waiting"] for item in due]), age_s)
        self._waiting.set(status.waiting)
        self._due.set(status.due)
        self._oldest_due.set(status.oldest_due_s)
        return status

    async def _oldest(self, due: Sequence[Item]) -> int | None:
        """When the oldest of the first waiting deliveries was created, epoch milliseconds."""
        some = sorted(due, key=lambda item: item["due"])[:MOST_AGES]
        keys = [DELIVERY.key_for(item["endpoint_id"], item["user_id"], item["head"]) for item in some]
        found = await self._database.get_many(keys, attributes={"created_at", *DELIVERY.key_names}) if keys else {}
        return min((item["created_at"] for item in found.values()), default=None)


def _with_something(shard: int) -> Query:
    """The queues of a shard in which something waits."""
    return Query(
        entity=QUEUE,
        index=DUE_INDEX,
        partitions=((shard,),),
        between=(None, PARKED),
        limit=READ_AT_ONCE,
        attributes=frozenset(("endpoint_id", "user_id", "head", "waiting", "due")),
    )


def counting_attempts(metrics: Metrics) -> Callable[[str], None]:
    """What counts an attempt by its outcome."""
    attempts = metrics.counter(
        "delivery_attempts", "Attempts to deliver, by outcome: delivered, retried or failed.", "outcome"
    )
    for outcome in (DELIVERED, RETRIED, FAILED):
        attempts.labels(outcome)  # so that each begins with 0, and a rate sees the first one
    return lambda outcome: attempts.labels(outcome).inc()
