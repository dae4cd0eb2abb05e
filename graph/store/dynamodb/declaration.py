"""A table design in the form of `CreateTable`, which CloudFormation uses too."""

from typing import Any, Final

from graph.store.design import Index, TableDesign


def attribute_definitions(design: TableDesign) -> list[dict[str, str]]:
    """The types of all keys."""
    return [{"AttributeName": a.name, "AttributeType": a.type} for a in design.key_attributes]


def key_schema(index: Index) -> list[dict[str, str]]:
    """The keys of an index or of the table."""
    return [
        {"AttributeName": index.partition_key.name, "KeyType": "HASH"},
        {"AttributeName": index.sort_key.name, "KeyType": "RANGE"},
    ]


STREAM_VIEW_TYPE: Final = "NEW_IMAGE"
"""The content of the stream, for other readers: the type of an existing stream cannot be changed.

The service itself only checks whether anything has changed.
"""


def global_secondary_index(index: Index) -> dict[str, Any]:
    """An index with all attributes."""
    return {
        "IndexName": index.name,
        "KeySchema": key_schema(index),
        "Projection": {"ProjectionType": "ALL"},
    }
