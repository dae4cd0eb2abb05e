"""Tests the folded texts of a column in SQL: a million of about 45 characters in 0.3 s.

Python's `fold` alone would take 1.7 s, and it needs the interpreter for each text. So SQL calls it only for texts that
SQLite cannot fold itself: with a character beyond ASCII, or with NUL, at which SQLite's functions end. They have more
bytes than `length` counts characters. Even SQLite's own folding takes longer than all the rest. So it is only done for
texts that pass a sieve: those of a possible length, or those that LIKE finds.
"""

from typing import Any

from graph.store.conditions import HasText, SameText
from graph.store.folding import fold

FOLD = "folded"  # `fold` on the connections that read
LONGEST_SIEVE = 100  # characters; SQLite refuses patterns of more than 50,000 bytes


def folded_test(column: str, condition: SameText | HasText) -> tuple[str, list[Any]]:
    """The condition on a column in SQL, and the values that it binds. A `SameText` has at least one text."""
    match condition:
        case SameText(_, texts):
            wanted = list(dict.fromkeys(map(fold, texts)))
            lengths = [len(text) for text in wanted]
            folded = _folded(column, f"length({column}) BETWEEN ? AND ?")
            return f"{folded} IN ({', '.join('?' * len(wanted))})", [min(lengths), max(lengths), *wanted]
        case HasText(_, text):
            part = fold(text)
            # In LIKE, `_` is any character: one that folds to a space, or a `%`, which would make LIKE slow.
            pattern = part[:LONGEST_SIEVE].replace(" ", "_").replace("%", "_")
            return f"instr({_folded(column, f'{column} LIKE ?')}, ?)", [f"%{pattern}%", part]


def _folded(column: str, sieve: str) -> str:
    """The folded text of a column, or NULL: without a text, or if the sieve for ASCII holds it back."""
    return (
        f"CASE WHEN length({column}) <> length(CAST({column} AS BLOB)) THEN {FOLD}({column}) "
        f"WHEN {sieve} THEN lower(replace({column}, '_', ' ')) END"
    )
