"""The rule of names: which characters they may have."""

import sys
from unicodedata import category

from graph.core.names import is_line, is_readable

NAMES = [
    "売上\u30002024.csv",  # Excel in Japan: an ideographic space
    "Screenshot 3.04.05\u202fPM.png",  # macOS: a narrow no-break space
    "a\u00a0b",
    "می\u200cلرزد",  # Persian: a joiner
    "\U0001f469\u200d\U0001f692",  # an emoji of two, and one of a later Unicode than Python's
    "\U0001fac8",
    "a\uf022b",  # macOS on a share of Windows: for a character that names cannot have there
]
NO_NAMES = [
    *("bell\a", "nothing\0", "a\tb", "two\nlines", "\x9b31m", "line\u2028separator", "paragraph\u2029", "\uffff"),
    *("right\u202eleft", "\u2066isolate", "\u200emark", "\ufeffmark", "\u2060word", "\U000e0041tag"),
]


def test_a_name_may_have_spaces_of_any_width_joiners_and_new_characters() -> None:
    assert [name for name in NAMES if not is_line(name)] == []


def test_a_name_has_nothing_that_ends_a_line_or_turns_or_hides_what_is_beside_it() -> None:
    assert [name for name in NO_NAMES if is_line(name)] == []


def test_every_character_that_can_be_printed_may_be_in_a_name_and_no_control() -> None:
    characters = list(map(chr, range(sys.maxunicode + 1)))

    assert all(map(is_readable, filter(str.isprintable, characters)))
    assert not any(is_readable(each) for each in characters if category(each) in ("Cc", "Cs", "Zl", "Zp"))
