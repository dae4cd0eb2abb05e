"""The types of events that the service itself creates: their payloads, as JSON Schema, and an example of each.

A domain that builds on the triggers adds its own types to the service `EventTypes`.
"""

from collections.abc import Mapping
from typing import Any

from graph.core.described import described, value
from graph.core.times import rfc3339_of_millis
from graph.domains.triggers.json_schemas import TIME, JsonSchema, schema_of, value_of
from graph.domains.triggers.model import Endpoint, EndpointDisabledReason

TEST = "endpoint.test"
DISABLED = "endpoint.disabled"
LIMITED = "watches.limited"


@value
class EventType:
    """A type of events that the service itself creates."""

    name: str = described("Its name.")
    description: str = described("When such an event is created.")
    example: Mapping[str, Any] = described("A payload.")
    schema: JsonSchema = described("The JSON Schema of its payloads.")


_OF_AN_ENDPOINT = schema_of(
    {
        "endpointId": value_of("string", "The endpoint."),
        "url": value_of("string", "Where its deliveries are sent."),
        "reason": value_of("string", "Why.", enum=[each.value for each in EndpointDisabledReason]),
    }
)

_OF_A_LIMIT = schema_of(
    {
        "limit": value_of("integer", "How many events a user's watches make in an hour.", minimum=1),
        "until": {**TIME, "description": "When the hour ends. Until then, further events are left out."},
    }
)

_OF_A_TEST = schema_of(
    {"endpointId": value_of("string", "The endpoint."), "message": value_of("string", "A greeting.")}
)


def payload_of_disabled(endpoint: Endpoint, reason: EndpointDisabledReason) -> dict[str, Any]:
    """The payload that tells of a disabled endpoint."""
    return {"endpointId": endpoint.endpoint_id, "url": endpoint.url, "reason": reason.value}


def payload_of_limited(limit: int, until: int) -> dict[str, Any]:
    """The payload that tells of events that are left out until a time, epoch milliseconds."""
    return {"limit": limit, "until": rfc3339_of_millis(until)}


def payload_of_test(endpoint_id: str) -> dict[str, Any]:
    """The payload of a test delivery."""
    return {"endpointId": endpoint_id, "message": "This is a test. Your endpoint works."}


_ENDPOINT_ID = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
EVENT_TYPES = (
    EventType(
        DISABLED,
        "The service has disabled an endpoint: it answered 410, or failed for five days.",
        {"endpointId": _ENDPOINT_ID, "url": "https://receiver.example/hooks", "reason": "GONE"},
        _OF_AN_ENDPOINT,
    ),
    EventType(
        LIMITED,
        "The user's watches have made as many events as they may within an hour. Further ones are left out.",
        payload_of_limited(10_000, 1_691_038_800_000),
        _OF_A_LIMIT,
    ),
    EventType(TEST, "A test that its user asked for. It is sent once.", payload_of_test(_ENDPOINT_ID), _OF_A_TEST),
)


class EventTypes(list[EventType]):
    """The types of all domains. A domain adds its own before the process serves."""
