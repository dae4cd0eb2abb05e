"""The fields that a document selects, through fragments of every kind."""

from graphql import FragmentDefinitionNode, OperationDefinitionNode, parse

from graph.api.selections import selected_fields
from tests.schemas import schema

TEXT = """
{
  node(id: "x") {
    id
    ... on Event { mag ...Place ... @include(if: true) { lat } }
    ...Place
    ... on RequestLog { ...Route }
    __typename
  }
}
fragment Place on Event { place ...Again }
fragment Again on Node { id }
fragment Route on RequestLog { route }
"""


def fields(spread: set[str]) -> list[tuple[str, str]]:
    """The types and names of the fields that are selected on the node."""
    operation, *definitions = parse(TEXT).definitions
    assert isinstance(operation, OperationDefinitionNode)
    fragments = {each.name.value: each for each in definitions if isinstance(each, FragmentDefinitionNode)}
    (root,) = selected_fields(schema, fragments, schema.type_map["Query"], operation.selection_set, set())
    selected = root[1].selection_set
    assert selected is not None
    found = selected_fields(schema, fragments, schema.type_map["Node"], selected, spread)
    return [(of.name, node.name.value) for of, node in found]


def test_each_field_comes_with_the_type_that_it_is_selected_on_and_each_fragment_once() -> None:
    spread: set[str] = set()

    assert fields(spread) == [
        ("Node", "id"),
        ("Event", "mag"),
        ("Event", "place"),
        ("Node", "id"),
        ("Event", "lat"),
        ("RequestLog", "route"),
        ("Node", "__typename"),
    ]
    assert spread == {"Place", "Again", "Route"}
    again = fields({"Place"})  # which was spread before
    assert (("Event", "place") in again, ("RequestLog", "route") in again) == (False, True)
