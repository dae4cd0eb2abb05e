"""The queue of an endpoint: its deliveries that wait, and when a deliverer has to look at them.

A new delivery takes the queue's next sequence number. `head` is the first delivery that may never have been attempted;
those before it have ended, or are retried at a time of their own. Only queues with something to do are due.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from zlib import crc32

from graph.domains.triggers.entities import QUEUE
from graph.store.conditions import Condition, Present
from graph.store.contract import Update

SHARDS = 4  # partitions of the index by due time, since one takes about 1,000 writes a second on DynamoDB

IDLE = 2**53 - 1  # due, if nothing waits: never
PARKED = IDLE - 1  # due, if something waits for the user to resume the endpoint

EXISTS = Present("sequence")  # so that no queue is made by changing one that was deleted


def due_at(endpoint_id: str, due: int) -> dict[str, int]:
    """The attributes that make an endpoint's queue due at a time, epoch milliseconds."""
    return {"shard": crc32(endpoint_id.encode()) % SHARDS, "due": due}


def new_queue(endpoint_id: str, user_id: str) -> Mapping[str, Any]:
    """The empty queue of a new endpoint."""
    return {
        "endpoint_id": endpoint_id,
        "user_id": user_id,
        **Queue()._asdict(),
        "head": 1,
        "calls": 0,
        **due_at(endpoint_id, IDLE),
    }


def called(endpoint_id: str, now: int, *, more: int = 0, condition: Condition = EXISTS, **others: int) -> Update:
    """The change of a queue that calls a deliverer, who will not miss it even if the queue was due already.

    Args:
        more: deliveries that wait from now on.
        others: further attributes to set.
    """
    return Update(
        QUEUE.key_for(endpoint_id),
        set={**due_at(endpoint_id, now), **others},
        add={"waiting": more, "calls": 1},
        condition=condition,
    )


class Queue(NamedTuple):
    """What users see of a queue."""

    sequence: int = 0  # of the last delivery
    waiting: int = 0  # deliveries that have not ended
    failures: int = 0  # attempts since the last success
    failing_since: int = 0  # epoch milliseconds; 0 without a failure
    open_until: int = 0  # epoch milliseconds, of the breaker
