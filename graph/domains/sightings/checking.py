"""Checks what users write."""

from graph.core.errors import BadUserInput
from graph.core.names import is_line
from graph.store.client_input import check_input
from graph.store.entity import Entity


def check_text(entity: Entity, name: str, text: str) -> None:
    """Check a text that other people will read: one of several lines, as `check_line` says.

    Raises:
        BadUserInput: It has markup or control characters, or is too long or empty.
    """
    check_input(entity, **{name: text})
    check_line(name, text.replace("\n", " "))


def check_line(name: str, text: str) -> None:
    """Check a line that other people will read: it has no markup, and nothing that turns or hides what is beside it.

    Raises:
        BadUserInput: It has, or is empty.
    """
    if not text.strip():
        raise BadUserInput(f"`{name}` must not be empty.")
    if "<" in text or ">" in text:
        raise BadUserInput(f"`{name}` must not have `<` or `>`: markup is not shown.")
    if not is_line(text):
        raise BadUserInput(f"`{name}` must not have control characters.")
