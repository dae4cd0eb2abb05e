"""The errors of the triggers."""

from graph.core.errors import BadUserInput


class Conflict(BadUserInput):
    """The object's state does not allow the change."""

    code, status = "CONFLICT", 409


class IdempotencyKeyReused(BadUserInput):
    """Another event was created with the key."""

    code, status = "IDEMPOTENCY_KEY_REUSED", 409

    def __init__(self) -> None:
        super().__init__(
            "`idempotencyKey` was used for an event with another type or payload: use a new key for each event."
        )
