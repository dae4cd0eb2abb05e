"""Reading the open shards of a table's stream, from now on and for as long as the table is open.

What is read is only whether records came: whoever is told looks into the table. So nothing hangs
on where a reading begins, as long as a ring follows it: a shard that is new here, whether the first
of all or the child of one that was closed, is read from its latest record on, and a round that
listed the shards says that there may be changes. After whatever loses the place (an iterator lives
for 15 minutes), a new `Shards` does.

Source: "Change data capture for DynamoDB Streams" of the Developer Guide, and the API Reference of
Amazon DynamoDB Streams.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any

from graph.store.dynamodb.client import Streams
from graph.store.dynamodb.window import in_order

SHARDS_AT_ONCE = 8
ROUNDS_A_LISTING = 40
ROUNDS_A_LISTING_OF_CHILDREN = 4  # where a closed shard's are missing: DescribeStream may lag behind
READABLE = frozenset({"ENABLED", "ENABLING"})


class NoStream(Exception):
    """The table has none, or one that is switched off."""


class Shards:
    """The open shards of one stream, and how far each has been read."""

    def __init__(self, client: Streams, arn: str) -> None:
        self._client = client
        self._arn = arn
        self._iterators: dict[str, str] = {}  # of the shards that are read, by their ids
        self._ended: set[str] = set()  # shards that were read to their end, or closed before
        self._rounds_to_listing = 0

    async def read(self) -> bool:
        """Read each shard once: whether the table may have changed since the last time.

        Raises:
            NoStream: The stream is switched off.
        """
        listing = self._rounds_to_listing <= 0
        if listing:
            await self._list()
        self._rounds_to_listing -= 1
        work = [partial(self._read, shard) for shard in self._iterators]
        async with aclosing(in_order(work, SHARDS_AT_ONCE)) as readings:
            return any([came async for came in readings]) or listing

    async def _list(self) -> None:
        shards = [shard async for shard in self._described()]
        listed = {shard["ShardId"] for shard in shards}
        self._ended &= listed  # a shard is gone a day after its last record
        self._ended |= {shard["ShardId"] for shard in shards if "EndingSequenceNumber" in shard["SequenceNumberRange"]}
        for shard_id in self._iterators.keys() - (listed - self._ended):
            del self._iterators[shard_id]
        for shard_id in sorted(listed - self._ended - self._iterators.keys()):
            self._iterators[shard_id] = await self._latest(shard_id)
        childless = self._ended - {shard.get("ParentShardId") for shard in shards}
        self._rounds_to_listing = ROUNDS_A_LISTING_OF_CHILDREN if childless else ROUNDS_A_LISTING

    async def _described(self) -> AsyncIterator[Any]:
        """The shards that the stream tells of, closed ones too."""
        start: dict[str, str] = {}
        while True:
            answer = await self._client.describe_stream(StreamArn=self._arn, **start)
            stream = answer["StreamDescription"]
            if stream["StreamStatus"] not in READABLE:
                raise NoStream
            for shard in stream["Shards"]:
                yield shard
            if not (last := stream.get("LastEvaluatedShardId")):
                return
            start = {"ExclusiveStartShardId": last}

    async def _latest(self, shard_id: str) -> str:
        answer = await self._client.get_shard_iterator(
            StreamArn=self._arn, ShardId=shard_id, ShardIteratorType="LATEST"
        )
        return str(answer["ShardIterator"])

    async def _read(self, shard_id: str) -> bool:
        answer = await self._client.get_records(ShardIterator=self._iterators[shard_id])
        if following := answer.get("NextShardIterator"):
            self._iterators[shard_id] = following
        else:
            del self._iterators[shard_id]
            self._ended.add(shard_id)
            self._rounds_to_listing = 0  # for its children
        return bool(answer["Records"])
