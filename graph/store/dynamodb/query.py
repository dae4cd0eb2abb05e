"""Reads the items of partitions. DynamoDB tests what it can of a filter, and Python tests the rest."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from graph.store.conditions import Condition, all_of, folds_text
from graph.store.dynamodb.codec import EncodedItem
from graph.store.dynamodb.pages import Read, answers, first_reading, following, grown, one_answer
from graph.store.dynamodb.requests import Requests
from graph.store.entity import Item
from graph.store.filtering import DividedFilter
from graph.store.query import Partition, Query
from graph.store.rows import joined
from graph.work.account import give_way

ITEMS_DECODED_AT_ONCE = 250  # before other work may run


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
        self._decode = requests.codec(query.entity).decoder(query.needed).decode

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
        return sum([answer["Count"] async for answer in answers(self._send, self._requests.of(partition))])

    async def _matching(
        self, partition: Partition, start: Mapping[str, Any] | None = None, most: int | None = None
    ) -> AsyncGenerator[tuple[Sequence[Item], bool], None]:
        """Of each answer, the matching items and whether more may follow. The first answer reads `most` items."""
        request = self._requests.of(partition, start)
        while request is not None:
            answer = await one_answer(self._send, request, most)
            items: Sequence[Item] = []
            for some in in_pieces(answer["Items"]):
                if items:
                    await give_way()
                items = joined(items, self._completed(self._filter.matching(self._decode(some))))
            request, most = following(request, answer), grown(most)
            yield items, request is not None


def _testable(condition: Condition) -> Condition | None:
    """The condition, if the expression language has it."""
    return None if folds_text(condition) else condition


def in_pieces(encoded: Sequence[EncodedItem]) -> Sequence[Sequence[EncodedItem]]:
    """The items of an answer, in pieces between which other work may run."""
    if len(encoded) <= ITEMS_DECODED_AT_ONCE:
        return (encoded,)
    return [encoded[at : at + ITEMS_DECODED_AT_ONCE] for at in range(0, len(encoded), ITEMS_DECODED_AT_ONCE)]
