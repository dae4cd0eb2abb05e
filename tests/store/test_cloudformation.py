"""The CloudFormation template of a declared table."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.store.cloudformation import template
from graph.store.design import TableDesign
from tests.store.samples import READINGS, SAMPLES

LATER = TableDesign("later-readings-{env}", READINGS.partition_key, READINGS.sort_key)


@pytest.mark.parametrize(
    "designs", [[SAMPLES], [READINGS], [EARTHQUAKE_EVENTS, SAMPLES, LATER]], ids=["samples", "readings", "several"]
)
def test_the_template_has_no_findings_of_cfn_lint(designs: list[TableDesign], tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    file.write_text(template(designs))

    linted = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), file], capture_output=True, text=True, check=False
    )

    assert (linted.returncode, linted.stdout) == (0, "")


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


def test_the_template_is_the_same_text_every_time() -> None:
    assert template([SAMPLES]) == template([SAMPLES])
    assert "TimeToLive" not in template([READINGS])
