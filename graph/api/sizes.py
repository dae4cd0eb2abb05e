"""The sizes of lists and the costs of fields. Fields declare them by directives, which this module reads.

The directives are those of Apollo Federation, after the GraphQL Cost Directives specification, so that a client or a
gateway can compute costs:

    @strawberry.field(directives=[ListSize(slicing_arguments=["first", "last"], sized_fields=["edges", "nodes"])])

Weights are whole points. A list whose elements cost less has a smaller size instead.

Sources: https://ibm.github.io/graphql-specs/cost-spec.html and
https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/directives#listsize
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import strawberry
from graphql import (
    ArgumentNode,
    FieldNode,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLSchema,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectFieldNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    get_named_type,
)
from strawberry.schema_directive import Location

from graph.api.fast.plain_fields import field_of
from graph.core.paging import PageSizes

D = TypeVar("D")

Variables = Mapping[str, Any]
"""Variables as the client sent them, unchecked."""

Size = Callable[[Variables], float]
"""The length of a list, by the variables of a request."""


@strawberry.schema_directive(
    name="listSize",
    locations=[Location.FIELD_DEFINITION],
    description="The size of the lists below this field, or of its own, for the cost of an operation.",
)
class ListSize:
    assumed_size: int | None = strawberry.directive_field("assumedSize", default=strawberry.UNSET)
    slicing_arguments: list[str] | None = strawberry.directive_field("slicingArguments", default=strawberry.UNSET)
    sized_fields: list[str] | None = strawberry.directive_field("sizedFields", default=strawberry.UNSET)
    require_one_slicing_argument: bool | None = strawberry.directive_field("requireOneSlicingArgument", default=True)

    def __post_init__(self) -> None:
        self.require_one_slicing_argument = False if self.slicing_arguments else strawberry.UNSET


@strawberry.schema_directive(
    name="cost",
    locations=[Location.FIELD_DEFINITION],
    description="The points that this field costs, if it is not one.",
)
class Cost:
    weight: int = strawberry.directive_field("weight")


def list_size(definition: GraphQLField) -> ListSize | None:
    """The declared size of a field's list, or of the lists below it."""
    return directive_of(definition, ListSize)


def weight(definition: GraphQLField) -> int | None:
    """The points that a field costs by itself, if they are declared."""
    directive = directive_of(definition, Cost)
    return directive.weight if directive else None


def length(directive: ListSize, node: FieldNode, defaults: Variables, page_sizes: PageSizes) -> Size:
    """The size of a list by the field's arguments in a document.

    Args:
        defaults: the default values of the operation's variables.
    """
    assumed = directive.assumed_size or page_sizes.default
    given = [_argument(node, path, defaults) for path in directive.slicing_arguments or ()]

    def with_variables(variables: Variables) -> float:
        named = [_length(read(variables), page_sizes.most) for read in given]
        return max((length for length in named if length is not None), default=assumed)

    return with_variables


def takes_records(definition: GraphQLField, directive: ListSize) -> bool:
    """Whether the size is that of a list of input objects. Each of them costs as much as a field."""
    for path in directive.slicing_arguments or ():
        argument, *names = path.split(".")
        named = get_named_type(definition.args[argument].type)
        for name in names:
            if isinstance(named, GraphQLInputObjectType):
                named = get_named_type(named.fields[name].type)
        if isinstance(named, GraphQLInputObjectType):
            return True
    return False


def sizes_of_introspection(schema: GraphQLSchema) -> dict[tuple[str, str], Size]:
    """The average lengths of the lists of introspection, by type and field."""
    types = list(schema.type_map.values())
    fields = [each for named in types for each in getattr(named, "fields", {}).values()]
    outputs = [each for each in fields if isinstance(each, GraphQLField)]
    inputs = len(fields) - len(outputs)
    arguments = sum(len(each.args) for each in outputs)
    values = sum(len(getattr(named, "values", ())) for named in types)
    kinds = len(types)
    lengths: dict[tuple[str, str], float] = {
        ("__Schema", "types"): kinds,
        ("__Schema", "directives"): len(schema.directives),
        ("__Type", "fields"): len(outputs) / kinds,
        ("__Type", "inputFields"): inputs / kinds,
        ("__Type", "enumValues"): values / kinds,
        ("__Type", "interfaces"): 1,
        ("__Type", "possibleTypes"): 1,
        ("__Field", "args"): arguments / len(outputs),
        ("__Directive", "args"): 1,
    }
    return {place: _always(length) for place, length in lengths.items()}


def _always(length: float) -> Size:
    return lambda _: length


def directive_of(definition: GraphQLField, kind: type[D]) -> D | None:
    declared = field_of(definition)
    return next((each for each in declared.directives if isinstance(each, kind)), None) if declared else None


def _argument(node: FieldNode, path: str, defaults: Variables) -> Callable[[Variables], Any]:
    """A function that finds the value of an argument, or of a field of it as in `input.events`."""
    value: ValueNode | None = None
    given: Iterable[ArgumentNode | ObjectFieldNode] = node.arguments or ()
    names = path.split(".")
    while names:
        value = next((each.value for each in given if each.name.value == names[0]), None)
        names.pop(0)
        if not isinstance(value, ObjectValueNode):
            break
        given = value.fields
    match value:
        case VariableNode():
            variable = value.name.value

            def sent(variables: Variables) -> Any:
                found = variables.get(variable, defaults.get(variable))
                for name in names:
                    found = found.get(name) if isinstance(found, Mapping) else None
                return found

            return sent
        case IntValueNode():
            number = int(value.value[:10])  # a longer number is no Int
            return lambda _: number
        case ListValueNode():
            length = len(value.values)
            return lambda _: length
        case None | NullValueNode():
            return lambda _: None
    return lambda _: 1  # one value where a list is expected


def _length(value: Any, most: int) -> float | None:
    """The length that an argument gives, as a number or as a list; None without a value."""
    match value:
        case None:
            return None
        case int() | float():
            return min(max(value, 0), most)
        case list():
            return min(len(value), most)
    return 1
