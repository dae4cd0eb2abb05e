"""Repairs what would keep a log from being stored, where the log is worth more than the exact text.

A log says what was changed in it: under `quakegraph.changed` in its metadata.
"""

from collections.abc import Mapping
from typing import Any

from graph.domains.service_logs.model import LONGEST_MESSAGE
from graph.store.values import DEPTH, written_bytes

CHANGED = "quakegraph.changed"
HALF_CHARACTER = "half a surrogate pair replaced"
LEAST_TEXT = 200  # bytes; what has less room is left out
MOST_NAMED, LONGEST_NAMED = 5, 64  # names that the log says, and their characters, so that it has room for them


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
    mark = _mark(message)
    return message[: LONGEST_MESSAGE - len(mark)] + mark


def _mark(text: str) -> str:
    return f"… ({len(text):,} characters)"


def sizes_of(metadata: Mapping[str, Any]) -> dict[str, int]:
    """The bytes of each name with its value, which can be stored: at least as many as DynamoDB counts."""
    return {
        name: 1 + len(name.encode()) + (len(value.encode()) if isinstance(value, str) else written_bytes(value))
        for name, value in metadata.items()
    }


def fitting(metadata: Mapping[str, Any], most: int) -> tuple[dict[str, Any], list[str]]:
    """Metadata within so many bytes, and what was changed: long texts are cut, and other long values left out.

    Each value may take an equal part of the room that shorter ones leave.

    Args:
        metadata: what can be stored but for its size.
    """
    room, sizes = most, sizes_of(metadata)
    kept, changed = dict(metadata), list[str]()
    for number, name in enumerate(sorted(sizes, key=sizes.__getitem__)):
        value, part = metadata[name], room // (len(sizes) - number)
        room -= min(sizes[name], part)
        if sizes[name] <= part:
            continue
        left = part - 1 - len(name.encode())
        if isinstance(value, str) and left >= LEAST_TEXT:
            mark = _mark(value)
            kept[name] = value.encode()[: left - len(mark.encode())].decode(errors="ignore") + mark
            changed.append(f"{name[:LONGEST_NAMED]} cut from {len(value):,} characters")
        else:
            del kept[name]
            changed.append(f"{name[:LONGEST_NAMED]} left out: it is too large")
    more = len(changed) - MOST_NAMED
    return kept, [*changed[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]
