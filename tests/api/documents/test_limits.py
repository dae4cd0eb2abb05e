"""The limits of a document's size and shape: what is over is named, and no document takes long to check."""

import pytest
from graphql import parse

from graph.api.documents.limits import check_shape, check_text
from graph.core.errors import QueryTooComplex
from tests.settings import Settings

DEFAULTS = Settings()


def limited(**limits: int) -> Settings:
    """The default settings with these limits, also impossible ones."""
    return DEFAULTS.model_copy(update={f"max_{name}": most for name, most in limits.items()})


NONE_AT_ALL = dict.fromkeys(("definitions", "depth", "aliases", "directives", "root_fields"), 10**9)

# What the limit is of, a document that has as many as the number says.
MEASURED = [
    ("definitions", 1, "{ a }"),
    ("definitions", 3, "query A { ...F } query B { a } fragment F on Q { a }"),
    ("depth", 1, "{ a }"),
    ("depth", 3, "{ a { b { c } } }"),
    ("depth", 3, "{ ... { a { ... on B { b { c } } } } }"),
    ("depth", 4, "{ a { ...F } } fragment F on A { b { ...G } } fragment G on B { c { d } }"),
    ("depth", 4, "fragment G on B { c { d } } fragment F on A { b { ...G } } { a { ...F } }"),
    ("depth", 2, "fragment F on A { b { c } } { a }"),
    ("aliases", 0, "{ a { b } }"),
    ("aliases", 2, "{ x: a { ... { y: b } } }"),
    ("aliases", 1, "{ ...F ...F } fragment F on Q { x: a }"),
    ("directives", 4, "query ($v: Int @b) @c { a @d ...F ... @e { a } } fragment F on Q { a }"),
    ("directives", 2, "{ ...F @a } fragment F on Q @b { a }"),
    ("directives", 3, "{ a @x @x @x }"),
    ("root_fields", 1, "{ a { b c d } }"),
    ("root_fields", 3, "{ a a a }"),
    ("root_fields", 4, "{ a ...F ... { b } } fragment F on Q { c { x y } ...G } fragment G on Q { d }"),
    ("root_fields", 2, "query A { a } query B { a b }"),
]
TOLD = {
    "definitions": "definitions",
    "depth": "levels of fields",
    "aliases": "aliases",
    "directives": "directives",
    "root_fields": "root fields",
}


@pytest.mark.parametrize(("limit", "number", "text"), MEASURED)
def test_a_document_may_have_as_many_as_its_limit_and_not_one_more(limit: str, number: int, text: str) -> None:
    document = parse(text)

    check_shape(document, limited(**NONE_AT_ALL | {limit: number}))
    if number:
        with pytest.raises(QueryTooComplex) as caught:
            check_shape(document, limited(**NONE_AT_ALL | {limit: number - 1}))
        message = f"The document has {number:,} {TOLD[limit]}, and may have {number - 1:,}: send a smaller one."
        assert str(caught.value) == message


def test_a_text_may_have_as_many_bytes_as_its_limit() -> None:
    limits = limited(document_bytes=10)

    for text in ("x" * 10, "é" * 5, "\ud800" * 10):
        check_text(text, limits)
    for text in ("x" * 11, "é" * 6, "\ud800" * 11):
        with pytest.raises(QueryTooComplex, match="and may have 10"):
            check_text(text, limits)


def test_limits_leave_invalid_documents_to_validation() -> None:
    for text in (
        "{ ...A } fragment A on Q { ...A }",
        "{ ...A } fragment A on Q { a { ...B } } fragment B on Q { b { ...A } }",
        "{ a } fragment A on Q { ...B } fragment B on Q { ...C } fragment C on Q { ...A }",
        "{ ...Nowhere a { ...Nowhere } }",
    ):
        check_shape(parse(text), DEFAULTS)


def test_fragments_that_multiply_are_counted_without_being_followed_each_time() -> None:
    """Spread out, this has two to the power of 200 fields."""
    fragments = [f"fragment F{i} on Q {{ ...F{i + 1} ...F{i + 1} }}" for i in range(200)]
    document = parse("{ ...F0 }" + "".join(fragments) + "fragment F200 on Q { a }")

    with pytest.raises(QueryTooComplex, match=rf"has {2**200:,} root fields"):
        check_shape(document, limited(definitions=1000))


def test_a_long_chain_of_fragments_is_no_deeper_than_its_fields() -> None:
    fragments = [f"fragment F{i} on Q {{ ...F{i + 1} }}" for i in range(5000)]

    check_shape(parse("{ ...F0 }" + "".join(fragments) + "fragment F5000 on Q { a }"), limited(definitions=10_000))


def test_the_fields_of_an_operation_are_counted_as_often_as_they_are_spread() -> None:
    text = "query A { a ...F } query B { ...F b { ...F } } fragment F on Q { c { d } ...G } fragment G on Q { e }"

    assert check_shape(parse(text), DEFAULTS).fields == (4, 7)
