"""Declared tables as a CloudFormation template, for users who let AWS create them.

It creates the same tables as `graph.store.dynamodb.create_tables`, from the same declarations.
"""

import json
from collections.abc import Iterable

from graph.store.design import TableDesign, table_name
from graph.store.dynamodb.declaration import STREAM_VIEW_TYPE, attribute_definitions, global_secondary_index, key_schema

Json = dict[str, object]


def template(designs: Iterable[TableDesign], *, prefix: str = "", environment: str = "dev") -> str:
    """The template as JSON, the same text for the same designs.

    Args:
        prefix: the prefix of each table's name.
        environment: the value of `{env}` in the names.
    """
    names = {design: table_name(design, prefix=prefix, environment=environment) for design in designs}
    parameters: Json = {}
    resources: Json = {}
    outputs: Json = {}
    for design, name in names.items():
        table = _logical_id(design)
        parameters[f"{table}Name"] = {"Type": "String", "Default": name}
        resources[table] = {
            "Type": "AWS::DynamoDB::Table",
            # The table's data may exist nowhere else, so no operation on the stack may drop it.
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": _properties(design, f"{table}Name"),
        }
        outputs[f"{table}Name"] = {"Value": {"Ref": table}}
        outputs[f"{table}Arn"] = {"Value": {"Fn::GetAtt": [table, "Arn"]}}
    document = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The DynamoDB table{'s' if len(names) > 1 else ''} {', '.join(names.values())}",
        "Parameters": parameters,
        "Resources": resources,
        "Outputs": outputs,
    }
    return json.dumps(document, indent=2) + "\n"


def _logical_id(design: TableDesign) -> str:
    """The name of the resource: `request-logs-{env}` becomes `RequestLogsTable`."""
    parts = design.name.replace("{env}", "").replace("_", "-").replace(".", "-").split("-")
    return design.resource or "".join(part[:1].upper() + part[1:] for part in parts) + "Table"


def _properties(design: TableDesign, name: str) -> Json:
    properties: Json = {
        "TableName": {"Ref": name},
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
