"""The store's contract on a DynamoDB table. See `requests` for what is asked and `retry_policy` for how long.

Whatever has a condition or adds to a number is sent as a transaction, even of one action.
It costs twice the write units, but carries a token that makes DynamoDB apply it once however
often it arrives: where an answer is lost on the way and botocore asks again, a plain update
would be added twice, and a plain conditional put would find itself and say False.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from graph.core.clock import Clock, now_ms
from graph.core.errors import DatabaseUnavailable
from graph.store.conditions import Condition
from graph.store.contract import (
    UNBOUNDED,
    Action,
    Bounds,
    Delete,
    InvalidItem,
    Item,
    Key,
    KeyValue,
    Page,
    Put,
    Table,
    Update,
)
from graph.store.design import Index, TableDesign
from graph.store.dynamodb.cancellation import may_pass, refused_positions
from graph.store.dynamodb.changes import changes
from graph.store.dynamodb.client import Connected, connected
from graph.store.dynamodb.codec import EncodedItem, decode_item, encode_item
from graph.store.dynamodb.errors import (
    CONFLICTS,
    CONTENTION,
    OVERLOAD,
    UNLIKE,
    code_of,
    told_in_our_words,
)
from graph.store.dynamodb.pages import answers, first_reading
from graph.store.dynamodb.requests import Requests
from graph.store.dynamodb.retry_policy import CONNECTIONS, RETRY_POLICY, RetryPolicy, TryAgain
from graph.store.dynamodb.window import in_order
from graph.store.limits import (
    check_actions,
    check_distinct,
    check_item,
    check_key,
    key_of,
)
from graph.store.meter import Meter
from graph.work.account import give_way
from graph.work.slots import Slots

T = TypeVar("T")

KEYS_A_BATCH = 100  # DynamoDB's limit, as are the next two
ITEMS_A_BATCH = 25
ACTIONS_A_TRANSACTION = 100
BATCHES_AT_ONCE = 4
PARTITIONS_AT_ONCE = 8
QUERIES_AT_ONCE = CONNECTIONS - 10  # in the process; the rest is for look-ups and writes
ITEMS_DECODED_AT_ONCE = 250  # before the event loop sees to others

COUNT = {"Select": "COUNT"}
ANYWHERE: dict[str, KeyValue] = {"S": "ping", "N": 0}


@asynccontextmanager
async def open_dynamodb(
    table_name: str,
    design: TableDesign,
    *,
    clock: Clock = now_ms,
    retry_policy: RetryPolicy = RETRY_POLICY,
    meter: Meter | None = None,
) -> AsyncIterator[Table]:
    """Open a table that exists, with one client for as long as it is open.

    The usual configuration of AWS says where and as whom: AWS_REGION, AWS_ENDPOINT_URL,
    AWS_PROFILE, a role. Whether the table is there, `ping` tells.
    """
    async with connected(table_name, retry_policy, meter) as connection:
        yield DynamoTable(connection, Requests(table_name, design), clock, retry_policy)


class DynamoTable(Table):
    """One table in DynamoDB."""

    transaction_limit = ACTIONS_A_TRANSACTION
    in_order = False

    def __init__(self, connection: Connected, requests: Requests, clock: Clock, retry_policy: RetryPolicy) -> None:
        self.design = requests.design
        self._connection = connection
        self._client = connection.client
        self._direct = connection.direct
        self._requests = requests
        self._clock = clock
        self._retry_policy = retry_policy
        self._slots = Slots(QUERIES_AT_ONCE)

    async def get(self, key: Key) -> Item | None:
        check_key(self.design, key)
        with self._told():
            answer = await self._direct.get_item(**self._requests.get(key))
        found = answer.get("Item")
        return self._unless_expired(decode_item(found)) if found else None

    async def get_many(self, keys: Collection[Key], *, only: Collection[str] | None = None) -> dict[Key, Item]:
        for key in keys:
            check_key(self.design, key)
        wanted = [self._requests.key(key) for key in dict.fromkeys(keys)]
        found: dict[Key, Item] = {}

        async def read(pending: list[EncodedItem]) -> list[EncodedItem]:
            with self._told():
                answer = await self._direct.batch_get_item(**self._requests.get_many(pending, only))
            for encoded in answer["Responses"].get(self._requests.table, ()):
                item = self._unless_expired(decode_item(encoded))
                if item is not None:
                    kept = item if only is None else {name: item[name] for name in only if name in item}
                    found[key_of(self.design, item)] = kept
            left: Any = answer.get("UnprocessedKeys", {})
            return list(left[self._requests.table]["Keys"]) if left else []

        await self._in_batches(wanted, KEYS_A_BATCH, read)
        return found

    async def put(self, item: Item, *, if_absent: bool = False) -> bool:
        if if_absent:
            return not await self.transact([Put(item, if_absent=True)])
        check_item(self.design, item)
        encoded = encode_item(item)

        async def write() -> None:
            with self._told():
                try:
                    await self._direct.put_item(TableName=self._requests.table, Item=encoded)
                except ClientError as error:
                    if code_of(error) in CONFLICTS:
                        raise self._try_again(CONTENTION) from error
                    raise

        await self._retry_policy.persist(write)
        return True

    async def put_many(self, items: Sequence[Item]) -> None:
        for item in items:
            check_item(self.design, item)
        check_distinct([key_of(self.design, item) for item in items])

        async def write(pending: list[Any]) -> list[Any]:
            with self._told():
                answer = await self._direct.batch_write_item(RequestItems={self._requests.table: pending})
            left: Any = answer.get("UnprocessedItems", {})
            return list(left[self._requests.table]) if left else []

        await self._in_batches([{"PutRequest": {"Item": encode_item(item)}} for item in items], ITEMS_A_BATCH, write)

    async def update(self, update: Update) -> bool:
        return not await self.transact([update])

    async def delete(self, delete: Delete) -> bool:
        return not await self.transact([delete])

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        if not actions:
            return ()
        check_actions(self.design, actions, self.transaction_limit)
        now = self._now()
        sent: Any = [self._requests.action(action, now) for action in actions]
        refused: tuple[int, ...] = ()

        async def write() -> tuple[int, ...]:
            nonlocal refused
            refused = ()
            with self._told():
                try:
                    await self._client.transact_write_items(TransactItems=sent)
                except self._client.exceptions.TransactionCanceledException as error:
                    refused = refused_positions(error)
                    if may_pass(error) or not refused:
                        raise self._try_again(CONTENTION) from error
                    return refused
            return ()

        try:
            return await self._retry_policy.persist(write)
        except TryAgain:
            if refused:  # Nothing was applied, and at least these never would have been.
                return refused
            raise

    async def query(
        self,
        index: Index,
        partition: KeyValue,
        *,
        between: Bounds = UNBOUNDED,
        forward: bool = True,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
        where: Condition | None = None,
    ) -> Page:
        if limit is not None and limit < 1:
            raise InvalidItem("a page has room for one item at least")
        request = self._requests.query(index, partition, between, forward, start, where, self._now())
        if request is None:
            return Page([], None)
        items: list[Item] = []
        at_first = first_reading(limit, filtered=where is not None)
        async with aclosing(answers(self._query, request, at_first)) as pages:
            async for answer in pages:
                items += [item async for item in _decoded(answer["Items"])]
                if limit is not None and len(items) >= limit:
                    more = len(items) > limit or "LastEvaluatedKey" in answer
                    return Page(items[:limit], self._position(index, items[limit - 1]) if more else None)
        return Page(items, None)

    async def query_many(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        forward: bool = True,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
        where: Condition | None = None,
    ) -> Page:
        items: list[Item] = []

        async def read(at: int) -> Page:
            return await self.query(
                index,
                partitions[at],
                between=between,
                forward=forward,
                start=None if at else start,
                limit=None if limit is None else limit - len(items),  # what is still wanted when the reading begins
                where=where,
            )

        work = [partial(read, at) for at in range(len(partitions))]
        async with aclosing(in_order(work, PARTITIONS_AT_ONCE)) as pages:
            used = 0
            async for page in pages:
                used += 1
                items += page.items
                if limit is not None and len(items) >= limit:
                    more = len(items) > limit or page.last_key is not None or used < len(partitions)
                    last_key = self._position(index, items[limit - 1]) if more else None
                    return Page(items[:limit], last_key, used)
        return Page(items, None, used)

    async def count(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        where: Condition | None = None,
    ) -> int:
        async def count_one(partition: KeyValue) -> int:
            request = self._requests.query(index, partition, between, True, None, where, self._now())
            if request is None:
                return 0
            return sum([answer["Count"] async for answer in answers(self._query, request | COUNT)])

        work = [partial(count_one, partition) for partition in partitions]
        return sum([counted async for counted in in_order(work, PARTITIONS_AT_ONCE)])

    async def scan(self, *, where: Condition | None = None) -> AsyncIterator[Item]:
        async for answer in answers(self._direct.scan, self._requests.scan(where, self._now())):
            async for item in _decoded(answer["Items"]):
                yield item

    def changes(self) -> AsyncGenerator[None, None]:
        return changes(self._requests.table, self._connection, self._retry_policy)

    async def ping(self) -> None:
        try:
            await self.get((ANYWHERE[self.design.partition_key.type], ANYWHERE[self.design.sort_key.type]))
        except InvalidItem as error:
            raise DatabaseUnavailable(f"table {self._requests.table} {UNLIKE} ({error})") from error

    async def _query(self, **request: Any) -> Any:
        """One answer to a query, as one of so many in the process, of which callers have fair shares."""
        async with self._slots.one():
            return await self._direct.query(**request)

    async def _in_batches(self, whole: list[T], size: int, send: Callable[[list[T]], Awaitable[list[T]]]) -> None:
        """Send the whole in batches; `send` answers what of its batch DynamoDB left unprocessed."""

        async def finish(batch: list[T]) -> None:
            async def once() -> list[T]:
                left = await send(batch)
                if len(left) == len(batch):
                    raise self._try_again(OVERLOAD)
                return left

            # A part that was processed shows that there is no need to wait yet.
            while batch:
                batch = await self._retry_policy.persist(once)

        work = [partial(finish, whole[at : at + size]) for at in range(0, len(whole), size)]
        async for _ in in_order(work, BATCHES_AT_ONCE):
            pass

    def _try_again(self, reason: str) -> TryAgain:
        return TryAgain(f"table {self._requests.table} {reason}")

    def _told(self) -> AbstractContextManager[None]:
        return told_in_our_words(self._requests.table)

    def _position(self, index: Index, item: Item) -> Item:
        return {attribute.name: item[attribute.name] for attribute in self.design.start_attributes(index)}

    def _unless_expired(self, item: Item) -> Item | None:
        ttl = item.get(self.design.ttl) if self.design.ttl else None
        return None if isinstance(ttl, int | float) and ttl <= self._now() else item

    def _now(self) -> int:
        return self._clock() // 1000


async def _decoded(encoded: Sequence[EncodedItem]) -> AsyncIterator[Item]:
    for at in range(0, len(encoded), ITEMS_DECODED_AT_ONCE):
        if at:
            await give_way()
        for item in encoded[at : at + ITEMS_DECODED_AT_ONCE]:
            yield decode_item(item)
