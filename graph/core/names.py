"""The rule of names, and of other lines that people write and read: ids, names of files and services, keys, places.

Spaces of any width and the joiners inside words and emoji belong to a name: macOS, Excel and the scripts of Persian and
of India write them. What turns or hides the text beside it does not, nor what ends a line.
"""

from unicodedata import category

JOINERS = "\u200c\u200d"  # inside words of Persian and of India's scripts, and inside emoji

_REFUSED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # controls, formats, half surrogates, ends of lines
_UNASSIGNED = "Cn"


def is_line(text: str) -> bool:
    """Whether every character is visible, a space of any width, or joins the letters beside it."""
    return text.isprintable() or all(map(is_readable, text))


def is_readable(character: str) -> bool:
    """Whether a line may have the character: also one of a later Unicode than Python's, such as a new emoji."""
    if character.isprintable() or character in JOINERS:
        return True
    kind = category(character)
    return kind not in _REFUSED and not (kind == _UNASSIGNED and _is_no_character(ord(character)))


def _is_no_character(code: int) -> bool:
    """Whether Unicode will never assign it: the last two of each plane, and 32 in a block."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def camel_case(name: str) -> str:
    """A name of Python as the graph writes it: `min_depth` becomes `minDepth`."""
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)
