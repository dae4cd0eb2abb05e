"""Reads the items of partitions. DynamoDB tests what it can of a filter, and Python tests the rest.

An index has items with equal sort keys in an order of its own. A query that orders ties begins at the sort key of its
start, reads the tie at its end completely, and puts each tie in order. Its caller is charged for a long tie, and for
broken items.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from graph.store.conditions import all_of, check_filter, conjuncts, folds_text, names_in, predicate
from graph.store.dynamodb.codec import EncodedItem, decode
from graph.store.dynamodb.pages import Read, answers, first_reading
from graph.store.dynamodb.requests import QueryRequests, Request, Requests
from graph.store.entity import Item
from graph.store.query import Partition, Query, narrowed
from graph.store.rows import filtered, joined, picked, values_of
from graph.work.account import charge_rows, give_way

ITEMS_DECODED_AT_ONCE = 250  # before other work may run


class PreparedDynamoQuery:
    """A query whose filter is divided, which can read any partition of its index."""

    def __init__(self, requests: Requests, query: Query, send: Read, now: int, *, count: bool = False) -> None:
        """Divide the filter.

        Args:
            send: sends a request.
            now: the time in epoch seconds.
            count: whether the items are only counted.
        """
        self._send = send
        check_filter(query.where)
        rest = all_of(*[part for part in conjuncts(query.where) if folds_text(part)])
        tested, needed = names_in(rest), query.needed
        self._holds = predicate(rest) if rest else None
        self._tested_alone = frozenset[str]() if needed is None else tested - needed
        self._is_filtered = query.where is not None
        self._counted = count and not rest and requests.counts_only(query)
        # The query as DynamoDB answers it.
        testable = all_of(*[part for part in conjuncts(query.where) if not folds_text(part)])
        self._query = query = replace(query, where=testable, attributes=None if needed is None else needed | tested)
        self._requests_of: Callable[[Query], QueryRequests] = partial(
            requests.query, now=now, counting=count, count_alone=self._counted
        )
        self._requests = self._requests_of(query)
        self._decode = requests.codec(query.entity).decoder(query.needed, query.by).decode
        keys = query.entity.templates[query.by]
        self._sort = keys.sort
        self._places = tuple(dict.fromkeys((*keys.sort.names, *query.entity.key_names)))
        self._orders_ties = query.orders_ties and not set(query.entity.key_names) <= set(keys.names)

    async def read(
        self, partition: Partition, start: Mapping[str, Any] | None, limit: int | None
    ) -> tuple[Sequence[Item], bool]:
        """The first items of a partition, perhaps more than the limit, and whether more may follow."""
        ordered, forward = self._orders_ties, self._query.forward
        begin = self._place(start) if ordered and start is not None else None
        request = self._from(start).of(partition) if ordered else self._requests.of(partition, start)
        # In order, the start is read once more, and one item behind the page shows the end of a tie.
        wanted = limit + 2 if ordered and limit is not None else limit
        items: Sequence[Item] = []
        reached, begun = None, False
        at_first = first_reading(wanted, filtered=self._is_filtered)
        async with aclosing(self._matching(request, at_first)) as readings:
            async for found, reached in readings:
                if ordered and limit and begun and not 0 < len(items) < limit:
                    await charge_rows(read=len(found))  # of a long tie, before or behind the page
                begun = True
                if begin is not None:
                    found = filtered(found, partial(_is_behind, begin, self._place, forward))
                items = joined(items, found)
                if limit is None or len(items) < limit:
                    continue
                if not ordered or reached != self._sort_key(items[limit - 1]):
                    break
        if ordered:
            places = values_of(items, self._places)
            items = picked(items, sorted(range(len(places)), key=places.__getitem__, reverse=not forward))
        return items, reached is not None or (limit is not None and len(items) > limit)

    async def count(self, partition: Partition) -> int:
        """The number of items of a partition. DynamoDB counts them if it can test the whole filter."""
        request = self._requests.of(partition)
        if not self._counted:
            return sum([len(found) async for found, _ in self._matching(request)])
        return sum([answer["Count"] async for answer in answers(self._send, request)])

    async def _matching(
        self, request: Request | None, most: int | None = None
    ) -> AsyncGenerator[tuple[Sequence[Item], Any], None]:
        """Of each answer, the matching items and the sort key that it reached; None if no other one follows.

        Args:
            most: items that the first answer reads.
        """
        async with aclosing(answers(self._send, request, most)) as answered:
            async for answer in answered:
                items: Sequence[Item] = []
                for at, some in enumerate(in_pieces(answer["Items"])):
                    if at:
                        await give_way()
                    found = self._decode(some)
                    if left_out := len(some) - len(found):  # broken items, which no page counts
                        await charge_rows(read=left_out)
                    items = joined(items, self._tested(found))
                reached = answer.get("LastEvaluatedKey")
                yield items, decode(reached[self._sort.key.name]) if reached else None

    def _tested(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items that pass what Python tests, without attributes that only this needed."""
        if self._holds is None:
            return items
        matching = list(filter(self._holds, items))
        for name in self._tested_alone:
            for item in matching:
                item.pop(name, None)
        return matching

    def _from(self, start: Mapping[str, Any] | None) -> QueryRequests:
        """The reads from the sort key of a position on."""
        if start is None:
            return self._requests
        at, query = tuple([start[name] for name in self._sort.names]), self._query
        return self._requests_of(
            replace(query, between=narrowed(query.between, (at, None) if query.forward else (None, at)))
        )

    def _place(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """What orders items."""
        return tuple([item[name] for name in self._places])

    def _sort_key(self, item: Item) -> Any:
        return self._sort.render([item[name] for name in self._sort.names])


def _is_behind(place: Any, place_of: Callable[[Item], Any], forward: bool, item: Item) -> bool:
    """Whether an item comes after a place."""
    return bool(place_of(item) > place if forward else place_of(item) < place)


def in_pieces(encoded: Sequence[EncodedItem]) -> Sequence[Sequence[EncodedItem]]:
    """The items of an answer, in pieces between which other work may run."""
    if len(encoded) <= ITEMS_DECODED_AT_ONCE:
        return (encoded,)
    return [encoded[at : at + ITEMS_DECODED_AT_ONCE] for at in range(0, len(encoded), ITEMS_DECODED_AT_ONCE)]
