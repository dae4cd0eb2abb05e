"""Reads the items of partitions. DynamoDB tests what it can of a filter, and Python tests the rest."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from graph.store.conditions import Condition, all_of, folds_text
from graph.store.dynamodb.codec import EncodedItem
from graph.store.dynamodb.items import Decoder
from graph.store.dynamodb.pages import Read, answers, first_reading
from graph.store.dynamodb.requests import Requests
from graph.store.entity import Item
from graph.store.filtering import DividedFilter
from graph.store.query import Partition, Query
from graph.work.account import give_way

ITEMS_DECODED_AT_ONCE = 250  # before giving way to other work


class PreparedQuery:
    """A query whose filter is divided, which can read any partition of its index."""

    def __init__(self, requests: Requests, query: Query, send: Read, now: Callable[[], int]) -> None:
        """Divide the filter.

        Args:
            send: sends a request.
            now: the time in epoch seconds.
        """
        self._requests, self._send, self._now = requests, send, now
        self._filter: DividedFilter[Condition] = DividedFilter(query, _testable)
        # The query as DynamoDB answers it.
        self._query = replace(query, where=all_of(*self._filter.translated), attributes=self._filter.needed)
        self._is_filtered = query.where is not None

    async def read(
        self, partition: Partition, start: Mapping[str, Any] | None, limit: int | None
    ) -> tuple[list[Item], bool]:
        """The first items of a partition, perhaps more than the limit, and whether more may follow."""
        items: list[Item] = []
        at_first = first_reading(limit, filtered=self._is_filtered)
        async with aclosing(self._matching(partition, start, at_first)) as readings:
            async for found, more in readings:
                items += found
                if limit is not None and len(items) >= limit:
                    return items, len(items) > limit or more
        return items, False

    async def count(self, partition: Partition) -> int:
        """The number of items of a partition. DynamoDB counts them if it can test the whole filter."""
        if self._filter.has_rest:
            return sum([len(found) async for found, _ in self._matching(partition)])
        request = self._requests.query(self._query, partition, None, self._now(), count=True)
        if request is None:
            return 0
        return sum([answer["Count"] async for answer in answers(self._send, request)])

    async def _matching(
        self, partition: Partition, start: Mapping[str, Any] | None = None, at_first: int | None = None
    ) -> AsyncGenerator[tuple[list[Item], bool], None]:
        """Of each answer, the matching items and whether more may follow."""
        request = self._requests.query(self._query, partition, start, self._now())
        if request is None:
            return
        decoder = self._requests.codec(self._query.entity).decoder(self._query.needed)
        async with aclosing(answers(self._send, request, at_first)) as pages:
            async for answer in pages:
                items: list[Item] = []
                async for some in decoded(answer["Items"], decoder):
                    items += self._query.completed(self._filter.matching(some))
                yield items, "LastEvaluatedKey" in answer


def _testable(condition: Condition) -> Condition | None:
    """The condition, if the expression language has it."""
    return None if folds_text(condition) else condition


async def decoded(
    encoded: Sequence[EncodedItem], decoder: Decoder, is_wanted: Callable[[EncodedItem], bool] | None = None
) -> AsyncIterator[list[Item]]:
    """The items of an answer, some at a time, giving way in between."""
    for at in range(0, len(encoded), ITEMS_DECODED_AT_ONCE):
        if at:
            await give_way()
        some = encoded[at : at + ITEMS_DECODED_AT_ONCE]
        yield [decoder.decode(item) for item in some if is_wanted is None or is_wanted(item)]
