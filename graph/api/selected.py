"""The attributes of records that a selection needs, so that a query reads these and no more.

    @strawberry.field(metadata=needs("lat", "lon"))  # a resolver says what it reads of its record
    async def nearby(event: strawberry.Parent[model.Event], …): …

    page = await catalogue.page(…, attributes=selected_attributes(info, model.Event))

A field without a resolver reads what the record has by its name. What a record says by its position
alone, such as its cursor, needs nothing, as a query reads the position anyway. A resolver that does
not say what it needs may need everything.

This depends on the document alone: `@skip` and `@include` are not looked at. So it is found out once
for each field of a document, and known for as long as the document is remembered.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any
from weakref import ref

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    InlineFragmentNode,
    SelectionSetNode,
    get_named_type,
)
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types import Info
from strawberry.types.field import StrawberryField

from graph.store.records import Record, Stored

Attributes = frozenset[str] | None
"""The attributes that are needed of a record, beside its position; None for all of them."""

_NEEDS = "needed_attributes"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a resolver reads of the records that it is given."""

    attributes: frozenset[str]
    passes_on: bool  # what is selected of its value is read of the same records


def needs(*attributes: str) -> Mapping[str, Needs]:
    """The metadata of a field whose resolver reads these attributes of its record, or of each of its page's records."""
    return {_NEEDS: Needs(frozenset(attributes), passes_on=False)}


def passes_records_on() -> Mapping[str, Needs]:
    """The metadata of a field whose value is its record, or its page's records, seen as another type."""
    return {_NEEDS: Needs(frozenset(), passes_on=True)}


def selected_attributes(info: Info[Any, Any], record_class: type[Record], type_name: str | None = None) -> Attributes:
    """What is needed of the records of a class that a field answers.

    Args:
        type_name: of the records in the graph, where the field answers an interface.
    """
    raw = info._raw_info
    found: set[str] = set()
    for node in raw.field_nodes:
        of_node = _known(node)
        key = (record_class, type_name)
        if key not in of_node:
            of_node[key] = _of_node(raw, node, record_class, type_name)
        if (attributes := of_node[key]) is None or len(raw.field_nodes) == 1:
            return attributes
        found |= attributes
    return frozenset(found)


_Known = dict[tuple[type[Record], str | None], Attributes]
_of_nodes: dict[int, tuple["ref[FieldNode]", _Known]] = {}
"""Identity of a field's node → what is known of it. Nodes are equal where they read alike, in whatever document."""


def _known(node: FieldNode) -> _Known:
    key = id(node)
    if (known := _of_nodes.get(key)) is None:
        known = _of_nodes[key] = (ref(node, lambda _: _of_nodes.pop(key, None)), {})
    return known[1]


def _of_node(
    raw: GraphQLResolveInfo[Any], node: FieldNode, record_class: type[Record], type_name: str | None
) -> Attributes:
    reading = _Reading(raw.schema, raw.fragments, record_class)
    of = raw.schema.type_map[type_name] if type_name else get_named_type(raw.return_type)
    if node.selection_set:
        reading.select(of, node.selection_set)
    return None if reading.everything else frozenset(reading.attributes)


class _Reading:
    """The reading of what is selected of one field."""

    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], record_class: type[Record]
    ) -> None:
        self.attributes: set[str] = set()
        self.everything = False
        self._schema = schema
        self._fragments = fragments
        self._record_class = record_class
        self._spread: set[tuple[str, str]] = set()

    def select(self, of: GraphQLNamedType, selection_set: SelectionSetNode) -> None:
        """Take in what a selection set needs of records that are of a type."""
        for selection in selection_set.selections:
            match selection:
                case FieldNode() if selection.name.value != "__typename":
                    self._field(of, selection)
                case InlineFragmentNode():
                    self._fragment(of, selection)
                case FragmentSpreadNode() if (of.name, selection.name.value) not in self._spread:
                    self._spread.add((of.name, selection.name.value))
                    self._fragment(of, self._fragments[selection.name.value])

    def _fragment(self, of: GraphQLNamedType, fragment: InlineFragmentNode | FragmentDefinitionNode) -> None:
        condition = fragment.type_condition
        named = self._schema.type_map[condition.name.value] if condition else of
        if named is of or not isinstance(named, GraphQLObjectType):
            self.select(of, fragment.selection_set)

    def _field(self, of: GraphQLNamedType, node: FieldNode) -> None:
        definition = self._schema.get_field(of, node.name.value) if isinstance(of, GraphQLObjectType) else None
        field = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF) if definition else None
        if definition is None or not isinstance(field, StrawberryField):
            self.everything = True
        elif isinstance(declared := field.metadata.get(_NEEDS), Needs):
            self.attributes |= declared.attributes
            if declared.passes_on and node.selection_set:
                self.select(get_named_type(definition.type), node.selection_set)
        elif field.base_resolver is not None:
            self.everything = True
        else:
            self._attribute(field.python_name)

    def _attribute(self, name: str) -> None:
        """Take in what the record has by a name."""
        match getattr_static(self._record_class, name, None):
            case Stored(attribute=attribute):
                self.attributes.add(attribute)
            case _ if name not in self._record_class.by_position:
                self.everything = True
