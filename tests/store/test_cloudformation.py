"""The CloudFormation template of a declared table."""

import json
from dataclasses import replace

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.service_logs.entities import LOGS
from graph.store.choices import TableChoices
from graph.store.cloudformation import template
from graph.store.configuration import CUSTOMER_KEY, Provisioned
from graph.store.design import TableDesign
from tests.store.samples import READINGS, SAMPLES

ALARMS = {
    "ThrottledRequests": 0,
    "SystemErrors": 0,
    "UserErrors": 10,
    "ConsumedReadCapacityUnits": 70,
    "ConsumedReadCapacityUnits-TimestampIndex": 70,
    "ConsumedWriteCapacityUnits": 70,
    "ConsumedWriteCapacityUnits-TimestampIndex": 70,
    "PutItem-SuccessfulRequestLatency": 50,
    "Query-SuccessfulRequestLatency": 100,
    "Scan-SuccessfulRequestLatency": 200,
}
"""The documented alarms of the logs, with their thresholds."""

LATER = TableDesign("later-readings-{env}", READINGS.partition_key, READINGS.sort_key)


def keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def test_the_template_declares_the_table_as_the_design_does() -> None:
    table = json.loads(template([SAMPLES]))["Resources"]["SamplesTable"]

    assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == "Retain"
    assert table["Properties"] == {
        "TableName": {"Ref": "SamplesTableName"},
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "N" if name == "at" else "S"}
            for name in ("pk", "sk", "day", "at", "team", "name")
        ],
        "KeySchema": keys("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {"IndexName": "ByTime", "KeySchema": keys("day", "at"), "Projection": {"ProjectionType": "ALL"}},
            {"IndexName": "ByName", "KeySchema": keys("team", "name"), "Projection": {"ProjectionType": "ALL"}},
        ],
        "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "DeletionProtectionEnabled": True,
        "SSESpecification": {"SSEEnabled": True},
        "Tags": [{"Key": "application", "Value": "quakegraph"}],
        "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
    }


def test_the_table_of_version_0_1_keeps_its_names() -> None:
    """So that its stack can be updated."""
    document = json.loads(template([EARTHQUAKE_EVENTS, SAMPLES]))

    assert document["Parameters"]["TableName"] == {"Type": "String", "Default": "earthquake-events"}
    assert document["Resources"]["Table"]["Properties"]["TableName"] == {"Ref": "TableName"}
    assert document["Outputs"]["TableName"] == {"Value": {"Ref": "Table"}}
    assert document["Outputs"]["TableArn"] == {"Value": {"Fn::GetAtt": ["Table", "Arn"]}}


def test_each_table_has_names_of_its_own() -> None:
    document = json.loads(
        template([EARTHQUAKE_EVENTS, SAMPLES, LATER], choices=TableChoices(prefix="my-", environment="test"))
    )

    assert {name: value["Default"] for name, value in document["Parameters"].items()} == {
        "TableName": "my-earthquake-events",
        "SamplesTableName": "my-samples",
        "LaterReadingsTableName": "my-later-readings-test",
    }
    assert list(document["Resources"]) == ["Table", "SamplesTable", "LaterReadingsTable"]
    assert document["Outputs"]["LaterReadingsTableArn"] == {"Value": {"Fn::GetAtt": ["LaterReadingsTable", "Arn"]}}


def test_a_stack_in_another_region_than_the_services_is_refused() -> None:
    rules = json.loads(template([SAMPLES], region="eu-central-1"))["Rules"]

    (assertion,) = rules["Region"]["Assertions"]
    assert assertion["Assert"] == {"Fn::Equals": [{"Ref": "AWS::Region"}, "eu-central-1"]}
    assert "Rules" not in json.loads(template([SAMPLES]))


PROVISIONED = replace(SAMPLES, billing=Provisioned(5, 100, 70), encryption=CUSTOMER_KEY)


