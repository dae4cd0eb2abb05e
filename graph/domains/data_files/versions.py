"""The order of versions: `1.9.0` is before `1.10.0`, and `1.2.3rc1` before `1.2.3`."""

import re
from functools import lru_cache

KEPT = 1024  # orders; a list compares the few versions of its files thousands of times

_TOKEN = re.compile(r"\d+|[a-z]+")
_WORD, _END, _NUMBER = "a", "m", "n"  # a word makes a version earlier, a further number later


@lru_cache(KEPT)
def order_of(version: str) -> str:
    """A text that orders versions, by the code points of its characters.

    Each number of a version is written with the number of its digits before it.
    """
    tokens = [_ordered(token) for token in _TOKEN.findall(version.lower())]
    return " ".join([*tokens, _END])


def major_of(version: str) -> str:
    """The beginning that the orders of all versions with the same first number have."""
    return order_of(version).partition(" ")[0] + " "


def _ordered(token: str) -> str:
    if token.isdecimal():
        digits = token.lstrip("0")
        return f"{_NUMBER}{len(digits):02}{digits}"
    return _WORD + token
