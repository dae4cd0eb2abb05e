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


class NotThere(BadUserInput):
    """The caller has no such object."""

    code, status = "NOT_FOUND", 404

    def __init__(self, argument: str, kind: str) -> None:
        super().__init__(f"You have no {kind} with the id that `{argument}` names.")


class TooMany(BadUserInput):
    """The caller has as many objects of a kind as it may have."""

    code = "TOO_MANY"

    def __init__(self, most: int, kinds: str) -> None:
        super().__init__(f"You have {most:,} {kinds}, which is the limit: delete one first.")
