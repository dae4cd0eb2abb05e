"""Checks of a filter's bounds."""

from collections.abc import Collection

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.model import LONGEST_TEXT
from graph.store.values import MAGNITUDE_END

MOST_TEXTS = 100  # in a list of a filter; a store takes no more at once


def check_order(low_name: str, low: float | None, high_name: str, high: float | None) -> None:
    """Raise `BadUserInput` if the lower bound exceeds the upper one."""
    if low is not None and high is not None and low > high:
        raise BadUserInput(f"`{low_name}` must not be greater than `{high_name}`.")


def check_possible(name: str, value: float | None) -> None:
    """Raise `BadUserInput` for a number that stores cannot compare: one beyond 1e126."""
    if value is not None and not -MAGNITUDE_END < value < MAGNITUDE_END:
        raise BadUserInput(f"`{name}` is outside of all possible values: choose a realistic one.")


def check_texts(name: str, texts: Collection[str]) -> None:
    """Raise `BadUserInput` for too many texts, or for one that is longer than any of an event."""
    if len(texts) > MOST_TEXTS:
        raise BadUserInput(f"`{name}` takes at most {MOST_TEXTS} values.")
    if any(len(text) > LONGEST_TEXT for text in texts):
        raise BadUserInput(f"`{name}` takes values of at most {LONGEST_TEXT:,} characters.")
