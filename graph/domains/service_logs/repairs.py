"""Repairs what would keep a log from being stored, where the log is worth more than the exact text.

A log says what was changed in it: under `quakegraph.changed` in its metadata.
"""

from collections.abc import Mapping
from typing import Any

from graph.domains.service_logs.entities import LONGEST_MESSAGE
from graph.store.values import DEPTH

CHANGED = "quakegraph.changed"
HALF_CHARACTER = "half a surrogate pair replaced"


def whole_characters(text: str) -> str:
    """The text, with U+FFFD in place of each half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_values(value: Any, depth: int = 0) -> Any:
    """The same of all texts in a value of JSON. What is nested too deeply to be stored stays as it is."""
    if isinstance(value, str):
        return whole_characters(value)
    if depth < DEPTH:
        if isinstance(value, Mapping):
            return {whole_values(name): whole_values(each, depth + 1) for name, each in value.items()}
        if isinstance(value, list):
            return [whole_values(each, depth + 1) for each in value]
    return value


def shortened(message: str) -> str:
    """The beginning of a message that is too long, with its length behind it."""
    mark = f"… ({len(message):,} characters)"
    return message[: LONGEST_MESSAGE - len(mark)] + mark
