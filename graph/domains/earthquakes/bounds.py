"""Checks of a filter's bounds."""

from graph.core.errors import BadUserInput
from graph.store.values import InvalidItem, check_value


def check_order(low_name: str, low: float | None, high_name: str, high: float | None) -> None:
    """Raise `BadUserInput` if the lower bound exceeds the upper one."""
    if low is not None and high is not None and low > high:
        raise BadUserInput(f"`{low_name}` must not be greater than `{high_name}`.")


def check_possible(name: str, value: float | None) -> None:
    """Raise `BadUserInput` for a number that stores cannot compare: beyond 1e126, or too close to zero."""
    if value is None:
        return
    try:
        check_value(value)
    except InvalidItem as error:
        raise BadUserInput(f"`{name}` is outside of all possible values: choose a realistic one.") from error
