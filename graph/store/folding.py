"""The folded form of a text, by which a reader's words find it however they are written.

Folding drops case, accents, apostrophes and `_`, and writes Latin letters without their strokes: "Pāhala" → "pahala",
"QUARRY_BLAST" → "quarry blast", "Straße" → "strasse", "Tromsø" → "tromso", "Hawaiʻi" → "hawaii". It works character by
character, so a part of a text folds to a part of its folded form.
"""

from functools import lru_cache
from unicodedata import combining, name, normalize

from anyascii import anyascii

APOSTROPHES = "'`‘’‛′ʹʻʼʽʾʿꞋꞌ"  # also as letters: the Hawaiian ʻokina, hamza and ayin
LONGEST_REMEMBERED = 100  # characters


def fold(text: str) -> str:
    """The folded text: compatibility forms (NFKD) as above, case-folded, with a space for each `_`."""
    if text.isascii():
        return text.lower().replace("_", " ").replace("'", "").replace("`", "")
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _folded(text)


def _folded(text: str) -> str:
    base = "".join([character if character.isascii() else _base(character) for character in normalize("NFKD", text)])
    return base.casefold().replace("_", " ").replace("'", "").replace("`", "")


@lru_cache(maxsize=4096)
def _base(character: str) -> str:
    """The case-folded character, in ASCII if it is a Latin letter; nothing for a mark or an apostrophe."""
    if combining(character) or character in APOSTROPHES:
        return ""
    folded = character.casefold()
    is_latin = len(folded) == 1 and name(folded, "").startswith("LATIN ")
    return letters if is_latin and (letters := anyascii(folded)).isalpha() else folded


_remembered = lru_cache(maxsize=20_000)(_folded)
"""The same, for some 6 MB of texts: places repeat, and to look one up takes a tenth of the time."""
