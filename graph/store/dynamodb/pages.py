"""Reads a query or scan answer by answer. DynamoDB ends an answer after 1 MB or `Limit` items, then filters it.

So an answer may hold few matches or none, although more follow. A filtered reading with a limit
begins with a small answer, since unneeded items cost as much as needed ones. Then the answers grow,
since many small answers take long.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from graph.store.dynamodb.errors import translating_errors
from graph.store.dynamodb.requests import Request

READ_PER_WANTED = 4  # items in the first answer for each wanted one, since a filter may drop some
READ_AT_LEAST = 64
GROWTH = 8  # of an answer over the one before it
READ_AT_MOST = 100_000  # items; an answer ends earlier by its 1 MB

Read = Callable[..., Awaitable[Any]]


def first_reading(wanted: int | None, *, filtered: bool) -> int | None:
    """The number of items that the first answer should read; None for as many as fit."""
    if wanted is None or not filtered:
        return wanted
    return min(max(wanted * READ_PER_WANTED, READ_AT_LEAST), READ_AT_MOST)


async def answers(
    read: Read, request: Request | None, most: int | None = None
) -> AsyncGenerator[Mapping[str, Any], None]:
    """All answers, one after the other. No request has none.

    Args:
        most: items that the first answer reads.
    """
    while request is not None:
        with translating_errors(request["TableName"]):
            answer = await read(**request) if most is None else await read(**request, Limit=most)
        yield answer
        last = answer.get("LastEvaluatedKey")
        request = request | {"ExclusiveStartKey": last} if last else None
        most = None if most is None else min(most * GROWTH, READ_AT_MOST)
