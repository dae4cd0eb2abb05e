"""The configuration of the documented tables, as an endpoint that offers all of it describes them: moto's server."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.store.choices import TableChoices
from graph.store.policy import Job
from tests.other_programs import client
from tests.store.emulator import moto
from tests.store.engines import administer, create_tables
from tests.store.test_cloudformation import ALARMS

ENTITIES = entities_of(DOMAINS)
LOGS = "simple-log-service-dev-logs"
EXPIRY = {
    "earthquake-events": "ttl",
    LOGS: "ttl",
    "simple-log-service-dev-state": "ttl",
    "zapier-triggers-api-dev-events": "ttl",
    "trigger-endpoints-dev": "ttl",
    "blip": "expiresAt",
    "libera-metadata": None,
}


@pytest.fixture(scope="module")
def aws(_dynamodb: str) -> Iterator[str]:
    with moto() as url, pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", url)
        yield url


@pytest.fixture(scope="module")
def dynamodb(aws: str) -> Any:
    return client("dynamodb")


@pytest.fixture
def prefix(aws: str) -> str:
    return f"{uuid4().hex}-"


@pytest.fixture(scope="module")
def created(aws: str) -> str:
    """The prefix of tables as they are declared, which no test changes."""
    prefix = f"{uuid4().hex}-"
    asyncio.run(create_tables(ENTITIES, prefix=prefix))
    return prefix


def described(dynamodb: Any, name: str) -> Any:
    return dynamodb.describe_table(TableName=name)["Table"]


@pytest.mark.parametrize("table", EXPIRY)
async def test_a_created_table_is_described_as_its_document_has_it(created: str, dynamodb: Any, table: str) -> None:
    name = f"{created}{table}"
    found = described(dynamodb, name)
    units = 5 if table == LOGS else 0

    assert found["BillingModeSummary"]["BillingMode"] == ("PROVISIONED" if table == LOGS else "PAY_PER_REQUEST")
    for billed in (found, *found["GlobalSecondaryIndexes"]):
        throughput = billed["ProvisionedThroughput"]
        assert (throughput["ReadCapacityUnits"], throughput["WriteCapacityUnits"]) == (units, units)
    assert found["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert found["DeletionProtectionEnabled"] is True
    assert found["SSEDescription"]["Status"] == "ENABLED"
    assert found["SSEDescription"]["SSEType"] == "KMS"
    backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    expiry = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    assert expiry.get("AttributeName") == EXPIRY[table]
    assert expiry["TimeToLiveStatus"] == ("ENABLED" if EXPIRY[table] else "DISABLED")
    tags = dynamodb.list_tags_of_resource(ResourceArn=found["TableArn"])["Tags"]
    assert tags == [{"Key": "application", "Value": "quakegraph"}]


async def test_the_logs_alone_are_encrypted_with_a_key_of_their_own_which_rotates(created: str, dynamodb: Any) -> None:
    kms = client("kms")
    key = kms.describe_key(KeyId=f"alias/{created}{LOGS}")["KeyMetadata"]

    keys = {table: described(dynamodb, f"{created}{table}")["SSEDescription"]["KMSMasterKeyArn"] for table in EXPIRY}
    assert [table for table, arn in keys.items() if arn == key["Arn"]] == [LOGS]
    assert key["Description"] == f"Encrypts the table {created}{LOGS}"
    assert kms.get_key_rotation_status(KeyId=key["KeyId"])["KeyRotationEnabled"] is True


async def test_the_logs_and_their_index_scale_from_5_to_100_units_at_70_percent(created: str) -> None:
    scaling = client("application-autoscaling")
    table = f"table/{created}{LOGS}"
    places = [table, f"{table}/index/TimestampIndex"]
    found = scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=places)
    own = found["ScalableTargets"]
    read = [scaling.describe_scaling_policies(ServiceNamespace="dynamodb", ResourceId=place) for place in places]
    policies = {policy["PolicyARN"]: policy for answer in read for policy in answer["ScalingPolicies"]}

    assert {(target["ResourceId"], target["ScalableDimension"]) for target in own} == {
        (place, f"dynamodb:{kind}:{unit}CapacityUnits")
        for place, kind in zip(places, ("table", "index"), strict=True)
        for unit in ("Read", "Write")
    }
    assert {(target["MinCapacity"], target["MaxCapacity"]) for target in own} == {(5, 100)}
    assert len(policies) == 4
    for policy in policies.values():
        tracking = policy["TargetTrackingScalingPolicyConfiguration"]
        unit = "Read" if "Read" in policy["ScalableDimension"] else "Write"
        assert tracking["TargetValue"] == 70
        assert tracking["PredefinedMetricSpecification"]["PredefinedMetricType"] == (
            f"DynamoDB{unit}CapacityUtilization"
        )


async def test_the_logs_have_the_documented_alarms(created: str) -> None:
    alarms = client("cloudwatch").describe_alarms(AlarmNamePrefix=created)["MetricAlarms"]

    thresholds = {alarm["AlarmName"].removeprefix(f"{created}{LOGS}-"): alarm["Threshold"] for alarm in alarms}
    assert thresholds == ALARMS


async def test_created_tables_differ_in_nothing_and_are_not_changed_again(created: str) -> None:
    unchanged = [f"Table {created}{table} is as declared." for table in EXPIRY]

    for job in (Job.CHECK, Job.ADOPT, Job.CREATE):
        assert await administer(ENTITIES, job, prefix=created) == (True, unchanged)


async def test_a_deployment_gets_what_it_chooses(prefix: str, dynamodb: Any) -> None:
    key = client("kms").create_key()["KeyMetadata"]["Arn"]
    choices = TableChoices(
        billing="on-demand", encryption=key, recovery=False, protection=False, stream=False, tags={"team": "seismology"}
    )

    await create_tables(ENTITIES, prefix=prefix, choices=choices)

    for table in EXPIRY:
        name = f"{prefix}{table}"
        found = described(dynamodb, name)
        assert found["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        assert found["SSEDescription"]["KMSMasterKeyArn"] == key
        assert found["DeletionProtectionEnabled"] is False
        assert "StreamSpecification" not in found
        backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
        assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "DISABLED"
        tags = dynamodb.list_tags_of_resource(ResourceArn=found["TableArn"])["Tags"]
        assert {tag["Key"]: tag["Value"] for tag in tags} == {"application": "quakegraph", "team": "seismology"}
    assert (await administer(ENTITIES, Job.CHECK, prefix=prefix, choices=choices))[0]


async def test_what_a_table_of_ours_lacks_is_said_and_added_by_create_alone(prefix: str, dynamodb: Any) -> None:
    choices = TableChoices(tags={"team": "seismology"})
    name, (log,) = f"{prefix}{LOGS}", [entity for entity in ENTITIES if entity.name == "SERVICE_LOG"]
    await create_tables([log], prefix=prefix)
    key = described(dynamodb, name)["SSEDescription"]["KMSMasterKeyArn"]
    client("kms").disable_key_rotation(KeyId=key)
    dynamodb.update_table(TableName=name, DeletionProtectionEnabled=False)
    dynamodb.update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False}
    )
    client("cloudwatch").delete_alarms(AlarmNames=[f"{name}-UserErrors"])
    client("application-autoscaling").deregister_scalable_target(
        ServiceNamespace="dynamodb",
        ResourceId=f"table/{name}/index/TimestampIndex",
        ScalableDimension="dynamodb:index:WriteCapacityUnits",
    )
    missing = [
        "The capacity does not scale: TimestampIndex. What is beyond it is throttled",
        f"The key {key} is not rotated.",
        "It is not protected from deletion.",
        "It has no point-in-time recovery.",
        f"It has no alarm {name}-UserErrors.",
        "It has no tag team=seismology.",
    ]

    for job in (Job.CHECK, Job.ADOPT):
        can_run, said = await administer([log], job, prefix=prefix, choices=choices)
        assert (can_run, said[0]) == (True, f"Table {name} exists.")
        assert [line.startswith(each) for line, each in zip(said[1:], missing, strict=True)] == [True] * len(missing)
    assert await create_tables([log], prefix=prefix, choices=choices) == [
        f"Table {name} exists.",
        "The capacity now scales from 5 to 100 units.",
        f"The key {key} is now rotated each year.",
        "Deletion protection is now on.",
        "Point-in-time recovery is now on.",
        "CloudWatch now watches it with 10 alarms.",
        "It is now tagged.",
    ]
    assert await create_tables([log], prefix=prefix, choices=choices) == [f"Table {name} is as declared."]


async def test_what_the_owner_of_a_table_chose_otherwise_is_said_and_not_changed(prefix: str, dynamodb: Any) -> None:
    key = client("kms").create_key()["KeyMetadata"]["Arn"]
    both = [entity for entity in ENTITIES if entity.name in {"SIGHTING", "SERVICE_LOG"}]
    sighting, log = sorted(both, key=lambda entity: entity.name, reverse=True)
    await create_tables([sighting], prefix=prefix, choices=TableChoices(billing="provisioned", encryption=key))
    await create_tables([log], prefix=prefix, choices=TableChoices(billing="on-demand", encryption="aws-managed"))
    before = [described(dynamodb, f"{prefix}{table}") for table in ("blip", LOGS)]
    default = before[1]["SSEDescription"]["KMSMasterKeyArn"]

    for job in (Job.CHECK, Job.ADOPT):
        can_run, said = await administer([sighting, log], job, prefix=prefix)
        assert can_run
        assert [line for line in said if "no alarm" not in line] == [
            f"Table {prefix}blip exists.",
            "It is provisioned (5 read and 5 write units), not billed on demand. What is beyond is throttled: it "
            "waits, and then fails with DATABASE_UNAVAILABLE.",
            f"It is encrypted with the key {key}, not with the one that is aws-managed. The service needs the "
            "permission `kms:Decrypt` for that key.",
            f"Table {prefix}{LOGS} exists.",
            "It is billed on demand, not provisioned, 5 to 100 units at 70 %. The service works as well; only the "
            "price differs.",
            f"It is encrypted with the key {default}, not with the one that is customer-managed. The service works "
            "as well; the account has no control of the key.",
        ]
    assert [described(dynamodb, f"{prefix}{table}") for table in ("blip", LOGS)] == before


async def test_a_key_that_does_not_exist_is_named(prefix: str, dynamodb: Any) -> None:
    choices = TableChoices(encryption="alias/nowhere")

    with pytest.raises(DatabaseUnavailable) as raised:
        await create_tables(ENTITIES, prefix=prefix, choices=choices)

    assert raised.value.detail.startswith(f"the key alias/nowhere of table {prefix}earthquake-events cannot be found")
    assert not [name for name in dynamodb.list_tables()["TableNames"] if name.startswith(prefix)]
