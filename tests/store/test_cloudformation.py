"""The CloudFormation template of a declared table."""

import json

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.store.cloudformation import template
from graph.store.design import TableDesign
from tests.store.samples import READINGS, SAMPLES

LATER = TableDesign("later-readings-{env}", READINGS.partition_key, READINGS.sort_key)


def test_the_template_declares_the_table_as_the_design_does() -> None:
    table = json.loads(template([SAMPLES]))["Resources"]["SamplesTable"]

    assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == "Retain"
    assert table["Properties"] == {
        "TableName": {"Ref": "SamplesTableName"},
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
            {"AttributeName": "day", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
            {"AttributeName": "team", "AttributeType": "S"},
            {"AttributeName": "name", "AttributeType": "S"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "ByTime",
                "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "ByName",
                "KeySchema": [
                    {"AttributeName": "team", "KeyType": "HASH"},
                    {"AttributeName": "name", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            },
        ],
        "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "DeletionProtectionEnabled": True,
        "SSESpecification": {"SSEEnabled": True},
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
    document = json.loads(template([EARTHQUAKE_EVENTS, SAMPLES, LATER], prefix="my-", environment="test"))

    assert {name: value["Default"] for name, value in document["Parameters"].items()} == {
        "TableName": "my-earthquake-events",
        "SamplesTableName": "my-samples",
        "LaterReadingsTableName": "my-later-readings-test",
    }
    assert list(document["Resources"]) == ["Table", "SamplesTable", "LaterReadingsTable"]
    assert document["Outputs"]["LaterReadingsTableArn"] == {"Value": {"Fn::GetAtt": ["LaterReadingsTable", "Arn"]}}


def test_a_table_without_expiry_has_none_in_its_template() -> None:
    assert "TimeToLive" not in template([READINGS])
