"""Checks what users write."""

from graph.core.errors import BadUserInput
from graph.core.names import is_line
from graph.store.attributes import Attribute
from graph.store.client_input import check_attribute


def check_text(attribute: Attribute, text: str) -> None:
    """Check a text that other people will read: one of several lines, as `check_line` says.

    Raises:
        BadUserInput: It has markup or control characters, or is too long or empty.
    """
    check_attribute(attribute, text)
    check_line(attribute.name, text.replace("\n", " "))


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
