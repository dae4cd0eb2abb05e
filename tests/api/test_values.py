"""A value is a type of the graph, with the words and types of its declaration."""

import strawberry

from graph.api.fields import field
from graph.api.sizes import Cost, ListSize
from graph.api.values import value_type
from graph.core.described import described, value


@value
class Part:
    """A part,
    of a whole."""

    number: int = described("Its number.")
    hidden: int = 0


@value
class Whole:
    """A whole."""

    parts: tuple[Part, ...] = described("Its parts.")
    reason: str | None = described("Why there are none.", default=None)


value_type(Part, each=[Cost(weight="0.1")])
value_type(Whole, "AllParts", parts=[ListSize(assumed_size=2)])


@strawberry.type
class Query:
    @field("The whole.")
    @staticmethod
    def whole() -> Whole:
        return Whole((Part(1), Part(2, hidden=3)))


async def test_a_value_is_answered_as_it_is_and_shows_what_is_described() -> None:
    schema = strawberry.Schema(Query)

    answer = await schema.execute("{ whole { __typename parts { number } reason } }")

    assert answer.data == {"whole": {"__typename": "AllParts", "parts": [{"number": 1}, {"number": 2}], "reason": None}}
    assert '''"""A part, of a whole."""
type Part {
  """Its number."""
  number: Int! @cost(weight: "0.1")
}''' in schema.as_str()
    assert "parts: [Part!]! @listSize(assumedSize: 2)" in schema.as_str()
