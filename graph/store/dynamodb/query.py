"""Reads the items of partitions. DynamoDB tests what it can of a filter, and Python tests the rest."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from graph.store.conditions import Condition, all_of, folds_text
from graph.store.dynamodb.codec import EncodedItem
from graph.store.dynamodb.decoding import Decoder
from graph.store.dynamodb.pages import Read, answers, first_reading
from graph.store.dynamodb.requests import Requests
from graph.store.entity import Item
from graph.store.filtering import DividedFilter
from graph.store.query import Partition, Query
from graph.store.rows import joined
from graph.work.account import give_way

ITEMS_DECODED_AT_ONCE = 250  # before giving way to other work


class PreparedQuery:
    """A query whose filter is divided, which can read any partition of its index."""

    def __init__(self, requests: Requests, query: Query, send: Read, now: int, *, count: bool = False) -> None:
        """Divide the filter.

        Args:
            send: sends a request.
            now: the time in epoch seconds.
            count: whether the items are only counted.
        """
        self._send = send
        self._filter: DividedFilter[Condition] = DividedFilter(query, _testable)
        self._completed = query.completed
        self._is_filtered = query.where is not None
        self._counted = count and not self._filter.has_rest
        # The query as DynamoDB answers it.
        query = replace(query, where=all_of(*self._filter.translated), attributes=self._filter.needed)
        self._requests = requests.query(query, now, count=self._counted)
        self._decoder = requests.codec(query.entity).decoder(query.needed)

    async def read(
        self, partition: Partition, start: Mapping[str, Any] | None, limit: int | None
    ) -> tuple[Sequence[Item], bool]:
        """The first items of a partition, perhaps more than the limit, and whether more may follow."""
        items: Sequence[Item] = []
        at_first = first_reading(limit, filtered=self._is_filtered)
        async with aclosing(self._matching(partition, start, at_first)) as readings:
            async for found, more in readings:
                items = joined(items, found)
                if limit is not None and len(items) >= limit:
                    return items, len(items) > limit or more
        return items, False

    async def count(self, partition: Partition) -> int:
        """The number of items of a partition. DynamoDB counts them if it can test the whole filter."""
        if not self._counted:
            return sum([len(found) async for found, _ in self._matching(partition)])
        request = self._requests.of(partition)
        if request is None:
            return 0
        return sum([answer["Count"] async for answer in answers(self._send, request)])

    async def _matching(
        self, partition: Partition, start: Mapping[str, Any] | None = None, at_first: int | None = None
    ) -> AsyncGenerator[tuple[Sequence[Item], bool], None]:
        """Of each answer, the matching items and whether more may follow."""
        request = self._requests.of(partition, start)
        if request is None:
            return
        async with aclosing(answers(self._send, request, at_first)) as pages:
            async for answer in pages:
                items: Sequence[Item] = []
                async for some in decoded(answer["Items"], self._decoder):
                    items = joined(items, self._completed(self._filter.matching(some)))
                yield items, "LastEvaluatedKey" in answer


def _testable(condition: Condition) -> Condition | None:
    """The condition, if the expression language has it."""
    return None if folds_text(condition) else condition


async def decoded(
    encoded: Sequence[EncodedItem], decoder: Decoder, is_wanted: Callable[[EncodedItem], bool] | None = None
) -> AsyncIterator[Sequence[Item]]:
    """The items of an answer, some at a time, giving way in between."""
    for at in range(0, len(encoded), ITEMS_DECODED_AT_ONCE):
        if at:
            await give_way()
        some = encoded[at : at + ITEMS_DECODED_AT_ONCE]
        yield decoder.decode(some if is_wanted is None else list(filter(is_wanted, some)))
