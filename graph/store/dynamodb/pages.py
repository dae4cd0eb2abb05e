"""Reading a query or scan answer by answer: DynamoDB ends one after 1 MB or `Limit` items, then filters it.

So an answer may hold few matches, or none, and more may still follow. A reading that wants a
number of items under a filter begins small, since items that are not needed cost as much as
those that are, and grows, since many small answers take long.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from graph.store.dynamodb.errors import told_in_our_words
from graph.store.dynamodb.requests import Request

READ_PER_WANTED = 4  # items at first for each one wanted, where a filter may drop some
READ_AT_LEAST = 64
GROWTH = 8  # of an answer over the one before it
READ_AT_MOST = 100_000  # items; the 1 MB end an answer before

Read = Callable[..., Awaitable[Any]]


def first_reading(wanted: int | None, *, filtered: bool) -> int | None:
    """How many items the first answer should read; None for as many as fit into it."""
    if wanted is None or not filtered:
        return wanted
    return min(max(wanted * READ_PER_WANTED, READ_AT_LEAST), READ_AT_MOST)


async def answers(read: Read, request: Request, most: int | None = None) -> AsyncGenerator[Mapping[str, Any], None]:
    """The answers one after the other, to the last; with `most`, the first of them reads that many items."""
    while True:
        size = {} if most is None else {"Limit": most}
        with told_in_our_words(request["TableName"]):
            answer = await read(**request, **size)
        yield answer
        if not answer.get("LastEvaluatedKey"):
            return
        request = request | {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        most = None if most is None else min(most * GROWTH, READ_AT_MOST)
