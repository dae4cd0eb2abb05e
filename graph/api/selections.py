"""The fields that a document selects, those of its fragments included, their arguments, and its variables' defaults."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    value_from_ast_untyped,
)

T = TypeVar("T")


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


def fields_of(
    schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterator[tuple[GraphQLObjectType | GraphQLInterfaceType, GraphQLField, FieldNode]]:
    """The fields of a valid operation and its fragments, each once, with their types and definitions."""
    root = schema.get_root_type(operation.operation)
    assert root is not None  # noqa: S101 — the document is valid
    below: list[tuple[GraphQLNamedType, SelectionSetNode]] = [(root, operation.selection_set)]
    spread: set[str] = set()
    while below:
        for parent, node in selected_fields(schema, fragments, *below.pop(), spread):
            if not isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
                continue  # `__typename` of a union
            if definition := schema.get_field(parent, node.name.value):
                yield parent, definition, node
                if node.selection_set:
                    below.append((get_named_type(definition.type), node.selection_set))


def by_variables(
    operation: OperationDefinitionNode, found: Sequence[tuple[Callable[[Mapping[str, Any]], T], FieldNode]]
) -> Callable[[Mapping[str, Any]], list[T]]:
    """Variables of an operation → what these functions make of the arguments of their fields, all of them unchecked."""
    defaults = defaults_of(operation)

    def made(variables: Mapping[str, Any]) -> list[T]:
        given = {**defaults, **variables}
        return [make(arguments_of(node, given)) for make, node in found]

    return made


def arguments_of(node: FieldNode, variables: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a field of a document, unchecked."""
    return {each.name.value: value_from_ast_untyped(each.value, variables) for each in node.arguments or ()}


def defaults_of(operation: OperationDefinitionNode) -> dict[str, Any]:
    """The default values of an operation's variables, unchecked."""
    return {
        variable.variable.name.value: value_from_ast_untyped(variable.default_value)
        for variable in operation.variable_definitions or ()
        if variable.default_value
    }
