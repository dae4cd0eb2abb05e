"""The fields that a document selects on an object, those of its fragments included, and its variables' defaults."""

from collections.abc import Iterator, Mapping
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    value_from_ast_untyped,
)


def selected_fields(
    schema: GraphQLSchema,
    fragments: Mapping[str, FragmentDefinitionNode],
    parent: GraphQLNamedType,
    selection_set: SelectionSetNode,
    spread: set[str],
) -> Iterator[tuple[GraphQLNamedType, FieldNode]]:
    """The fields of a selection set and of its fragments, each with the type that it is selected on.

    Args:
        parent: the type of the selection set.
        spread: names of fragments, which are left out; gets the names of those that were spread here.
    """
    for selection in selection_set.selections:
        match selection:
            case FieldNode():
                yield parent, selection
            case InlineFragmentNode(type_condition=condition):
                of = schema.type_map[condition.name.value] if condition else parent
                yield from selected_fields(schema, fragments, of, selection.selection_set, spread)
            case FragmentSpreadNode() if (name := selection.name.value) not in spread:
                spread.add(name)
                fragment = fragments[name]
                of = schema.type_map[fragment.type_condition.name.value]
                yield from selected_fields(schema, fragments, of, fragment.selection_set, spread)


def defaults_of(operation: OperationDefinitionNode) -> dict[str, Any]:
    """The default values of an operation's variables, unchecked."""
    return {
        variable.variable.name.value: value_from_ast_untyped(variable.default_value)
        for variable in operation.variable_definitions or ()
        if variable.default_value
    }
