"""What operations cost is never less than what is resolved, for any query that another project makes of the schema."""

from typing import Any

from graphql import parse
from hypothesis import given
from hypothesis_graphql import queries

from graph.api.documents.cost import points_of
from tests.api.documents.test_cost import priced
from tests.schemas import printed
from tests.service import Service


def resolved(value: Any) -> float:
    """How many fields an answer has, further values of an object as a part of one."""
    if isinstance(value, dict):
        values = [each for each in value.values() if not isinstance(each, dict | list)]  # a null may be an object
        others = points_of(len(value)) - points_of(len(values))  # lists of values among them
        return points_of(len(values)) + others + sum(map(resolved, value.values()))
    return sum(map(resolved, value)) if isinstance(value, list) else 0


@given(queries(printed(), fields=["events", "event", "node", "nodes", "requestLogs"]))
def test_a_cost_is_never_less_than_the_fields_of_the_answer(week: Service, text: str) -> None:
    answer = week.answer(text)
    if "errors" not in answer:
        assert resolved(answer["data"]) <= priced(parse(text))
