"""A table design in the form of AWS's requests, which CloudFormation uses too."""

from collections.abc import Iterator
from typing import Any, Final

from graph.store.configuration import Billing, Provisioned
from graph.store.design import Index, KeyAttribute, TableDesign

Json = dict[str, Any]

STREAM_VIEW_TYPE: Final = "NEW_IMAGE"
"""The content of the stream, for other readers: the type of an existing stream cannot be changed.

The service itself reads the keys alone.
"""


def table_properties(design: TableDesign, name: str) -> Json:
    """The parameters of `CreateTable`, without encryption, stream and protection."""
    properties: Json = {
        "TableName": name,
        "BillingMode": "PROVISIONED" if isinstance(design.billing, Provisioned) else "PAY_PER_REQUEST",
        "AttributeDefinitions": attribute_definitions(*design.key_attributes),
        "KeySchema": key_schema(design.primary),
        "Tags": tags(design),
        **throughput(design.billing),
    }
    if design.indexes:
        properties["GlobalSecondaryIndexes"] = [
            global_secondary_index(index) | throughput(design.billing) for index in design.indexes
        ]
    return properties


def attribute_definitions(*keys: KeyAttribute) -> list[dict[str, str]]:
    """The types of keys."""
    return [{"AttributeName": key.name, "AttributeType": key.type} for key in keys]


def key_schema(index: Index) -> list[dict[str, str]]:
    """The keys of an index or of the table."""
    return [
        {"AttributeName": index.partition_key.name, "KeyType": "HASH"},
        {"AttributeName": index.sort_key.name, "KeyType": "RANGE"},
    ]


def global_secondary_index(index: Index) -> Json:
    """An index with all attributes."""
    return {"IndexName": index.name, "KeySchema": key_schema(index), "Projection": {"ProjectionType": "ALL"}}


def throughput(billing: Billing) -> Json:
    """The capacity that a provisioned table or index begins with."""
    if not isinstance(billing, Provisioned):
        return {}
    return {"ProvisionedThroughput": {"ReadCapacityUnits": billing.least, "WriteCapacityUnits": billing.least}}


def tags(design: TableDesign) -> list[dict[str, str]]:
    """The tags of the table and of its key."""
    return [{"Key": key, "Value": value} for key, value in design.tags]


def scaling(design: TableDesign, name: str) -> Iterator[tuple[Json, Json]]:
    """What scales on its own: the target and the policy of each, as Application Auto Scaling takes them."""
    if not isinstance(design.billing, Provisioned):
        return
    places = [("table", f"table/{name}"), *(("index", f"table/{name}/index/{index.name}") for index in design.indexes)]
    for kind, place in places:
        for unit in ("Read", "Write"):
            dimension = f"dynamodb:{kind}:{unit}CapacityUnits"
            scaled = {"ServiceNamespace": "dynamodb", "ResourceId": place, "ScalableDimension": dimension}
            target = {"MinCapacity": design.billing.least, "MaxCapacity": design.billing.most}
            tracking = {
                "TargetValue": design.billing.percent,
                "PredefinedMetricSpecification": {"PredefinedMetricType": f"DynamoDB{unit}CapacityUtilization"},
            }
            policy = {
                "PolicyName": f"{unit}CapacityUtilization",
                "PolicyType": "TargetTrackingScaling",
                "TargetTrackingScalingPolicyConfiguration": tracking,
            }
            yield scaled | target, scaled | policy


def key_alias(name: str) -> str:
    """The alias of a table's own key in KMS, which has no dots."""
    return f"alias/{name.replace('.', '_')}"


def key_description(name: str) -> str:
    """The description of that key."""
    return f"Encrypts the table {name}"
