"""A value is a type of the graph, with the words and types of its declaration."""

from typing import Any

import strawberry
from strawberry.schema.config import StrawberryConfig

from graph.api.fields import field
from graph.api.record_type import value_type
from graph.api.scalars import SCALARS
from graph.core.described import described, instant, value


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
    made_at: int = instant("When it was made; it is old.")
    reason: str | None = described("Why there are none.", default=None)
    others: Any | None = described("What else it has.", default=None)

    @property
    def size(self) -> int:
        """The number of
        its parts."""
        return len(self.parts)


value_type(Part, number={"cost": 2})
value_type(Whole, "AllParts", parts={"size": 2}, reason={"name": "why"}, computed=["size"])


@strawberry.type
class Query:
    @field("The whole.")
    @staticmethod
    def whole() -> Whole:
        return Whole((Part(1), Part(2, hidden=3)), 1000, others={"a": [1]})


async def test_a_value_is_answered_as_it_is_and_shows_what_is_described() -> None:
    schema = strawberry.Schema(Query, config=StrawberryConfig(scalar_map=SCALARS))

    answer = await schema.execute("{ whole { __typename parts { number } madeAt why others size } }")

    assert answer.data == {
        "whole": {
            "__typename": "AllParts",
            "parts": [{"number": 1}, {"number": 2}],
            "madeAt": "1970-01-01T00:00:01.000Z",
            "why": None,
            "others": {"a": [1]},
            "size": 2,
        }
    }
    assert '''"""A part, of a whole."""
type Part {
  """Its number."""
  number: Int! @cost(weight: 2)
}''' in schema.as_str()
    assert '''type AllParts {
  """Its parts."""
  parts: [Part!]! @listSize(assumedSize: 2)

  """When it was made; it is old."""
  madeAt: DateTime!

  """Why there are none."""
  why: String

  """What else it has."""
  others: JSON

  """The number of its parts."""
  size: Int!
}''' in schema.as_str()
