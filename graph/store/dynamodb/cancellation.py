"""The reasons why DynamoDB cancelled a transaction: one for each action, in order."""

from botocore.exceptions import ClientError

from graph.store.values import InvalidItem

HELD = "None"
REFUSED = "ConditionalCheckFailed"
INVALID = frozenset({"ValidationError", "ItemCollectionSizeLimitExceeded"})


def refused_positions(error: ClientError) -> tuple[int, ...]:
    """The positions of the actions whose condition did not hold.

    Raises:
        InvalidItem: An action can never be applied.
    """
    reasons = _reasons(error)
    for reason in reasons:
        if reason["Code"] in INVALID:
            raise InvalidItem(reason.get("Message", reason["Code"])) from error
    return tuple(at for at, reason in enumerate(reasons) if reason["Code"] == REFUSED)


def may_pass(error: ClientError) -> bool:
    """Whether a reason is temporary: a conflict, throttling, or an unknown one.

    Then further conditions may not hold, since an action in conflict was not tested.
    """
    return any(reason["Code"] not in {HELD, REFUSED} for reason in _reasons(error))


def _reasons(error: ClientError) -> list[dict[str, str]]:
    reasons: list[dict[str, str]] = error.response.get("CancellationReasons", [])  # type: ignore[assignment]
    return reasons
