"""The folded form of a text."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.store.folding import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        ("Pāhala", "pahala"),
        ("Pa\u0304hala", "pahala"),
        ("QUARRY_BLAST", "quarry blast"),
        ("＿Ā_", " a "),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("İıſK", "iisk"),
        ("Tromsø Łódź Iğdır Đakovo Æbeltoft Þorlákshöfn", "tromso lodz igdir dakovo aebeltoft thorlakshofn"),
        ("Hawaiʻi Hawai’i HAWAI'I Oʻahu Qaʾim Puʻu Pu`u Puꞌu Pu′u", "hawaii hawaii hawaii oahu qaim puu puu puu puu"),
        ("Ελ Дж 北", "ελ дж 北"),  # only Latin letters are written without strokes
        ("ﬃ Ⅷ ①", "ffi viii 1"),
        ("ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"),
        ("Й", "и"),
        ("a\x00B", "a\x00b"),
        ("100% 'sure' \\", "100% sure \\"),
    ],
)
def test_a_text_folds_without_case_accents_and_underscores(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_every_character_is_folded_once_and_for_all() -> None:
    characters = map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1)))

    changed = ((character, folded) for character in characters if (folded := fold(character)) != character)
    assert [character for character, folded in changed if fold(folded) != folded] == []


@given(st.text(), st.text())
def test_a_part_of_a_text_folds_to_a_part_of_its_folded_form(beginning: str, end: str) -> None:
    assert fold(beginning + end) == fold(beginning) + fold(end)
