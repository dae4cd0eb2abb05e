"""Reads the shards of a table's stream, while the table is open.

`Shards` only finds out whether there are new records: the subscriber of a notification reads the table. So a
reading may begin anywhere, if a notification follows. A new shard, the first one or the child of a
closed one, is read from its latest record on, and a round that lists the shards reports that there may
be changes. If the place is lost (an iterator lives for 15 minutes), a new `Shards` begins again.

`KeptShards` reads every record: from the places up to which earlier readers came, or from the stream's horizon,
24 hours ago. A shard is read after its parent, so the records of an item come in their order.

Source: "Change data capture for DynamoDB Streams" of the Developer Guide, and the API Reference of
Amazon DynamoDB Streams.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from graph.observability.logs import get_logger
from graph.store.dynamodb.client import Connected, Streams
from graph.store.dynamodb.errors import REFUSED, STREAMLESS, UNKNOWN, advice_on, code_of
from graph.store.dynamodb.window import in_order

SHARDS_AT_ONCE = 8
RECORDS_AT_ONCE = 300  # kept ones, which are parsed in few milliseconds
ROUNDS_PER_LISTING = 40
ROUNDS_PER_LISTING_OF_CHILDREN = 4  # while a closed shard's children are missing: DescribeStream may lag behind
READABLE = frozenset({"ENABLED", "ENABLING"})
EXPIRED = "ExpiredIteratorException"
TRIMMED = "TrimmedDataAccessException"
HORIZON, END = "", "END"
"""Places before the first record of a shard and after its last one. Any other is a record's sequence number."""


logger = get_logger(__name__)


class NoStream(Exception):
    """The table has no stream, or its stream is switched off."""


async def stream_of(table: str, connection: Connected) -> str:
    """The ARN of a table's present stream. Raises NoStream without one."""
    described = (await connection.client.describe_table(TableName=table))["Table"]
    if not described.get("StreamSpecification", {}).get("StreamEnabled"):
        raise NoStream
    return described["LatestStreamArn"]


def warn_once(effect: str, table: str, error: Exception, warned: set[str]) -> str:
    """Log that a table's stream cannot be read, once for each reason. Returns the reason, see `errors`."""
    advice = STREAMLESS if isinstance(error, NoStream) else advice_on(error) or REFUSED
    cause = f"the stream of table {table} cannot be read: it {advice}"
    if cause not in warned:
        warned.add(cause)
        reason = f" ({type(error).__name__}: {error})" if str(error) else ""
        logger.warning(effect, cause=f"{cause}{reason}", exc_info=advice == UNKNOWN)
    return advice


class Shards:
    """The open shards of one stream, and the place up to which each has been read."""

    _limit: Mapping[str, int] = {}

    def __init__(self, client: Streams, arn: str) -> None:
        self._client = client
        self._arn = arn
        self._iterators: dict[str, str] = {}  # of the shards that are read, by their ids
        self._ended: set[str] = set()  # shards that were read to their end, or need not be read
        self._rounds_to_listing = 0

    async def read(self) -> bool:
        """Read each shard once. Returns whether the table may have changed since the last time.

        Raises:
            NoStream: The stream is switched off.
        """
        listing = self._rounds_to_listing <= 0
        async with aclosing(self.records()) as answers:
            return any([bool(records) async for records in answers]) or listing

    async def records(self) -> AsyncGenerator[Sequence[Any], None]:
        """Read each shard once. Yields the new records of each. A place moves on when they are yielded.

        Raises:
            NoStream: The stream is switched off.
        """
        if self._rounds_to_listing <= 0:
            await self._list()
        self._rounds_to_listing -= 1
        work = [partial(self._read, shard) for shard in self._iterators]
        async with aclosing(in_order(work, SHARDS_AT_ONCE)) as readings:
            async for shard_id, answer in readings:
                records = answer["Records"]  # a malformed answer ends the reading, and not a shard
                self._move_on(shard_id, answer)
                yield records

    async def _list(self) -> None:
        shards = {shard["ShardId"]: shard async for shard in self._described()}
        parents = {shard_id: shard.get("ParentShardId") for shard_id, shard in shards.items()}
        self._ended &= shards.keys()  # a shard disappears a day after its last record
        self._ended |= self._unneeded(shards, parents)
        for shard_id in self._iterators.keys() - (shards.keys() - self._ended):
            del self._iterators[shard_id]
        for shard_id in sorted(shards.keys() - self._ended - self._iterators.keys()):
            if self._may_begin(parents[shard_id], parents):
                self._iterators[shard_id] = await self._iterator(shard_id)
        childless = self._ended - set(parents.values())
        self._rounds_to_listing = ROUNDS_PER_LISTING_OF_CHILDREN if childless else ROUNDS_PER_LISTING

    def _unneeded(self, shards: Mapping[str, Any], parents: Mapping[str, str | None]) -> set[str]:
        """The shards that need not be read."""
        return {name for name, shard in shards.items() if "EndingSequenceNumber" in shard["SequenceNumberRange"]}

    def _may_begin(self, parent: str | None, parents: Mapping[str, str | None]) -> bool:
        """Whether a shard with this parent may be read now."""
        return True

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

    async def _iterator(self, shard_id: str) -> str:
        """An iterator from the place on at which the reading of a shard begins."""
        return await self._iterator_of(shard_id, ShardIteratorType="LATEST")

    async def _iterator_of(self, shard_id: str, **place: str) -> str:
        answer = await self._client.get_shard_iterator(StreamArn=self._arn, ShardId=shard_id, **place)
        return str(answer["ShardIterator"])

    async def _read(self, shard_id: str) -> tuple[str, Any]:
        return shard_id, await self._client.get_records(ShardIterator=self._iterators[shard_id], **self._limit)

    def _move_on(self, shard_id: str, answer: Any) -> None:
        if following := answer.get("NextShardIterator"):
            self._iterators[shard_id] = following
        else:
            del self._iterators[shard_id]
            self._ended.add(shard_id)
            self._rounds_to_listing = 0  # to find its children


