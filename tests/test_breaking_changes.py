"""The page for upgrading names each breaking change of the schema."""

import pytest

from scripts.breaking_changes import unnamed

RELEASED = """## To 1.0
directive @weight(of: Int) on FIELD_DEFINITION
enum Kind { ONE TWO }
input Choice { kind: Kind = ONE }
type One { one: Int }
type Two { two: Int }
union Either = One | Two
type Query { one(id: String!): Int!  two(choice: Choice): Int!  three: Int  more(first: Int! = 5): Either }
"""


@pytest.mark.parametrize(
    ("change", "coordinate"),
    [
        (("three: Int", ""), "Query.three"),
        (("one(id: String!): Int!", "one(id: String!): Float!"), "Query.one"),
        (("one(id: String!)", "one(id: ID!)"), "Query.one(id:)"),
        (("(choice: Choice)", ""), "Query.two(choice:)"),
        (("three", "three(all: Boolean!)"), "Query.three(all:)"),
        ((" TWO", ""), "Kind.TWO"),
        (("= ONE", "= TWO"), "Choice.kind"),
        (("kind: Kind", "other: Int!  kind: Kind"), "Choice.other"),
        (("enum Kind { ONE TWO }", "scalar Kind"), "Kind"),
        (("@weight", "@price"), "@weight"),
        ((" = 5", " = 6"), "Query.more(first:)"),
        ((" = 5", ""), "Query.more(first:)"),
        (("One | ", ""), "Either"),
    ],
)
def test_a_breaking_change_needs_its_coordinate_in_the_page(change: tuple[str, str], coordinate: str) -> None:
    present = RELEASED.replace(*change)

    assert [each.partition(": ")[0] for each in unnamed(RELEASED, present, "`Query.*` changed")] == [f"`{coordinate}`"]
    assert list(unnamed(RELEASED, present, f"- `{coordinate}` has changed.")) == []
    assert len(list(unnamed(RELEASED, present, f"## To 1.0\n- `{coordinate}` has changed."))) == 1


def test_a_pattern_names_fields_that_may_be_null_now_and_no_other_change() -> None:
    present = RELEASED.replace("Int!", "Int")

    assert list(unnamed(RELEASED, present, "`Query.*` may be null.")) == []
    assert len(list(unnamed(RELEASED, present, "`Mutation.*` may be null."))) == 2


def test_an_addition_breaks_nothing() -> None:
    assert list(unnamed(RELEASED, RELEASED.replace("three: Int", "three: Int  four: Int"), "")) == []
