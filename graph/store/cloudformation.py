"""Declared tables as a CloudFormation template, for users who let AWS create them.

It creates the same tables as `graph.store.dynamodb.administration`, from the same declarations.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from graph.store.choices import AS_DESIGNED, TableChoices
from graph.store.configuration import AWS_KEY, CUSTOMER_KEY
from graph.store.design import TableDesign
from graph.store.dynamodb.alarms import alarms
from graph.store.dynamodb.declaration import (
    STREAM_VIEW_TYPE,
    Json,
    key_alias,
    key_description,
    scaling,
    table_properties,
    tags,
)

# The data of a table may exist nowhere else, so no operation on the stack may drop it, nor the key that decrypts it.
RETAINED = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


def template(designs: Iterable[TableDesign], *, region: str | None = None, choices: TableChoices = AS_DESIGNED) -> str:
    """The template as JSON, the same text for the same designs.

    Args:
        region: the one in which the service looks for its tables; a stack in another one is refused.
    """
    names = choices.tables(designs)
    parameters, resources, outputs = Json(), Json(), Json()
    for design, name in names.items():
        table = _logical_id(design)
        parameters[f"{table}Name"] = {"Type": "String", "Default": name}
        resources |= {key: _substituted(resource) for key, resource in _resources(design, table)}
        outputs[f"{table}Name"] = {"Value": {"Ref": table}}
        outputs[f"{table}Arn"] = {"Value": {"Fn::GetAtt": [table, "Arn"]}}
    assertion = {
        "Assert": {"Fn::Equals": [{"Ref": "AWS::Region"}, region]},
        "AssertDescription": f"The service looks for its tables in {region}",
    }
    document = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The DynamoDB table{'s' if len(names) > 1 else ''} {', '.join(names.values())}",
        "Parameters": parameters,
        **({"Rules": {"Region": {"Assertions": [assertion]}}} if region else {}),
        "Resources": resources,
        "Outputs": outputs,
    }
    return json.dumps(document, indent=2) + "\n"


def _logical_id(design: TableDesign) -> str:
    """The name of the resource: `request-logs-{env}` becomes `RequestLogsTable`."""
    parts = design.name.replace("{env}", "").replace("_", "-").replace(".", "-").split("-")
    return design.resource or "".join(part[:1].upper() + part[1:] for part in parts) + "Table"


def _resources(design: TableDesign, table: str) -> Iterator[tuple[str, Json]]:
    """The table and what belongs to it. `${…}` in a text stands for a resource, or for a parameter."""
    name = f"${{{table}Name}}"
    if design.encryption == CUSTOMER_KEY:
        yield f"{table}Key", _key(design, name)
        alias = {"AliasName": key_alias(name), "TargetKeyId": f"${{{table}Key}}"}
        yield f"{table}KeyAlias", {"Type": "AWS::KMS::Alias", "Properties": alias}
    yield table, {"Type": "AWS::DynamoDB::Table", **RETAINED, "Properties": _properties(design, table, name)}
    for target, policy in scaling(design, f"${{{table}}}"):
        index = target["ResourceId"].partition("/index/")[2]
        scaled = f"{table}{index}{target['ScalableDimension'].rpartition(':')[2]}"
        yield f"{scaled}Target", {"Type": "AWS::ApplicationAutoScaling::ScalableTarget", "Properties": target}
        own = {key: value for key, value in policy.items() if key not in target}
        own["ScalingTargetId"] = f"${{{scaled}Target}}"
        yield f"{scaled}Policy", {"Type": "AWS::ApplicationAutoScaling::ScalingPolicy", "Properties": own}
    for alarm in alarms(design, f"${{{table}}}"):
        words = alarm["AlarmName"].partition("}-")[2].replace("-", "")
        yield f"{table}{words}", {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm}


def _properties(design: TableDesign, table: str, name: str) -> Json:
    keys = {AWS_KEY: {}, CUSTOMER_KEY: {"KMSMasterKeyId": f"${{{table}Key.Arn}}"}}
    key = keys.get(design.encryption, {"KMSMasterKeyId": design.encryption})
    properties: Json = {
        **table_properties(design, name),
        "SSESpecification": {"SSEEnabled": True, **({"SSEType": "KMS"} if key else {}), **key},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": design.recovery},
        "DeletionProtectionEnabled": design.protection,
    }
    if design.stream:
        properties["StreamSpecification"] = {"StreamViewType": STREAM_VIEW_TYPE}
    if design.ttl:
        properties["TimeToLiveSpecification"] = {"AttributeName": design.ttl, "Enabled": True}
    return properties


def _key(design: TableDesign, name: str) -> Json:
    """A key that is rotated each year. IAM's policies of the account say who may use it."""
    account = {"AWS": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
    statement = {"Effect": "Allow", "Principal": account, "Action": "kms:*", "Resource": "*"}
    properties = {
        "Description": key_description(name),
        "EnableKeyRotation": True,
        "KeyPolicy": {"Version": "2012-10-17", "Statement": [statement]},
        "Tags": tags(design),
    }
    return {"Type": "AWS::KMS::Key", **RETAINED, "Properties": properties}


def _substituted(value: Any) -> Any:
    """A value with CloudFormation's functions in place of `${…}`."""
    match value:
        case dict():
            return {key: _substituted(each) for key, each in value.items()}
        case list():
            return [_substituted(each) for each in value]
        case str() if "${" in value:
            one = re.fullmatch(r"\$\{(\w+)\}", value)
            return {"Ref": one[1]} if one else {"Fn::Sub": value}
    return value
