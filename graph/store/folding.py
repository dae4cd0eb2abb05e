"""The folded form of a text, by which a reader's words find it however they are written.

Folding drops case, accents and `_`: "Pāhala" → "pahala", "QUARRY_BLAST" → "quarry blast", "Straße" → "strasse". It
works character by character, so a part of a text folds to a part of its folded form.
"""

from unicodedata import combining, normalize


def fold(text: str) -> str:
    """The folded text: compatibility forms (NFKD) without combining marks, case-folded, with a space for each `_`."""
    if text.isascii():
        return text.lower().replace("_", " ")
    base = "".join([character for character in normalize("NFKD", text) if not combining(character)])
    return base.casefold().replace("_", " ")
