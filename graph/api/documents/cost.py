"""The cost of an operation in points: one for each field, times the size of its list.

Of an object's values, the first twelve cost a point each, and further ones a tenth. To read a record and to make the
object takes most of the time, however many values it has: so a page of 1,000 with every value of a record fits into
the default limit, and two pages with twelve values each do not.

The part that depends only on the document is computed once. A sum of a few products is left for
each request's variables. The cost grows with the number of values in the answer, while lists keep to their sizes:
skipped fields count, and a field that is selected twice under one name counts once, since it is resolved once.

The cost of introspection grows with the schema, and tools such as GraphiQL need it whole. So it has a
limit of its own, which grows too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
    SelectionSetNode,
    get_introspection_query,
    get_named_type,
    parse,
)

from graph.api.selections import defaults_of, selected_fields
from graph.api.sizes import Size, Variables, length, list_size, sizes_of_introspection, takes_records, weight
from graph.core.errors import QueryTooComplex
from graph.core.paging import PageSizes
from graph.work.account import ROWS_READ_PER_POINT

WHOLE_SCHEMA = get_introspection_query(
    specified_by_url=True, directive_is_repeatable=True, schema_description=True, input_value_deprecation=True
)
MARGIN = 1.5  # over the cost of `WHOLE_SCHEMA`, since some tools follow lists of lists further
FULL_VALUES = 12  # of an object, which cost a point each
FURTHER_VALUE = 0.1  # points
MOST_FIELDS_VISITED = 5_000  # of one operation; nested fragments can name far more fields than any client needs


@dataclass(frozen=True, slots=True)
class _Price:
    """A number of points, some of which depend on the variables."""

    fixed: float
    lists: tuple[tuple[Size, "_Price"], ...] = ()  # size, and the price of each element
    values: int = 0  # of one object, outside of `fixed`
    value_lists: tuple[Size, ...] = ()  # more values of the same object

    def points(self, variables: Variables) -> float:
        """The sum with these variables."""
        values = self.values + sum(size(variables) for size in self.value_lists)
        return (
            self.fixed + points_of(values) + sum(size(variables) * each.points(variables) for size, each in self.lists)
        )

    @property
    def settled(self) -> "_Price":
        """The same price, without the values whose number is known."""
        return self if self.value_lists else _Price(self.fixed + points_of(self.values), self.lists)


_VALUE = _Price(0, values=1)
"""The price of a value without a declared cost."""


def points_of(values: float) -> float:
    """What so many values of one object cost."""
    return values if values <= FULL_VALUES else FULL_VALUES + (values - FULL_VALUES) * FURTHER_VALUE


class Pricing:
    """The prices of the operations of one schema."""

    def __init__(self, schema: GraphQLSchema, page_sizes: PageSizes) -> None:
        self.schema = schema
        self.page_sizes = page_sizes
        self.introspection = sizes_of_introspection(schema)

    @cached_property
    def _introspection_limit(self) -> int:
        operation, *fragments = parse(WHOLE_SCHEMA).definitions
        assert isinstance(operation, OperationDefinitionNode)  # noqa: S101 — graphql-core's own document
        named = {each.name.value: each for each in fragments if isinstance(each, FragmentDefinitionNode)}
        return ceil(MARGIN * self.price(operation, named)({}))

    def price(
        self, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
    ) -> Callable[[Variables], int]:
        """The price of a valid operation: variables → points.

        Raises:
            QueryTooComplex: Its fragments name too many fields.
        """
        price = _PriceReader(self, operation, fragments).selected(self._root(operation), [operation.selection_set], {})
        return lambda variables: ceil(price.points(variables))

    def least_limit(self, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]) -> int:
        """The points that a valid operation may cost at any limit: enough for tools' introspection, 0 for others."""
        fields = selected_fields(self.schema, fragments, self._root(operation), operation.selection_set, set())
        is_introspection = all(node.name.value.startswith("__") for _, node in fields)
        return self._introspection_limit if is_introspection else 0

    def _root(self, operation: OperationDefinitionNode) -> GraphQLObjectType:
        root = self.schema.get_root_type(operation.operation)
        assert root is not None  # noqa: S101 — the document is valid
        return root

    def definition(self, parent: GraphQLNamedType, name: str) -> GraphQLField | None:
        """The field of that name."""
        if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
            return self.schema.get_field(parent, name)
        return None  # `__typename` of a union


class _PriceReader:
    """Computes the price of one operation."""

    def __init__(
        self, pricing: Pricing, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
    ) -> None:
        self._pricing = pricing
        self._fragments = fragments
        self._visited = 0
        self._defaults = defaults_of(operation)

    def selected(
        self, parent: GraphQLNamedType, selection_sets: Iterable[SelectionSetNode], sized: Mapping[str, Size]
    ) -> _Price:
        """The price of the selections on one object."""
        by_response_name: dict[str, list[tuple[GraphQLNamedType, FieldNode]]] = {}
        spread: set[str] = set()
        for selection_set in selection_sets:
            for of, node in self._fields(parent, selection_set, spread):
                by_response_name.setdefault((node.alias or node.name).value, []).append((of, node))
        fixed, lists = 0.0, list[tuple[Size, _Price]]()
        values, value_lists = 0, list[Size]()
        for found in by_response_name.values():
            for size, price in self._field(found[0][0], [node for _, node in found], sized):
                if price is _VALUE:
                    if size is None:
                        values += 1
                    else:
                        value_lists.append(size)
                elif size is None and not price.value_lists:
                    fixed += price.fixed
                    lists += price.lists
                else:
                    lists.append((size or _once, price))
        return _Price(fixed, tuple(lists), values, tuple(value_lists)).settled

    def _field(
        self, parent: GraphQLNamedType, nodes: Sequence[FieldNode], sized: Mapping[str, Size]
    ) -> Iterator[tuple[Size | None, _Price]]:
        """The prices of a field and of its selection, each with the size of its list."""
        node = nodes[0]
        name = node.name.value
        definition = self._pricing.definition(parent, name)
        if definition is None:
            yield None, _Price(1)
            return
        below: Mapping[str, Size] = {}
        size = sized.get(name) or self._pricing.introspection.get((parent.name, name))
        if directive := list_size(definition):
            given = length(directive, node, self._defaults, self._pricing.page_sizes)
            if directive.sized_fields:
                below = dict.fromkeys(directive.sized_fields, given)
            else:
                size = given
            if takes_records(definition, directive):
                yield given, _Price(1)
            elif below:
                yield given, _Price(1 / ROWS_READ_PER_POINT)  # the page is read, whatever is selected
        selection_sets = [node.selection_set for node in nodes if node.selection_set]
        own = weight(definition)
        if selection_sets:
            yield None, _Price(1 if own is None else own)
            yield size, self.selected(get_named_type(definition.type), selection_sets, below)
        else:  # of a list, the weight is that of an element
            yield size, _VALUE if own is None else _Price(own)

    def _fields(
        self, parent: GraphQLNamedType, selection_set: SelectionSetNode, spread: set[str]
    ) -> Iterator[tuple[GraphQLNamedType, FieldNode]]:
        """The fields of a selection set and its fragments, each with its parent type."""
        for field in selected_fields(self._pricing.schema, self._fragments, parent, selection_set, spread):
            self._visited += 1
            if self._visited > MOST_FIELDS_VISITED:
                raise QueryTooComplex("The document's fragments name too many fields: use fewer fragments.")
            yield field


def _once(_: Variables) -> float:
    return 1
