"""Finds what other programs write into a table: by its stream, and by a scan."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import Any

from graph.core.clock import Clock
from graph.store.conditions import Condition, names_in, predicate
from graph.store.contract import Found, OtherWriters
from graph.store.dynamodb.client import Connected, Streams, open_streams
from graph.store.dynamodb.codec import NULL, EncodedItem, decode
from graph.store.dynamodb.errors import translating_errors
from graph.store.dynamodb.pages import answers
from graph.store.dynamodb.requests import Requests
from graph.store.dynamodb.retry_policy import RetryPolicy
from graph.store.dynamodb.shards import RECORDS_AT_ONCE, KeptShards, NoStream, stream_of, warn_once
from graph.store.entity import Entity, Item, Key
from graph.work.account import give_way

ROUND_S = 1.0  # between two reads of a shard: AWS allows five a second by all readers, of which notifications are four
BUSY_ROUND_S = 0.25  # after a read that brought many records
MANY = RECORDS_AT_ONCE // 2  # records
LONGEST_PAUSE_S = 10.0  # after several failures in a row
MOST_FAILURES = 30  # in a row; about four minutes
PART_OF_CAPACITY = 0.25  # of a table with provisioned capacity, for a scan
UNITS_PER_S = 100.0  # read units for a scan of any other table: 800 KB a second
ITEMS_PER_PAGE = 1000  # of a scan; an answer ends earlier by its 1 MB


class DynamoOtherWriters(OtherWriters):
    """Reads the streams and the tables of an open database."""

    def __init__(self, connection: Connected, requests: Requests, clock: Clock, retry_policy: RetryPolicy) -> None:
        self._connection = connection
        self._requests = requests
        self._clock = clock
        self._retry_policy = retry_policy
        self._warned = set[str]()

    async def written(
        self, conditions: Mapping[Entity, Condition], position: Item | None
    ) -> AsyncGenerator[Found, None]:
        table, wanted = self._table(conditions), _Wanted(self._requests, conditions)
        shards: KeptShards | None = None
        failures = 0
        async with AsyncExitStack() as stack:
            client: Streams | None = None
            while failures < MOST_FAILURES:
                pause_s = ROUND_S
                try:
                    client = client or await stack.enter_async_context(
                        open_streams(self._connection, self._retry_policy)
                    )
                    shards = shards or await self._shards(client, table, position)
                    async with aclosing(shards.records()) as answers:
                        async for records in answers:
                            pause_s = BUSY_ROUND_S if len(records) >= MANY else pause_s
                            if records:
                                written_at = int(records[-1]["dynamodb"]["ApproximateCreationDateTime"] * 1000)
                                yield Found(wanted.written(records), shards.position, written_at, shards.take_gap())
                            await give_way()
                    yield Found((), shards.position, is_gap=shards.take_gap())
                    failures = 0
                except Exception as error:
                    warn_once("Items of other programs are adopted later than usual", table, error, self._warned)
                    if isinstance(error, NoStream):
                        return
                    failures += 1
                    if shards and not shards.has_gap:  # a gap is found again
                        position = shards.position()
                    shards = None
                    pause_s = min(failures * ROUND_S, LONGEST_PAUSE_S)
                await self._retry_policy.sleep(pause_s)

    async def _shards(self, client: Streams, table: str, position: Item | None) -> KeptShards:
        """The shards of the table's present stream. A position in an earlier stream is none."""
        arn = await stream_of(table, self._connection)
        known = position is not None and position.get("stream") == arn
        return KeptShards(client, arn, position["shards"] if position and known else None)

    async def stored(
        self, conditions: Mapping[Entity, Condition], position: Item | None
    ) -> AsyncGenerator[Found, None]:
        table, wanted = self._table(conditions), _Wanted(self._requests, conditions)
        with translating_errors(table):
            units_per_s = _units_per_s((await self._connection.client.describe_table(TableName=table))["Table"])
        request = self._requests.search(conditions, self._clock() // 1000) | {"Limit": ITEMS_PER_PAGE}
        if position:
            request["ExclusiveStartKey"] = position
        async with aclosing(answers(self._connection.direct.scan, request)) as scanned:
            async for answer in scanned:
                last = answer.get("LastEvaluatedKey")
                yield Found(wanted.stored(answer["Items"]), partial(dict, last or {}))
                if last:
                    units = answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
                    await self._retry_policy.sleep(units / units_per_s)

    def _table(self, conditions: Mapping[Entity, Condition]) -> str:
        (table,) = {self._requests.table(entity) for entity in conditions}
        return table


class _Wanted:
    """Which items of a table fulfil their entity's condition."""

    def __init__(self, requests: Requests, conditions: Mapping[Entity, Condition]) -> None:
        codecs = [(requests.codec(entity), condition) for entity, condition in conditions.items()]
        stored = [(codec, codec.condition(condition)) for codec, condition in codecs]
        self._tests = [(codec, names_in(condition), predicate(condition)) for codec, condition in stored]

    def written(self, records: Iterable[Any]) -> list[Key]:
        """The keys of items that fulfilled it when a stream's records were made.

        Streams of some view types have no images. Then each item might.
        """
        changes = [record["dynamodb"] for record in records if record["eventName"] != "REMOVE"]
        keys = [self._key(each.get("NewImage", each["Keys"]), is_whole="NewImage" in each) for each in changes]
        return [key for key in keys if key]

    def stored(self, items: Iterable[EncodedItem]) -> list[Key]:
        """The keys of items that fulfil it."""
        return [key for item in items if (key := self._key(item))]

    def _key(self, item: EncodedItem, *, is_whole: bool = True) -> Key | None:
        for codec, names, holds in self._tests:
            there = [name for name in names if name in item and not (name in codec.nullable and item[name] == NULL)]
            is_wanted = not is_whole or holds({name: decode(item[name]) for name in there})
            if is_wanted and (key := codec.key_of(item)):
                return key
        return None


def _units_per_s(table: Any) -> float:
    """The read units that a scan may use of a table."""
    provisioned = table.get("ProvisionedThroughput", {}).get("ReadCapacityUnits", 0)
    return provisioned * PART_OF_CAPACITY or UNITS_PER_S
