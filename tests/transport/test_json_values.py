"""Values of JSON are counted before they are parsed, and signs in texts are no values."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import BadRequest
from graph.transport.json_values import PIECE_BYTES, parsed_json

TEXTS = st.text(alphabet='a,[{"\\é', max_size=30)
DOCUMENTS = st.recursive(
    st.none() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
)


def values_in(value: object) -> int:
    """How many values there are, itself included."""
    nested = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(values_in, nested))


@given(DOCUMENTS, st.integers(0, 3))
async def test_as_many_values_are_taken_as_there_are_wherever_a_piece_ends(document: object, before: int) -> None:
    filled = ["\\," * (PIECE_BYTES // 4 - 20) + "x" * before, document]  # its end lies about the end of a piece
    body = orjson.dumps(filled)

    values = values_in(filled)
    assert (await parsed_json(body, "it", values + empty_in(document)))[0] == filled
    with pytest.raises(BadRequest, match="has more than"):
        await parsed_json(body, "it", values - 1)


def empty_in(value: object) -> int:
    """How many lists and objects are empty: each counts as one value too many."""
    nested = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (value in ([], {})) + sum(map(empty_in, nested))