class KeptShards(Shards):
    """All shards of one stream, each read from a place that was kept, or from the horizon on.

    The ancestors of a shard that has a place have been read, so they need none.
    """

    _limit: Mapping[str, int] = {"Limit": RECORDS_AT_ONCE}

    def __init__(self, client: Streams, arn: str, places: Mapping[str, str] | None = None) -> None:
        """Go on at the places of all shards that are being read; None for the horizon of the whole stream."""
        super().__init__(client, arn)
        self.places = dict(places or {})
        self.has_gap = places is None  # whether records before those that follow may be missing
        self._ended |= {shard_id for shard_id, place in self.places.items() if place == END}

    def position(self) -> dict[str, Any]:
        """The stream, and the places in it."""
        return {"stream": self._arn, "shards": dict(self.places)}

    def take_gap(self) -> bool:
        """Whether records may be missing, once for each time that some were lost."""
        found, self.has_gap = self.has_gap, False
        return found

    def _unneeded(self, shards: Mapping[str, Any], parents: Mapping[str, str | None]) -> set[str]:
        read = set[str]()
        for shard_id in self.places.keys() & parents.keys():
            parent = parents[shard_id]
            while parent is not None and parent in parents and parent not in read:
                read.add(parent)
                parent = parents[parent]
        gone = self.places.keys() - parents.keys()  # they and their children disappeared unread
        self.has_gap = self.has_gap or bool(gone)
        self.places = {shard_id: place for shard_id, place in self.places.items() if shard_id not in gone | read}
        return read

    def _may_begin(self, parent: str | None, parents: Mapping[str, str | None]) -> bool:
        return parent not in parents or parent in self._ended

    async def _iterator(self, shard_id: str) -> str:
        place = self.places.setdefault(shard_id, HORIZON)
        if place != HORIZON:
            try:
                return await self._iterator_of(
                    shard_id, ShardIteratorType="AFTER_SEQUENCE_NUMBER", SequenceNumber=place
                )
            except ClientError as error:
                if code_of(error) != TRIMMED:
                    raise
                self._lose(shard_id)
        return await self._iterator_of(shard_id, ShardIteratorType="TRIM_HORIZON")

    async def _read(self, shard_id: str) -> tuple[str, Any]:
        try:
            return await super()._read(shard_id)
        except ClientError as error:
            if code_of(error) not in (EXPIRED, TRIMMED):
                raise
            if code_of(error) == TRIMMED:
                self._lose(shard_id)
            return shard_id, {"Records": (), "NextShardIterator": await self._iterator(shard_id)}

    def _lose(self, shard_id: str) -> None:
        """Go on at the horizon, since the place lies before it."""
        self.places[shard_id] = HORIZON
        self.has_gap = True

    def _move_on(self, shard_id: str, answer: Any) -> None:
        super()._move_on(shard_id, answer)
        if shard_id in self._ended:
            self.places[shard_id] = END
        elif records := answer["Records"]:
            self.places[shard_id] = records[-1]["dynamodb"]["SequenceNumber"]
