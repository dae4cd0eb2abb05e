"""Makes the service a subgraph of Apollo Federation 2: a gateway asks for its nodes, which are entities, by their keys.

An entity's keys are `id` and, if its type declares one, its own id. Whatever has no key is a value that other
subgraphs may have, too. What stays out of the subgraph's schema: sizes by arguments that are lists and of values that
are none, which composition refuses; and scopes, since Apollo's gateway refuses a supergraph with them, and others would
refuse what may be read without a token. This service checks them itself.

Source: https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/subgraph-spec
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NewType, Union, cast

import strawberry
from graphql import (
    ConstDirectiveNode,
    DirectiveDefinitionNode,
    DocumentNode,
    FieldDefinitionNode,
    InterfaceTypeDefinitionNode,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    ObjectTypeDefinitionNode,
    parse,
    print_ast,
)
from strawberry.types import Info
from strawberry.types.scalar import ScalarDefinition

from graph.api import relay
from graph.api.context import Context
from graph.api.feeds import reads_feeds
from graph.api.nodes import MOST_NODES, Named, Node, Nodes, find_nodes, finds_named, named_by_id
from graph.api.sizes import Cost, ListSize
from graph.core.errors import BadUserInput
from graph.core.names import camel_case

SDL = "subgraph"
"""The key in the extensions of a schema of its text as a subgraph, which composition reads."""

SDL_COST = 100
"""The price of this text, which is as long as thousands of values."""

IMPORTED = ("key", "shareable", "cost", "listSize")
LEFT_OUT = "requiresScopes"
HEAD = f"""extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.9", import: [{", ".join(f'"@{name}"' for name in IMPORTED)}])
"""
ROOTS = ("Query", "Mutation", "Subscription")

Representation = NewType("Representation", object)

FEDERATION_SCALARS: dict[object, ScalarDefinition] = {
    Representation: strawberry.scalar(
        name="_Any",
        description="An entity's type and key.",
        serialize=lambda value: value,
        parse_value=lambda value: value,
    )
}


def subgraph_queries(nodes: Sequence[Node]) -> type:
    """The root fields by which a gateway reads the schema, and entities of these types."""
    by_name = {relay.type_name_of(node): node.found_by for node in nodes}
    union: Any = Union[tuple(nodes)]  # noqa: UP007 - its members are only known here
    entity: Any = Annotated[union, strawberry.union("_Entity", description="What has a key.")]

    @strawberry.type
    class SubgraphQueries:
        @strawberry.field(
            name="_service", description="What composition reads.", graphql_type=_Service, metadata=reads_feeds(())
        )
        def subgraph_service(self, info: Info[Context, None]) -> Any:
            return info._raw_info.schema.extensions[SDL]

        @strawberry.field(
            name="_entities",
            description="The entities of these keys, in the same order; null for each that does not exist, and with an "
            "error for each that is no key. Needs the scopes of the entities' types.",
            graphql_type=list[entity | None],
            directives=[ListSize(slicing_arguments=["representations"])],
            metadata=finds_named("representations", by_name, _named),
        )
        async def subgraph_entities(
            self,
            info: Info[Context, None],
            representations: Annotated[
                list[Representation], strawberry.argument(description=f"Types and keys, at most {MOST_NODES}.")
            ],
        ) -> list[Any]:
            if len(representations) > MOST_NODES:
                raise BadUserInput(f"`representations` takes at most {MOST_NODES} keys: ask for shorter lists.")
            return await find_nodes(by_name, info, [_named(by_name, each) for each in representations])

    return SubgraphQueries


@strawberry.type(name="_Service", description="This subgraph.")
class _Service:
    sdl: str = strawberry.field(
        description="Its schema, with its keys, also where introspection is off.",
        resolver=relay.itself,
        directives=[Cost(weight=SDL_COST)],
        metadata=reads_feeds(()),
    )


def _named(nodes: Nodes, given: Any) -> Named:
    """The type and the key that a representation names."""
    type_name = given.get("__typename") if isinstance(given, dict) else None
    if not isinstance(type_name, str) or type_name not in nodes:
        return BadUserInput("A representation has the `__typename` of an entity of this subgraph, and its key.")
    for key in _keys(nodes[type_name]):
        if isinstance(value := given.get(key), str):
            named = named_by_id(nodes, value if key == "id" else relay.global_id(type_name, value))
            if isinstance(named, tuple) and named[0] == type_name:
                return named
            return BadUserInput(f"`{key}` of a representation names no {type_name}.")
    return BadUserInput(f"A representation of {type_name} has one of its keys: {', '.join(_keys(nodes[type_name]))}.")


def _keys(node: relay.FoundBy) -> Sequence[str]:
    """The fields by which a representation may name a node."""
    return ("id", camel_case(node.key)) if node.key else ("id",)


def subgraph(printed: str, nodes: Iterable[Node]) -> str:
    """A printed schema as composition takes it: with keys, and without definitions of its own directives."""
    keys = {relay.type_name_of(node): _keys(node.found_by) for node in nodes}
    types: dict[str, Any] = {each.name.value: each for each in cast("Any", parse(printed).definitions)}
    made = [
        _definition(name, each, keys.get(name, ()), types)
        for name, each in types.items()
        if not name.startswith("_")
        and not (name in (*IMPORTED, LEFT_OUT) and isinstance(each, DirectiveDefinitionNode))
    ]
    return f"{HEAD}\n{print_ast(DocumentNode(definitions=tuple(made)))}\n"


def _definition(name: str, of: Any, keys: Iterable[str], types: Mapping[str, Any]) -> Any:
    """A type with its keys, or as a value."""
    match of:
        case InterfaceTypeDefinitionNode(fields=fields):  # composition takes no costs and scopes here
            return replace(of, fields=tuple(replace(each, directives=()) for each in fields or ()))
        case ObjectTypeDefinitionNode(fields=fields):
            own = [each for each in fields or () if not each.name.value.startswith("_")]
            of = replace(of, fields=tuple(replace(each, directives=_composable(each, types)) for each in own))
            if name not in ROOTS:
                marks = [f'@key(fields: "{key}")' for key in keys] or ["@shareable"]
                (marked,) = cast("Any", parse(f"type A {' '.join(marks)}").definitions)
                of = replace(of, directives=marked.directives)
    return of


def _composable(field: FieldDefinitionNode, types: Mapping[str, Any]) -> tuple[ConstDirectiveNode, ...]:
    """The directives of a field. A size has only the arguments that are an Int, and the fields that are lists."""
    fields = getattr(types.get(_named_type(field.type)), "fields", ())
    possible = {
        "slicingArguments": {each.name.value for each in field.arguments or () if _named_type(each.type) == "Int"},
        "sizedFields": {each.name.value for each in fields if _is_list(each.type)},
    }
    directives = []
    for each in field.directives or ():
        arguments = tuple(_with(each.arguments or (), possible))
        is_sized = {"assumedSize", "slicingArguments"} & {a.name.value for a in arguments}
        if each.name.value != LEFT_OUT and (is_sized or each.name.value != "listSize"):
            directives.append(replace(each, arguments=arguments))
    return tuple(directives)


def _with(arguments: Iterable[Any], possible: Mapping[str, set[str]]) -> Iterator[Any]:
    """The arguments of a directive, with the possible ones of the names in their values; without any, none."""
    for argument in arguments:
        if argument.name.value not in possible:
            yield argument
        elif kept := [each for each in argument.value.values if each.value in possible[argument.name.value]]:
            yield replace(argument, value=replace(argument.value, values=tuple(kept)))


def _named_type(of: Any) -> str:
    while not isinstance(of, NamedTypeNode):
        of = of.type
    return of.name.value


def _is_list(of: Any) -> bool:
    return isinstance(of.type if isinstance(of, NonNullTypeNode) else of, ListTypeNode)
