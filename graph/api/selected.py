"""The attributes of records that a selection needs. A query reads only these.

    @strawberry.field(metadata=needs("lat", "lon"))  # a resolver declares what it reads of its record
    async def nearby(event: strawberry.Parent[model.Event], …): …

    page = await catalogue.page(…, attributes=selected_attributes(info, model.Event))

A field without a resolver needs the record's attribute of its name. A field that is computed from the
record's position, such as the cursor, needs nothing: every query reads the position. A resolver
without a declaration may need everything.

The needs depend only on the document, not on `@skip` and `@include`. So they are computed once for
each field of a document, and kept as long as the document is.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any
from weakref import ref

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    SelectionSetNode,
    get_named_type,
)
from strawberry.types import Info

from graph.api.fast.plain_fields import field_of
from graph.api.selections import selected_fields
from graph.store.query import Needed
from graph.store.records import Derived, Record, Stored

_NEEDS = "needed_attributes"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a resolver reads of its records."""

    attributes: frozenset[str]
    passes_on: bool  # whether its value is the same records, so that the selection below reads them too


def needs(*attributes: str) -> Mapping[str, Needs]:
    """The metadata of a field whose resolver reads these attributes of its record or of its page's records."""
    return {_NEEDS: Needs(frozenset(attributes), passes_on=False)}


def passes_records_on() -> Mapping[str, Needs]:
    """The metadata of a field whose value is its record, or its page's records, as another type."""
    return {_NEEDS: Needs(frozenset(), passes_on=True)}


def selected_attributes(info: Info[Any, Any], record_class: type[Record], type_name: str | None = None) -> Needed:
    """The needed attributes of the records that a field returns.

    Args:
        type_name: the records' type in the schema, if the field returns an interface.
    """
    raw = info._raw_info
    found: set[str] = set()
    for node in raw.field_nodes:
        of_node = _known(node)
        key = (record_class, type_name)
        if key not in of_node:
            of_node[key] = _of_node(raw, node, record_class, type_name)
        attributes: Needed = of_node[key]
        if attributes is None or len(raw.field_nodes) == 1:
            return attributes
        found |= attributes
    return frozenset(found)


def selects(info: Info[Any, Any], *names: str) -> bool:
    """Whether a field selects the field that these names lead to, each on what the one before returns."""
    raw = info._raw_info
    found = False
    for node in raw.field_nodes:
        of_node = _known(node)
        if names not in of_node:
            of_node[names] = _leads(raw, get_named_type(raw.return_type), node, names)
        found |= of_node[names]
    return found


def _leads(raw: GraphQLResolveInfo[Any], of: GraphQLNamedType, node: FieldNode, names: Sequence[str]) -> bool:
    if not names:
        return True
    if not node.selection_set:
        return False
    name, *rest = names
    return any(
        _leads(raw, get_named_type(definition.type), each, rest)
        for parent, each in selected_fields(raw.schema, raw.fragments, of, node.selection_set, set())
        if each.name.value == name
        and isinstance(parent, GraphQLObjectType | GraphQLInterfaceType)
        and (definition := raw.schema.get_field(parent, name))
    )


_Known = dict[tuple[Any, ...], Any]
_of_nodes: dict[int, tuple["ref[FieldNode]", _Known]] = {}
"""Identity of a field's node → its needs, and what it selects. Equal nodes of different documents must not be mixed
up."""


def _known(node: FieldNode) -> _Known:
    key = id(node)
    if (known := _of_nodes.get(key)) is None:
        known = _of_nodes[key] = (ref(node, lambda _: _of_nodes.pop(key, None)), {})
    return known[1]


def _of_node(
    raw: GraphQLResolveInfo[Any], node: FieldNode, record_class: type[Record], type_name: str | None
) -> Needed:
    reading = _Reading(raw.schema, raw.fragments, record_class)
    of = raw.schema.type_map[type_name] if type_name else get_named_type(raw.return_type)
    if node.selection_set:
        reading.select(of, node.selection_set)
    return None if reading.everything else frozenset(reading.attributes)


class _Reading:
    """Collects the needs of one field's selection."""

    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], record_class: type[Record]
    ) -> None:
        self.attributes: set[str] = set()
        self.everything = False
        self._schema = schema
        self._fragments = fragments
        self._record_class = record_class
        self._spread = defaultdict[str, set[str]](set)  # names of types → fragments that are spread on them

    def select(self, of: GraphQLNamedType, selection_set: SelectionSetNode) -> None:
        """Add the needs of a selection set on records of a type."""
        spread = self._spread[of.name]
        for parent, node in selected_fields(self._schema, self._fragments, of, selection_set, spread):
            is_another = isinstance(parent, GraphQLObjectType) and parent is not of
            if not is_another and node.name.value != "__typename":
                self._field(of, node)

    def _field(self, of: GraphQLNamedType, node: FieldNode) -> None:
        definition = self._schema.get_field(of, node.name.value) if isinstance(of, GraphQLObjectType) else None
        field = field_of(definition)
        if definition is None or field is None:
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
        """Add the record's attribute of this name."""
        match getattr_static(self._record_class, name, None):
            case Stored(attribute=attribute):
                self.attributes.add(attribute)
            case Derived(attributes=attributes):
                self.attributes.update(attributes)
            case _:
                self.everything = True
