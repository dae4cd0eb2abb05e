"""What is there of a table: its description by DynamoDB, KMS, Application Auto Scaling and CloudWatch.

An endpoint that is not AWS's may lack any of it. What it does not offer is None.
"""

from collections.abc import AsyncIterator, Awaitable, Mapping, Set
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from aiobotocore.httpsession import AIOHTTPSession
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from graph.store.configuration import AWS_KEY, CUSTOMER_KEY
from graph.store.design import TAGS, TableDesign
from graph.store.dynamodb.client import plain_session
from graph.store.dynamodb.declaration import key_alias
from graph.store.dynamodb.errors import code_of
from graph.store.dynamodb.retry_policy import RetryPolicy

T = TypeVar("T")

NOT_OFFERED = frozenset(
    {"UnknownOperationException", "UnsupportedOperationException", "NotImplemented", "InvalidAction", "UnknownAction"}
)
NOT_IMPLEMENTED = 501
ALIAS_OF_AWS = "alias/aws/dynamodb"
AWS = (".amazonaws.com", ".amazonaws.com.cn")


@dataclass(frozen=True, slots=True)
class Clients:
    """A client of each service that has a part in a table's configuration; None if the endpoint offers only tables."""

    dynamodb: Any
    kms: Any
    scaling: Any
    alarms: Any


@asynccontextmanager
async def clients(dynamodb: Any, retry_policy: RetryPolicy) -> AsyncIterator[Clients]:
    """Open clients of the other services, where the tables are: an emulator's table has nothing to do with AWS's."""
    session = plain_session()
    limits = retry_policy.config(AIOHTTPSession)
    async with AsyncExitStack() as stack:
        others = [
            await stack.enter_async_context(session.create_client(name, config=limits))
            for name in ("kms", "application-autoscaling", "cloudwatch")
        ]
        yield Clients(dynamodb, *(each if is_of_aws(each) == is_of_aws(dynamodb) else None for each in others))


def is_of_aws(client: Any) -> bool:
    """Whether a client's endpoint is AWS's."""
    return str(client.meta.endpoint_url).endswith(AWS)


async def offered(answer: Awaitable[T]) -> T | None:
    """The answer of a service; None if the endpoint does not offer the operation."""
    try:
        return await answer
    except ResponseParserError:  # of an emulator that speaks another protocol
        return None
    except ClientError as error:
        if code_of(error) in NOT_OFFERED or error.response["ResponseMetadata"]["HTTPStatusCode"] == NOT_IMPLEMENTED:
            return None
        raise


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that encrypts a table, and the one that should: ARNs, None for the key that AWS owns or one to make."""

    found: str | None
    wanted: str | None
    is_of_aws: bool  # whether AWS manages the one that was found
    rotates: bool


@dataclass(frozen=True, slots=True)
class Description:
    """A table as it is."""

    table: Any  # of `DescribeTable`
    expiry: str | None  # the attribute by which items expire
    recovery: bool | None
    tags: Mapping[str, str] | None
    keys: Keys | None
    scaling: Mapping[tuple[str, str], tuple[int, int]] | None  # least and most, by resource and dimension
    alarms: Set[str] | None  # their names

    @property
    def is_ours(self) -> bool:
        """Whether it was made as designed, and not by another program. Without tags, nobody knows."""
        return self.tags is None or dict(TAGS).items() <= self.tags.items()

    @property
    def indexes(self) -> Mapping[str, Any]:
        """The indexes by their names, the local ones too: they can be queried in the same way."""
        every = (*self.table.get("GlobalSecondaryIndexes", ()), *self.table.get("LocalSecondaryIndexes", ()))
        return {index["IndexName"]: index for index in every}

    @property
    def key_types(self) -> Mapping[str, str]:
        """The types of all keys by their names."""
        return {each["AttributeName"]: each["AttributeType"] for each in self.table["AttributeDefinitions"]}

    @property
    def stream(self) -> str | None:
        """The type of the stream; None without one."""
        found = self.table.get("StreamSpecification", {})
        return str(found["StreamViewType"]) if found.get("StreamEnabled") else None


def is_provisioned(table: Any) -> bool:
    """Whether a table is billed by capacity. DynamoDB leaves out the mode of one that never had another."""
    return bool(table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED") == "PROVISIONED")


async def describe(services: Clients, design: TableDesign, name: str) -> Description | None:
    """A table as it is; None if there is none."""
    client = services.dynamodb
    try:
        table = (await client.describe_table(TableName=name))["Table"]
    except client.exceptions.ResourceNotFoundException:
        return None
    expiry = (await offered(client.describe_time_to_live(TableName=name)) or {}).get("TimeToLiveDescription", {})
    backups = await offered(client.describe_continuous_backups(TableName=name))
    recovery = None
    if backups:
        point = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        recovery = point.get("PointInTimeRecoveryStatus") == "ENABLED"
    tags = await offered(client.list_tags_of_resource(ResourceArn=table["TableArn"]))
    key = table.get("SSEDescription", {}).get("KMSMasterKeyArn")
    return Description(
        table,
        expiry["AttributeName"] if expiry.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"} else None,
        recovery,
        {tag["Key"]: tag["Value"] for tag in tags["Tags"]} if tags else None,
        await offered(_keys(services, design, name, key)) if services.kms and (key or is_of_aws(client)) else None,
        await offered(_scaling(services, design, name)) if services.scaling and is_provisioned(table) else None,
        await offered(_alarms(services, name)) if services.alarms and design.alarms else None,
    )


async def key_arn(services: Clients, key: str) -> str | None:
    """The ARN of a key in KMS by its alias, id or ARN; None if there is none."""
    try:
        return str((await services.kms.describe_key(KeyId=key))["KeyMetadata"]["Arn"])
    except services.kms.exceptions.NotFoundException:
        return None


def key_of(design: TableDesign, name: str) -> str:
    """The alias or ARN of the key that a design wants."""
    return {AWS_KEY: ALIAS_OF_AWS, CUSTOMER_KEY: key_alias(name)}.get(design.encryption, design.encryption)


async def _keys(services: Clients, design: TableDesign, name: str, found: str | None) -> Keys:
    of_aws, wanted = [await key_arn(services, key) for key in (ALIAS_OF_AWS, key_of(design, name))]
    is_of_aws = found in {None, of_aws}
    if is_of_aws or found != wanted:
        return Keys(found, wanted, is_of_aws, rotates=True)
    rotation = await services.kms.get_key_rotation_status(KeyId=found)
    return Keys(found, wanted, is_of_aws, rotation["KeyRotationEnabled"])


async def _scaling(services: Clients, design: TableDesign, name: str) -> Mapping[tuple[str, str], tuple[int, int]]:
    places = [f"table/{name}", *(f"table/{name}/index/{index.name}" for index in design.indexes)]
    found = await services.scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=places)
    return {
        (target["ResourceId"], target["ScalableDimension"]): (target["MinCapacity"], target["MaxCapacity"])
        for target in found["ScalableTargets"]
    }


async def _alarms(services: Clients, name: str) -> Set[str]:
    pages = services.alarms.get_paginator("describe_alarms").paginate(AlarmNamePrefix=f"{name}-")
    return {alarm["AlarmName"] async for page in pages for alarm in page["MetricAlarms"]}