def test_a_provisioned_table_scales_with_each_of_its_indexes() -> None:
    resources = json.loads(template([PROVISIONED]))["Resources"]

    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    properties = resources["SamplesTable"]["Properties"]
    assert properties["BillingMode"] == "PROVISIONED"
    assert properties["ProvisionedThroughput"] == units
    assert [index["ProvisionedThroughput"] for index in properties["GlobalSecondaryIndexes"]] == [units, units]
    targets = {
        name: each["Properties"]
        for name, each in resources.items()
        if each["Type"] == "AWS::ApplicationAutoScaling::ScalableTarget"
    }
    assert {(each["ResourceId"]["Fn::Sub"], each["ScalableDimension"]) for each in targets.values()} == {
        (f"table/${{SamplesTable}}{place}", f"dynamodb:{kind}:{unit}CapacityUnits")
        for place, kind in (("", "table"), ("/index/ByTime", "index"), ("/index/ByName", "index"))
        for unit in ("Read", "Write")
    }
    assert {(each["MinCapacity"], each["MaxCapacity"]) for each in targets.values()} == {(5, 100)}
    policies = [each["Properties"] for each in resources.values() if each["Type"].endswith("ScalingPolicy")]
    assert {each["ScalingTargetId"]["Ref"] for each in policies} == targets.keys()
    assert {each["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] for each in policies} == {70}


def test_a_key_of_the_tables_own_is_rotated_and_kept_with_the_table() -> None:
    resources = json.loads(template([PROVISIONED]))["Resources"]

    key = resources["SamplesTableKey"]
    assert (key["DeletionPolicy"], key["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert key["Properties"]["EnableKeyRotation"] is True
    assert resources["SamplesTableKeyAlias"]["Properties"] == {
        "AliasName": {"Fn::Sub": "alias/${SamplesTableName}"},
        "TargetKeyId": {"Ref": "SamplesTableKey"},
    }
    assert resources["SamplesTable"]["Properties"]["SSESpecification"] == {
        "SSEEnabled": True,
        "SSEType": "KMS",
        "KMSMasterKeyId": {"Fn::Sub": "${SamplesTableKey.Arn}"},
    }


def test_the_alarms_of_the_logs_are_the_documented_ones() -> None:
    resources = json.loads(template([LOGS]))["Resources"]

    alarms = {name: each["Properties"] for name, each in resources.items() if each["Type"] == "AWS::CloudWatch::Alarm"}
    assert {name.removeprefix("ServiceLogs"): each["Threshold"] for name, each in alarms.items()} == {
        name.replace("-", ""): threshold for name, threshold in ALARMS.items()
    }
    latency = alarms["ServiceLogsPutItemSuccessfulRequestLatency"]
    assert (latency["ExtendedStatistic"], latency["Period"]) == ("p99", 300)
    assert "AlarmActions" not in latency
    used = alarms["ServiceLogsConsumedReadCapacityUnitsTimestampIndex"]
    assert used["Metrics"][0]["Expression"] == "100 * consumed / PERIOD(consumed) / provisioned"
    assert used["EvaluationPeriods"] == 3


def test_a_deployment_chooses_billing_encryption_safeguards_alarms_and_tags() -> None:
    choices = TableChoices(
        billing="on-demand",
        encryption="alias/ours",
        recovery=False,
        protection=False,
        stream=False,
        alarm_topic="arn:aws:sns:us-east-1:123456789012:ops",
        tags={"team": "seismology"},
    )

    resources = json.loads(template([LOGS], choices=choices))["Resources"]

    properties = resources["ServiceLogs"]["Properties"]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["SSESpecification"]["KMSMasterKeyId"] == "alias/ours"
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": False}
    assert properties["DeletionProtectionEnabled"] is False
    assert properties["Tags"][1:] == [{"Key": "team", "Value": "seismology"}]
    assert "StreamSpecification" not in properties
    others = [each for name, each in resources.items() if name != "ServiceLogs"]
    assert {each["Type"] for each in others} == {"AWS::CloudWatch::Alarm"}
    assert len(others) == 6, "none of capacity"
    assert {each["Properties"]["AlarmActions"][0] for each in others} == {choices.alarm_topic}


def test_a_deployment_provisions_all_tables_as_it_chooses() -> None:
    choices = TableChoices(billing="provisioned", capacity=(10, 2000))

    resources = json.loads(template([SAMPLES, LOGS], choices=choices))["Resources"]

    targets = [each["Properties"] for each in resources.values() if each["Type"].endswith("ScalableTarget")]
    assert len(targets) == 6 + 4
    assert {(each["MinCapacity"], each["MaxCapacity"]) for each in targets} == {(10, 2000)}


def test_a_table_without_expiry_has_none_in_its_template() -> None:
    assert "TimeToLive" not in template([READINGS])
