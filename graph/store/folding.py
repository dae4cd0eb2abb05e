"""The folded form of a text, by which a reader's words find it however they are written.

Folding drops case, accents and `_`: "Pāhala" → "pahala", "QUARRY_BLAST" → "quarry blast", "Straße" → "strasse". It
works character by character, so a part of a text folds to a part of its folded form.
"""

from functools import lru_cache
from unicodedata import combining, normalize

LONGEST_REMEMBERED = 100  # characters


def fold(text: str) -> str:
    """The folded text: compatibility forms (NFKD) without combining marks, case-folded, with a space for each `_`."""
    if text.isascii():
        return text.lower().replace("_", " ")
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _folded(text)


def _folded(text: str) -> str:
    base = "".join([character for character in normalize("NFKD", text) if not combining(character)])
    return base.casefold().replace("_", " ")


_remembered = lru_cache(maxsize=20_000)(_folded)
"""The same, for some 6 MB of texts: places repeat, and to look one up takes a tenth of the time."""
