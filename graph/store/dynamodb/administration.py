"""Creates declared tables, or updates existing ones to their declarations.

Every step first checks the present state, so all steps can be run again at any time, also after a
failure. A feature that an emulator does not offer is left out and reported.
"""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from graph.core.errors import DatabaseUnavailable
from graph.store.design import TableDesign, table_name
from graph.store.dynamodb.client import connected
from graph.store.dynamodb.declaration import STREAM_VIEW_TYPE, attribute_definitions, global_secondary_index, key_schema
from graph.store.dynamodb.errors import CHANGING, code_of, translating_errors
from graph.store.dynamodb.retry_policy import RETRY_POLICY, RetryPolicy
from graph.store.entity import Entity

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient

ANSWER_SECONDS = 60.0  # a change of a table takes longer than a request for items
POLL_SECONDS = 1.0
ACTIVE_TIMEOUT_SECONDS = 3600.0  # a new index is first filled from the whole table
NOT_OFFERED = frozenset({"UnknownOperationException", "UnsupportedOperationException", "NotImplemented"})

IN_USE = "ResourceInUseException"
INVALID = "ValidationException"  # ScyllaDB's answer if its cluster does not offer streams


async def create_tables(
    entities: Iterable[Entity],
    *,
    prefix: str = "",
    environment: str = "dev",
    stream: bool = True,
    retry_policy: RetryPolicy = RETRY_POLICY,
) -> list[str]:
    """Create the entities' missing tables, and switch on their expiry, streams and safeguards.

    Args:
        prefix: the prefix of each table's name.
        environment: the value of `{env}` in the names.
        stream: whether to switch on the streams. Without them, the service polls for changes once a second.

    Returns:
        A sentence for each thing that was done or existed already.

    Raises:
        DatabaseUnavailable: A table cannot be created, or exists with other keys.
    """
    names = {entity.table: table_name(entity.table, prefix=prefix, environment=environment) for entity in entities}
    retry_policy = replace(retry_policy, read_seconds=max(retry_policy.read_seconds, ANSWER_SECONDS))
    done: list[str] = []
    async with connected(names.values(), retry_policy) as connection:
        for design, name in names.items():
            with translating_errors(name):
                administration = _Administration(connection.client, name, design, stream, retry_policy)
                done += [line async for line in administration.steps()]
    return done


@dataclass(frozen=True, slots=True)
class _Administration:
    client: "DynamoDBClient"
    name: str
    design: TableDesign
    stream: bool
    retry_policy: RetryPolicy

    async def steps(self) -> AsyncIterator[str]:
        yield await self._table()
        for index in self.design.indexes:
            yield await self._index(global_secondary_index(index))
        if self.design.ttl is not None:
            yield await self._expiry(self.design.ttl)
        if self.stream:
            yield await self._stream()
        yield await self._deletion_protection()
        yield await self._point_in_time_recovery()

    async def _table(self) -> str:
        try:
            found = await self._described()
        except self.client.exceptions.ResourceNotFoundException:
            await self._create()
            await self._until_active()
            return f"Table {self.name} was created, billed by request."
        self._agree("", found["KeySchema"], self._keys())
        return f"Table {self.name} exists."

    async def _create(self) -> None:
        indexes: Any = [global_secondary_index(index) for index in self.design.indexes]
        try:
            await self.client.create_table(
                TableName=self.name,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=self._definitions(),
                KeySchema=self._keys(),
                SSESpecification={"Enabled": True},
                **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
            )
        except ClientError as error:
            if code_of(error) != IN_USE:  # the answer to this request was lost, or another process was faster
                raise

    async def _index(self, wanted: Any) -> str:
        name = wanted["IndexName"]
        for found in (await self._described()).get("GlobalSecondaryIndexes", ()):
            if found["IndexName"] == name:
                self._agree(f" of its index {name}", found["KeySchema"], wanted["KeySchema"])
                return f"Index {name} exists."
        await self.client.update_table(
            TableName=self.name,
            AttributeDefinitions=self._definitions(),
            GlobalSecondaryIndexUpdates=[{"Create": wanted}],
        )
        await self._until_active()
        return f"Index {name} was created."

    async def _expiry(self, ttl: str) -> str:
        described = await self.client.describe_time_to_live(TableName=self.name)
        found = described["TimeToLiveDescription"]
        if found["TimeToLiveStatus"] in {"ENABLED", "ENABLING"}:
            self._agree(" of the expiry", found["AttributeName"], ttl)
            return f"Items expire by `{ttl}` already."
        await self.client.update_time_to_live(
            TableName=self.name, TimeToLiveSpecification={"AttributeName": ttl, "Enabled": True}
        )
        return f"Items now expire by `{ttl}`."

    async def _stream(self) -> str:
        if found := _stream_of(await self._described()):
            return f"The stream of changes is on already ({found})."
        try:
            await self.client.update_table(
                TableName=self.name, StreamSpecification={"StreamEnabled": True, "StreamViewType": STREAM_VIEW_TYPE}
            )
        except ClientError as error:
            if code_of(error) in NOT_OFFERED | {INVALID}:
                return f"The stream of changes was left out: this endpoint does not offer it ({error})."
            raise
        if found := _stream_of(await self._until_active()):
            return f"The stream of changes is now on ({found})."
        return "The stream of changes was left out: this endpoint does not offer it."

    async def _deletion_protection(self) -> str:
        if (await self._described()).get("DeletionProtectionEnabled"):
            return "Deletion protection is on already."
        await self.client.update_table(TableName=self.name, DeletionProtectionEnabled=True)
        if (await self._until_active()).get("DeletionProtectionEnabled"):
            return "Deletion protection is now on."
        return "Deletion protection was left out: this endpoint does not offer it."

    async def _point_in_time_recovery(self) -> str:
        try:
            described = await self.client.describe_continuous_backups(TableName=self.name)
            found = described["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
            if found.get("PointInTimeRecoveryStatus") == "ENABLED":
                return "Point-in-time recovery is on already."
            await self.client.update_continuous_backups(
                TableName=self.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
            )
        except ClientError as error:
            if code_of(error) in NOT_OFFERED:
                return "Point-in-time recovery was left out: this endpoint does not offer it."
            raise
        return "Point-in-time recovery is now on."

    def _definitions(self) -> Any:
        return attribute_definitions(self.design)

    def _keys(self) -> Any:
        return key_schema(self.design.primary)

    def _agree(self, where: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            raise DatabaseUnavailable(f"table {self.name} exists, but the keys{where} are {found}, not {wanted}")

    async def _described(self) -> Any:
        return (await self.client.describe_table(TableName=self.name))["Table"]

    async def _until_active(self) -> Any:
        polling = AsyncRetrying(
            retry=retry_if_result(lambda table: not _active(table)),
            wait=wait_fixed(POLL_SECONDS),
            stop=stop_after_delay(ACTIVE_TIMEOUT_SECONDS),
            sleep=self.retry_policy.sleep,
        )
        try:
            return await polling(self._described)
        except RetryError as error:
            raise DatabaseUnavailable(f"table {self.name} {CHANGING}") from error


def _stream_of(table: Any) -> str | None:
    """The stream's view type; None without a stream."""
    found = table.get("StreamSpecification", {})
    return str(found["StreamViewType"]) if found.get("StreamEnabled") else None


def _active(table: Any) -> bool:
    indexes = table.get("GlobalSecondaryIndexes", ())
    return table["TableStatus"] == "ACTIVE" and all(index["IndexStatus"] == "ACTIVE" for index in indexes)
