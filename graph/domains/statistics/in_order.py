"""The versions of several streams of a view in order of time. No I/O."""

from collections.abc import AsyncIterator, Sequence
from heapq import merge
from itertools import islice
from operator import itemgetter

from graph.store.entity import Item
from graph.work.account import give_way

AT_ONCE = 5_000


async def in_order(versions: Sequence[Sequence[Item]]) -> AsyncIterator[Sequence[Item]]:
    """Versions in order of time, some at a time. One that moved while they were read is there once."""
    last = None
    merged = merge(*versions, key=itemgetter("eventTsMs", "eventId"))
    while some := [*islice(merged, AT_ONCE)]:
        ids = [last, *[item["eventId"] for item in some]]
        yield [item for item, before in zip(some, ids, strict=False) if item["eventId"] != before]
        last = ids[-1]
        await give_way()
