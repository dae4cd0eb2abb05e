"""The CloudFormation template of a declared table."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graph.store.cloudformation import template
from graph.store.design import TableDesign
from tests.store.samples import READINGS, SAMPLES


@pytest.mark.parametrize("designs", [[SAMPLES], [READINGS], [SAMPLES, READINGS]])
def test_the_template_has_no_findings_of_cfn_lint(designs: list[TableDesign], tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    file.write_text(template(designs))

    linted = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), file], capture_output=True, text=True, check=False
    )

    assert (linted.returncode, linted.stdout) == (0, "")


def test_the_template_declares_the_table_as_the_design_does() -> None:
    table = json.loads(template([SAMPLES]))["Resources"]["Table"]

    assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == "Retain"
    assert table["Properties"] == {
        "TableName": {"Ref": "TableName"},
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


def test_the_template_is_the_same_text_every_time() -> None:
    assert template([SAMPLES]) == template([SAMPLES])
    assert "TimeToLive" not in template([READINGS])


def test_a_further_table_leaves_the_first_as_it_is() -> None:
    alone, both = json.loads(template([SAMPLES])), json.loads(template([SAMPLES, READINGS]))

    for section in ("Parameters", "Resources", "Outputs"):
        assert both[section].items() > alone[section].items()
    assert both["Resources"]["ReadingsTable"]["Properties"]["TableName"] == {"Ref": "ReadingsTableName"}
    assert both["Parameters"]["ReadingsTableName"]["Default"] == "readings"
