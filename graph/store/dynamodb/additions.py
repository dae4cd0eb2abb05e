"""Creates a table, and adds what an existing one lacks."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from botocore.exceptions import ClientError

from graph.core.errors import DatabaseUnavailable
from graph.store.configuration import AWS_KEY, CUSTOMER_KEY, Provisioned
from graph.store.design import Index, TableDesign
from graph.store.dynamodb.alarms import alarms
from graph.store.dynamodb.declaration import (
    STREAM_VIEW_TYPE,
    Json,
    attribute_definitions,
    global_secondary_index,
    key_description,
    scaling,
    table_properties,
    tags,
)
from graph.store.dynamodb.description import (
    NOT_OFFERED,
    Clients,
    Description,
    describe,
    is_provisioned,
    key_arn,
    key_of,
    offered,
)
from graph.store.dynamodb.differences import Difference, Feature
from graph.store.dynamodb.errors import CONFIGURATION, code_of

LEFT_OUT = "was left out: this endpoint does not offer it"
POLL_SECONDS = 1.0
UNSEEN_SECONDS = 30.0
BACKUP_ATTEMPTS = 60
PASSING = frozenset({"CREATING", "UPDATING", "DELETING"})  # states that end by themselves

BACKUPS_UNAVAILABLE = "ContinuousBackupsUnavailableException"
IN_USE = "ResourceInUseException"
INVALID = "ValidationException"  # of ScyllaDB without streams, and of DynamoDB if another process was faster


@dataclass(frozen=True, slots=True)
class Additions:
    """What can be added to one table."""

    services: Clients
    design: TableDesign
    name: str
    progress: Callable[[str], None]
    sleep: Callable[[float], Awaitable[None]]

    async def described(self) -> Description | None:
        """The table as it is; None if there is none."""
        return await describe(self.services, self.design, self.name)

    async def create_table(self) -> Description:
        """Create the table with its indexes, billing, encryption and tags. Returns it as it then is."""
        encryption: Json = {"Enabled": True}
        if self.design.encryption != AWS_KEY and self.services.kms and (key := await offered(self._key())):
            encryption |= {"SSEType": "KMS", "KMSMasterKeyId": key}
        properties = table_properties(self.design, self.name)
        try:
            await self.services.dynamodb.create_table(**properties, SSESpecification=encryption)
        except ClientError as error:
            if code_of(error) != IN_USE:  # the answer to this request was lost, or another process was faster
                raise
        await self.wait("its creation")
        found = await self.described()
        if found is None:
            raise DatabaseUnavailable(f"table {self.name} was removed while it was created: create it again")
        return found

    async def add(self, difference: Difference, found: Description) -> str:
        """Add what is missing. Returns a sentence on it."""
        client, design, name = self.services.dynamodb, self.design, self.name
        match difference.feature:
            case Feature.INDEX if difference.index:
                return await self._add_index(difference.index, found)
            case Feature.EXPIRY:
                expiry = {"AttributeName": design.ttl, "Enabled": True}
                await client.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
                return f"Items now expire by `{design.ttl}`."
            case Feature.STREAM:
                return await self._add_stream()
            case Feature.SCALING if isinstance(design.billing, Provisioned):
                await self._scale(scaling(design, name))
                return f"The capacity now scales from {design.billing.least} to {design.billing.most} units."
            case Feature.ROTATION if found.keys:
                await self.services.kms.enable_key_rotation(KeyId=found.keys.found)
                return f"The key {found.keys.found} is now rotated each year."
            case Feature.RECOVERY:
                await self._add_recovery()
                return "Point-in-time recovery is now on."
            case Feature.PROTECTION:
                await client.update_table(TableName=name, DeletionProtectionEnabled=True)
                is_on = (await self.wait("deletion protection")).get("DeletionProtectionEnabled")
                return "Deletion protection is now on." if is_on else f"Deletion protection {LEFT_OUT}."
            case Feature.ALARMS:
                wanted = list(alarms(design, name))
                for alarm in wanted:
                    await self.services.alarms.put_metric_alarm(**alarm)
                return f"CloudWatch now watches it with {len(wanted)} alarms."
            case Feature.TAGS:
                await client.tag_resource(ResourceArn=found.table["TableArn"], Tags=tags(design))
                return "It is now tagged."
            case feature:
                raise ValueError(f"nothing adds {feature}")

    async def wait(self, change: str) -> Any:
        """Wait until no change of the table is in progress. Returns its description."""
        client, seconds = self.services.dynamodb, 0.0
        while True:
            try:
                table = (await client.describe_table(TableName=self.name))["Table"]
                indexes = [each["IndexStatus"] for each in table.get("GlobalSecondaryIndexes", ())]
                if not PASSING & {table["TableStatus"], *indexes}:
                    return table
            except client.exceptions.ResourceNotFoundException:  # right after its creation
                if seconds >= UNSEEN_SECONDS:
                    raise
            self.progress(f"Waiting for {change} of {self.name}: {seconds:,.0f} s")
            await self.sleep(POLL_SECONDS)
            seconds += POLL_SECONDS

    async def _key(self) -> str:
        """The key that is to encrypt the table, made if it is the table's own."""
        kms, alias = self.services.kms, key_of(self.design, self.name)
        if key := await key_arn(self.services, alias):
            return key
        if self.design.encryption != CUSTOMER_KEY:
            raise DatabaseUnavailable(f"the key {alias} of table {self.name} {CONFIGURATION}")
        labels = [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in tags(self.design)]
        made = await kms.create_key(Description=key_description(self.name), Tags=labels)
        arn = str(made["KeyMetadata"]["Arn"])
        await kms.enable_key_rotation(KeyId=arn)
        await kms.create_alias(AliasName=alias, TargetKeyId=arn)
        return arn

    async def _add_index(self, index: Index, found: Description) -> str:
        wanted = global_secondary_index(index)
        if is_provisioned(found.table):  # as much as the table has now: to fill the index takes writes
            units = found.table["ProvisionedThroughput"]
            names = ("ReadCapacityUnits", "WriteCapacityUnits")
            wanted["ProvisionedThroughput"] = {name: units[name] for name in names}
        defined = (await self.wait("another change"))["AttributeDefinitions"]
        new = [each for each in attribute_definitions(index.partition_key, index.sort_key) if each not in defined]
        await self.services.dynamodb.update_table(
            TableName=self.name,
            AttributeDefinitions=[*defined, *new],  # DynamoDB refuses any that no key uses
            GlobalSecondaryIndexUpdates=[{"Create": wanted}],
        )
        await self.wait(f"the index {index.name}")
        await self._scale(self._as_the_table(index, found))
        return f"The index {index.name} was created."

    def _as_the_table(self, index: Index, found: Description) -> Iterator[tuple[Json, Json]]:
        """The scaling of a new index, if the table scales: an index that falls behind throttles the table's writes."""
        for (resource, dimension), (least, most) in (found.scaling or {}).items():
            if resource == f"table/{self.name}":
                alone = replace(self.design, indexes=(index,), billing=Provisioned(least, most))
                for target, policy in scaling(alone, self.name):
                    if target["ScalableDimension"] == dimension.replace(":table:", ":index:"):
                        yield target, policy

    async def _scale(self, scaled: Iterator[tuple[Json, Json]]) -> None:
        for target, policy in scaled:
            await self.services.scaling.register_scalable_target(**target)
            await self.services.scaling.put_scaling_policy(**policy)

    async def _add_recovery(self) -> None:
        """Switch recovery on, which DynamoDB refuses for some seconds after it has created a table."""
        recovery = {"PointInTimeRecoveryEnabled": True}
        for left in reversed(range(BACKUP_ATTEMPTS)):
            try:
                await self.services.dynamodb.update_continuous_backups(
                    TableName=self.name, PointInTimeRecoverySpecification=recovery
                )
                break
            except ClientError as error:
                if code_of(error) != BACKUPS_UNAVAILABLE or not left:
                    raise
            self.progress(f"Waiting for the backups of {self.name}")
            await self.sleep(POLL_SECONDS)

    async def _add_stream(self) -> str:
        stream, reason = {"StreamEnabled": True, "StreamViewType": STREAM_VIEW_TYPE}, ""
        try:
            await self.services.dynamodb.update_table(TableName=self.name, StreamSpecification=stream)
        except ClientError as error:
            if code_of(error) not in NOT_OFFERED | {INVALID}:
                raise
            reason = f" ({error})"
        found = (await self.wait("the stream")).get("StreamSpecification", {})
        if found.get("StreamEnabled"):
            return f"The stream of changes is now on ({found['StreamViewType']})."
        return f"The stream of changes {LEFT_OUT}{reason}."
