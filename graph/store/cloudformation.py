"""A declared table as a CloudFormation template, for those who let AWS create it.

It says what `graph.store.dynamodb.create_table` does, from the same declaration.
"""

import json

from graph.store.design import TableDesign
from graph.store.dynamodb.declaration import (
    STREAM_VIEW_TYPE,
    attribute_definitions,
    global_secondary_index,
    key_schema,
)

Json = dict[str, object]


def template(design: TableDesign) -> str:
    """The template as JSON, the same text for the same design."""
    resource = {
        "Type": "AWS::DynamoDB::Table",
        # What the table holds may exist nowhere else, so no operation on the stack may drop it.
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": _properties(design),
    }
    document = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The DynamoDB table {design.name}",
        "Parameters": {"TableName": {"Type": "String", "Default": design.name}},
        "Resources": {"Table": resource},
        "Outputs": {
            "TableName": {"Value": {"Ref": "Table"}},
            "TableArn": {"Value": {"Fn::GetAtt": ["Table", "Arn"]}},
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _properties(design: TableDesign) -> Json:
    properties: Json = {
        "TableName": {"Ref": "TableName"},
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
