"""Checks what users write."""

from graph.core.errors import BadUserInput
from graph.store.client_input import check_input
from graph.store.entity import Entity


def check_text(entity: Entity, name: str, text: str) -> None:
    """Check a text that other people will read: it has no markup and no control characters but line breaks.

    Raises:
        BadUserInput: It has, or is too long or empty.
    """
    check_input(entity, **{name: text})
    if not text.strip():
        raise BadUserInput(f"`{name}` must not be empty.")
    if "<" in text or ">" in text:
        raise BadUserInput(f"`{name}` must not have `<` or `>`: markup is not shown.")
    if not text.replace("\n", " ").isprintable():
        raise BadUserInput(f"`{name}` must not have control characters.")
