"""Declared tables as a CloudFormation template, for those who let AWS create it.

It says what `graph.store.dynamodb.create_table` does, from the same declarations.
"""

import json
from collections.abc import Sequence

from graph.store.design import TableDesign
from graph.store.dynamodb.declaration import (
    STREAM_VIEW_TYPE,
    attribute_definitions,
    global_secondary_index,
    key_schema,
)

Json = dict[str, object]


def template(designs: Sequence[TableDesign]) -> str:
    """The template as JSON, the same text for the same designs.

    The first table is called `Table` there, and the others by their names: a table that comes later must not give
    those another name, since CloudFormation would take them for new ones.
    """
    first, *others = designs
    places = {"": first} | {design.name.title().replace("-", ""): design for design in others}
    document = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The DynamoDB table{'s' if others else ''} {', '.join(design.name for design in designs)}",
        "Parameters": {f"{at}TableName": {"Type": "String", "Default": each.name} for at, each in places.items()},
        "Resources": {f"{at}Table": _resource(each, f"{at}TableName") for at, each in places.items()},
        "Outputs": {
            name: {"Value": value}
            for at in places
            for name, value in {
                f"{at}TableName": {"Ref": f"{at}Table"},
                f"{at}TableArn": {"Fn::GetAtt": [f"{at}Table", "Arn"]},
            }.items()
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _resource(design: TableDesign, parameter: str) -> Json:
    return {
        "Type": "AWS::DynamoDB::Table",
        # What the table holds may exist nowhere else, so no operation on the stack may drop it.
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": _properties(design, parameter),
    }


def _properties(design: TableDesign, parameter: str) -> Json:
    properties: Json = {
        "TableName": {"Ref": parameter},
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": attribute_definitions(design),
        "KeySchema": key_schema(design.primary),
        "SSESpecification": {"SSEEnabled": True},
        "StreamSpecification": {"StreamViewType": STREAM_VIEW_TYPE},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "DeletionProtectionEnabled": True,
    }
    if design.indexes:
        properties["GlobalSecondaryIndexes"] = [global_secondary_index(index) for index in design.indexes]
    if design.ttl:
        properties["TimeToLiveSpecification"] = {"AttributeName": design.ttl, "Enabled": True}
    return properties
