"""Checks what a user gives for an event."""

import re
from typing import Any

from graph.core.errors import BadUserInput
from graph.core.names import is_line
from graph.domains.triggers.entities import TRIGGER_EVENT
from graph.domains.triggers.model import LONGEST_IDEMPOTENCY_KEY, LONGEST_TYPE, NewTriggerEvent
from graph.store.client_input import check_input
from graph.store.values import InvalidItem

TYPE = re.compile(rf"(?=.{{1,{LONGEST_TYPE}}}\Z)[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")
ANY_TYPE = re.compile(rf"[-.\w]{{1,{LONGEST_TYPE}}}", re.ASCII)
OWN_WORDS = ("earthquake", "endpoint", "sighting", "watches")  # first words of the service's own types
LONGEST_CORRELATION_ID = 256  # characters


def check_type(event_type: str) -> None:
    """Check the name of a type of events, which another program may have given.

    Raises:
        BadUserInput: No event can have it.
    """
    if not ANY_TYPE.fullmatch(event_type):
        raise BadUserInput(f"`type` must have 1 to {LONGEST_TYPE} characters: letters, digits, `_`, `-` and `.`.")


def check_event(event: NewTriggerEvent) -> None:
    """Check an event that a user creates. Its payload may be anything that is JSON.

    Raises:
        BadUserInput: A value cannot be stored, or the type is one of the service's own.
    """
    if not TYPE.fullmatch(event.event_type):
        raise BadUserInput(
            f"`type` must be words of letters, digits and `_`, separated by dots, at most {LONGEST_TYPE} characters."
        )
    if event.event_type.partition(".")[0] in OWN_WORDS:
        raise BadUserInput(f"`type` must not begin with {', '.join(OWN_WORDS)}: these types are the service's own.")
    payload: Any = event.payload
    if not isinstance(payload, dict):
        raise BadUserInput("`payload` must be an object.")
    try:
        TRIGGER_EVENT.named["payload"].check(payload)
    except InvalidItem as error:
        raise BadUserInput(f"`payload` cannot be stored: {error}.") from error
    correlation_id = event.metadata.get("correlation_id")
    if correlation_id is not None and not 0 < len(correlation_id) <= LONGEST_CORRELATION_ID:
        raise BadUserInput(f"`correlationId` must have 1 to {LONGEST_CORRELATION_ID} characters.")
    key = event.idempotency_key
    if key is not None and not (0 < len(key) <= LONGEST_IDEMPOTENCY_KEY and is_line(key)):
        raise BadUserInput(
            f"`idempotencyKey` must have 1 to {LONGEST_IDEMPOTENCY_KEY} characters, without control characters."
        )
    check_input(TRIGGER_EVENT, metadata=event.metadata)
