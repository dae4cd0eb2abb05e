"""Writes JSON Schemas of payloads. An object has the properties that its schema names, and no others."""

from collections.abc import Mapping
from typing import Any

JsonSchema = dict[str, Any]

TIME: JsonSchema = {"type": "string", "format": "date-time"}


def schema_of(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    """The schema of a payload."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **object_of(properties)}


def object_of(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    """The schema of an object."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def value_of(kind: str | list[str], description: str, **others: Any) -> JsonSchema:
    """The schema of a value of one of these types."""
    return {"type": kind, "description": description, **others}
