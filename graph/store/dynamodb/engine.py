"""The store's contract on DynamoDB. See `requests` for its requests and `retry_policy` for its retries.

A write with a condition or an addition is sent as a transaction, even if it is a single action. A
transaction costs twice the write units, but has a token, so that DynamoDB applies it once, however
often it arrives. If an answer is lost and botocore sends the request again, a plain update would add
twice, and a plain conditional put would find its own item and return False.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from graph.core.clock import Clock, now_ms
from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Action, Database, Put, Update, check_actions, check_key
from graph.store.design import TableDesign
from graph.store.dynamodb.cancellation import may_pass, refused_positions
from graph.store.dynamodb.changes import changes
from graph.store.dynamodb.client import Connected, connected
from graph.store.dynamodb.codec import NULL, EncodedItem, decode
from graph.store.dynamodb.errors import CONFLICTS, CONTENTION, OVERLOAD, UNLIKE, code_of, subject, translating_errors
from graph.store.dynamodb.other_writers import DynamoOtherWriters
from graph.store.dynamodb.pages import answers
from graph.store.dynamodb.query import PreparedDynamoQuery, in_pieces
from graph.store.dynamodb.requests import Requests
from graph.store.dynamodb.retry_policy import CONNECTIONS, RETRY_POLICY, RetryPolicy, TryAgain
from graph.store.dynamodb.window import in_order
from graph.store.entity import Entity, Item, Key
from graph.store.meter import Meter
from graph.store.query import ItemPage, Query
from graph.store.rows import joined
from graph.store.values import InvalidItem
from graph.work.account import give_way, note_lagging_read, slot_of
from graph.work.slots import Slots

T = TypeVar("T")

KEYS_PER_BATCH = 100  # these three are DynamoDB's limits
ITEMS_PER_BATCH = 25
ACTIONS_PER_TRANSACTION = 100
BATCHES_AT_ONCE = 4
PARTITIONS_AT_ONCE = 8
QUERIES_AT_ONCE = CONNECTIONS - 10  # in the process; look-ups and writes use the rest

ANYWHERE: dict[str, dict[str, str]] = {"S": {"S": "ping"}, "N": {"N": "0"}}


@asynccontextmanager
async def open_dynamodb(
    entities: Iterable[Entity],
    *,
    prefix: str = "",
    environment: str = "dev",
    clock: Clock = now_ms,
    retry_policy: RetryPolicy = RETRY_POLICY,
    meter: Meter | None = None,
) -> AsyncIterator[Database]:
    """Open the existing tables of some entities, with one client.

    AWS's usual configuration gives the endpoint and the credentials: AWS_REGION, AWS_ENDPOINT_URL,
    AWS_PROFILE, a role. `ping` checks whether the tables exist.

    Args:
        prefix: the prefix of each table's name.
        environment: the value of `{env}` in the names.
    """
    requests = Requests(entities, prefix=prefix, environment=environment, meter=meter)
    async with connected(requests.tables.values(), retry_policy, meter) as connection:
        yield DynamoDatabase(connection, requests, clock, retry_policy)


class DynamoDatabase(Database):
    """Tables in DynamoDB."""

    transaction_limit = ACTIONS_PER_TRANSACTION
    quick_partitions = 100
    is_remote = True
    in_order = False

    def __init__(self, connection: Connected, requests: Requests, clock: Clock, retry_policy: RetryPolicy) -> None:
        self._connection = connection
        self._client = connection.client
        self._direct = connection.direct
        self._requests = requests
        self._clock = clock
        self._retry_policy = retry_policy
        self._slots = Slots(QUERIES_AT_ONCE)
        self.other_writers = DynamoOtherWriters(connection, requests, clock, retry_policy)

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        check_key(key)
        with translating_errors(self._requests.table(key.entity)):
            answer = await self._direct.get_item(**self._requests.get(key, attributes))
        found = answer.get("Item")
        return self._read(key, found, attributes) if found else None

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        wanted: dict[tuple[str, Any, Any], tuple[Key, EncodedItem]] = {}
        for key in dict.fromkeys(keys):
            check_key(key)
            encoded = self._requests.codec(key.entity).key(key)
            wanted[self._place(key.entity.table, encoded)] = key, encoded
        designs = {name: design for design, name in self._requests.tables.items()}
        found: dict[Key, Item] = {}

        async def read(pending: list[tuple[Key, EncodedItem]]) -> list[tuple[Key, EncodedItem]]:
            tables: dict[str, list[tuple[Key, EncodedItem]]] = {}
            for key, encoded in pending:
                tables.setdefault(self._requests.table(key.entity), []).append((key, encoded))
            with translating_errors(*tables):
                answer = await self._direct.batch_get_item(**self._requests.get_many(tables, attributes))
            for name, items in answer["Responses"].items():
                for each in items:
                    key, _ = wanted[self._place(designs[name], each)]
                    item = self._read(key, each, attributes)
                    if item is not None:
                        found[key] = item
            left: Any = answer.get("UnprocessedKeys", {})
            return [wanted[self._place(designs[name], each)] for name in left for each in left[name]["Keys"]]

        await self._in_batches(list(wanted.values()), KEYS_PER_BATCH, read)
        return found

    async def put(self, put: Put) -> bool:
        if put.if_absent or put.condition is not None:
            return await super().put(put)
        check_actions([put], 1)
        table, encoded = self._encoded(put)

        async def write() -> None:
            with translating_errors(table):
                try:
                    await self._direct.put_item(TableName=table, Item=encoded)
                except ClientError as error:
                    if code_of(error) in CONFLICTS:
                        raise TryAgain(f"{subject(table)} {CONTENTION}") from error
                    raise

        await self._retry_policy.persist(write)
        return True

    async def put_many(self, puts: Sequence[Put]) -> None:
        check_actions(puts, len(puts))

        async def write(pending: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
            tables: dict[str, list[Any]] = {}
            for table, request in pending:
                tables.setdefault(table, []).append(request)
            with translating_errors(*tables):
                answer = await self._direct.batch_write_item(RequestItems=tables)
            left: Any = answer.get("UnprocessedItems", {})
            return [(table, request) for table in left for request in left[table]]

        encoded = map(self._encoded, puts)
        whole = [(table, {"PutRequest": {"Item": item}}) for table, item in encoded]
        await self._in_batches(whole, ITEMS_PER_BATCH, write)

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        if not actions:
            return ()
        check_actions(actions, self.transaction_limit)
        now = self._now()
        sent: Any = [self._requests.action(action, now) for action in actions]
        tables = {self._requests.table(action.key.entity) for action in actions}
        refused: tuple[int, ...] = ()

        async def write() -> tuple[int, ...]:
            nonlocal refused
            refused = ()
            try:
                with translating_errors(*tables):
                    try:
                        await self._client.transact_write_items(TransactItems=sent)
                    except self._client.exceptions.TransactionCanceledException as error:
                        refused = refused_positions(error)
                        if may_pass(error) or not refused:
                            raise TryAgain(f"{subject(*tables)} {CONTENTION}") from error
            except InvalidItem as error:
                if await self._remove_nulls(actions):
                    raise TryAgain(f"{subject(*tables)} {CONTENTION}") from error
                raise
            return refused

        try:
            return await self._retry_policy.persist(write)
        except TryAgain:
            if refused:  # nothing was applied, and the conditions of these actions do not hold
                return refused
            raise

    async def _remove_nulls(self, actions: Sequence[Action]) -> bool:
        """Remove from counters the NULLs of other programs, to which nothing can be added. False if there are none."""
        found = False
        for update in actions:
            if isinstance(update, Update) and update.add:
                with translating_errors(self._requests.table(update.key.entity)):
                    answer = await self._direct.get_item(**self._requests.get(update.key, update.add.keys()))
                    item = answer.get("Item", {})
                    if nulls := [name for name in update.add if item.get(name) == NULL]:
                        found = True
                        with suppress(self._client.exceptions.ConditionalCheckFailedException):  # changed meanwhile
                            await self._client.update_item(**self._requests.removal(update.key, nulls))
        return found

    async def query(self, query: Query) -> ItemPage:
        if query.limit is not None and query.limit < 1:
            raise InvalidItem("the limit of a query must be at least 1")
        prepared = self._prepared(query)
        items: Sequence[Item] = []

        async def read(at: int) -> tuple[Sequence[Item], bool]:
            # The number of items that are missing when the reading begins.
            limit = None if query.limit is None else query.limit - len(items)
            return await prepared.read(query.partitions[at], None if at else query.start, limit)

        work = [partial(read, at) for at in range(len(query.partitions))]
        used = 0
        async with aclosing(in_order(work, PARTITIONS_AT_ONCE)) as readings:
            async for found, more in readings:
                used += 1
                items = joined(items, found)
                if query.limit is not None and len(items) >= query.limit:
                    more = more or len(items) > query.limit or used < len(query.partitions)
                    last = query.entity.position_of(query.by, items[query.limit - 1]) if more else None
                    return ItemPage(items[: query.limit], last, used)
        return ItemPage(items, None, used)

    async def count(self, query: Query) -> int:
        prepared = self._prepared(replace(query, attributes=frozenset()), count=True)
        work = [partial(prepared.count, partition) for partition in query.partitions]
        return sum([counted async for counted in in_order(work, PARTITIONS_AT_ONCE)])

    def _prepared(self, query: Query, *, count: bool = False) -> PreparedDynamoQuery:
        if query.index is not None:
            note_lagging_read()
        return PreparedDynamoQuery(self._requests, query, self._query, self._now(), count=count)

    async def scan(self, entity: Entity, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        codec = self._requests.codec(entity)
        request, decoder = self._requests.scan(entity, attributes, self._now()), codec.decoder(attributes)
        async for answer in answers(self._direct.scan, request):
            for some in in_pieces(answer["Items"]):
                for item in decoder.decode(some):
                    yield item
                await give_way()

    def changes(self) -> AsyncGenerator[None, None]:
        return changes(list(self._requests.tables.values()), self._connection, self._retry_policy)

    async def ping(self) -> None:
        work = [partial(self._ping, design, table) for design, table in self._requests.tables.items()]
        async with aclosing(in_order(work, PARTITIONS_AT_ONCE)) as answered:
            async for _ in answered:
                pass

    async def _ping(self, design: TableDesign, table: str) -> None:
        key = {each.name: ANYWHERE[each.type] for each in (design.partition_key, design.sort_key)}
        try:
            with translating_errors(table):
                await self._direct.get_item(TableName=table, Key=key, ConsistentRead=True)
        except InvalidItem as error:
            raise DatabaseUnavailable(f"table {table} {UNLIKE} ({error})") from error

    async def _query(self, **request: Any) -> Any:
        """Send one query. Their number in the process is bounded, and callers have fair shares."""
        caller = await slot_of(self._slots)
        try:
            return await self._direct.query(**request)
        finally:
            self._slots.release(caller)

    async def _in_batches(self, whole: list[T], size: int, send: Callable[[list[T]], Awaitable[list[T]]]) -> None:
        """Send everything in batches; `send` returns the unprocessed part of its batch."""

        async def finish(batch: list[T]) -> None:
            async def once() -> list[T]:
                left = await send(batch)
                if len(left) == len(batch):
                    raise TryAgain(f"{subject(*self._requests.tables.values())} {OVERLOAD}")
                return left

            # If a part was processed, the rest is sent without a pause.
            while batch:
                batch = await self._retry_policy.persist(once)

        work = [partial(finish, whole[at : at + size]) for at in range(0, len(whole), size)]
        async for _ in in_order(work, BATCHES_AT_ONCE):
            pass

    def _encoded(self, put: Put) -> tuple[str, EncodedItem]:
        return self._requests.table(put.entity), self._requests.codec(put.entity).encode(put.item)

    def _read(self, key: Key, found: Any, attributes: Collection[str] | None) -> Item | None:
        """An item that was read by its key, unless it has expired, is broken, or has the name of another entity."""
        if self._requests.is_expired(key.entity, found, self._now()) or not self._requests.is_marked(key.entity, found):
            return None
        items = self._requests.codec(key.entity).decoder(attributes).decode([found])
        return items[0] if items else None

    def _place(self, design: TableDesign, encoded: Any) -> tuple[str, Any, Any]:
        """A table's name and a primary key in it, for comparison."""
        partition, sort = encoded[design.partition_key.name], encoded[design.sort_key.name]
        return self._requests.tables[design], decode(partition), decode(sort)

    def _now(self) -> int:
        return self._clock() // 1000
