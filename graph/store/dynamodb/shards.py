"""Reads the open shards of a table's stream, from now on, while the table is open.

It only finds out whether there are new records: the subscriber of a notification reads the table. So a
reading may begin anywhere, if a notification follows. A new shard, the first one or the child of a
closed one, is read from its latest record on, and a round that lists the shards reports that there may
be changes. If the place is lost (an iterator lives for 15 minutes), a new `Shards` begins again.

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
ROUNDS_PER_LISTING = 40
ROUNDS_PER_LISTING_OF_CHILDREN = 4  # while a closed shard's children are missing: DescribeStream may lag behind
READABLE = frozenset({"ENABLED", "ENABLING"})


class NoStream(Exception):
    """The table has no stream, or its stream is switched off."""


class Shards:
    """The open shards of one stream, and the place up to which each has been read."""

    def __init__(self, client: Streams, arn: str) -> None:
        self._client = client
        self._arn = arn
        self._iterators: dict[str, str] = {}  # of the open shards, by their ids
        self._ended: set[str] = set()  # shards that were read to their end, or closed earlier
        self._rounds_to_listing = 0

    async def read(self) -> bool:
        """Read each shard once. Returns whether the table may have changed since the last time.

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
        self._ended &= listed  # a shard disappears a day after its last record
        self._ended |= {shard["ShardId"] for shard in shards if "EndingSequenceNumber" in shard["SequenceNumberRange"]}
        for shard_id in self._iterators.keys() - (listed - self._ended):
            del self._iterators[shard_id]
        for shard_id in sorted(listed - self._ended - self._iterators.keys()):
            self._iterators[shard_id] = await self._latest(shard_id)
        childless = self._ended - {shard.get("ParentShardId") for shard in shards}
        self._rounds_to_listing = ROUNDS_PER_LISTING_OF_CHILDREN if childless else ROUNDS_PER_LISTING

    async def _described(self) -> AsyncIterator[Any]:
        """The shards of the stream, including closed ones."""
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
            self._rounds_to_listing = 0  # to find its children
        return bool(answer["Records"])
