"""Nodes: objects with a global id. Each domain declares its own; `node` and `nodes` find all of them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.access.callers import Scope
from graph.api import relay
from graph.api.context import Context
from graph.api.feeds import Feeds, reads_feeds
from graph.api.scopes import requires_scopes_of
from graph.api.selected import selected_attributes
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput

MOST_NODES = 100  # that one call names

Node = type[relay.Node]
"""A type of the schema whose objects can be fetched by their global ids."""

Nodes = Mapping[str, relay.FoundBy]
"""Node types by their names in the schema."""

Named = tuple[str, str] | BadUserInput
"""A type and a key that a client names, or what is wrong with the name."""


def node_queries(nodes: Iterable[Node]) -> type:
    """The root fields that find nodes of these types."""
    by_name = {relay.type_name_of(node): node.found_by for node in nodes}

    @strawberry.type
    class NodeQueries:
        @strawberry.field(
            description="The object with this global id; null if it does not exist. "
            "Needs the scope of the object's type.",
            graphql_type=relay.Node | None,
            metadata=finds_named("id", by_name, named_by_id, is_list=False),
        )
        async def node(
            self,
            info: Info[Context, None],
            id: Annotated[strawberry.ID, strawberry.argument(description="Global id.")],
        ) -> Any:
            found = await find_nodes(by_name, info, [named_by_id(by_name, id)])
            if isinstance(found[0], BadUserInput):
                raise found.pop()  # as a local value, it would hold this frame, which its traceback holds
            return found[0]

        @strawberry.field(
            description="The objects with these global ids, in the same order; null for each that does not exist, "
            "and with an error for each that is no id. Needs the scopes of the objects' types.",
            graphql_type=list[relay.Node | None],
            directives=[ListSize(slicing_arguments=["ids"])],
            metadata=finds_named("ids", by_name, named_by_id),
        )
        async def nodes(
            self,
            info: Info[Context, None],
            ids: Annotated[list[strawberry.ID], strawberry.argument(description="Global ids, at most 100.")],
        ) -> list[Any]:
            if len(ids) > MOST_NODES:
                raise BadUserInput(f"`ids` takes at most {MOST_NODES} ids.")
            return await find_nodes(by_name, info, [named_by_id(by_name, each) for each in ids])

    return NodeQueries


def finds_named(
    argument: str, nodes: Nodes, named: Callable[[Nodes, Any], Named], *, is_list: bool = True
) -> Mapping[str, Any]:
    """The metadata of a field that finds what an argument names: it has the scopes and the feeds of these types.

    What is no name needs no scope, and is refused by the field.
    """

    def found_by(arguments: Mapping[str, Any]) -> list[relay.FoundBy]:
        given = arguments.get(argument)  # as the client sent it
        names = given if is_list and isinstance(given, list) else [given]  # one value is as good as a list of one
        found = [named(nodes, each) for each in names] if len(names) <= MOST_NODES else []
        return [nodes[each[0]] for each in found if isinstance(each, tuple)]

    def scopes(arguments: Mapping[str, Any]) -> set[Scope]:
        return {node.scope for node in found_by(arguments) if node.scope}

    def feeds(arguments: Mapping[str, Any]) -> Feeds | None:
        of_types = {node.feeds for node in found_by(arguments)}
        return None if None in of_types else frozenset().union(*filter(None, of_types))

    return {**requires_scopes_of(scopes), **reads_feeds(feeds)}


async def find_nodes(nodes: Nodes, info: Info[Context, None], wanted: Sequence[Named]) -> list[Any]:
    """The named nodes, in the same order: None for each that does not exist, an error for each that is no name."""
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for each in wanted:
        if not isinstance(each, BadUserInput):
            keys[each[0]].add(each[1])
    info.context.caller.require([scope for type_name in keys if (scope := nodes[type_name].scope)])
    found = {}
    for type_name, some in keys.items():
        node = nodes[type_name]
        attributes = selected_attributes(info, node.record, type_name)
        found[type_name] = await node.load(info.context, list(some), attributes)
    return [each if isinstance(each, BadUserInput) else found[each[0]].get(each[1]) for each in wanted]


def named_by_id(nodes: Nodes, node_id: Any) -> Named:
    """The type and the key that a global id names."""
    try:
        named = relay.parse_global_id(str(node_id))
    except BadUserInput as error:
        return error.with_traceback(None)
    if named[0] not in nodes:
        return BadUserInput(f"`id` names a {named[0]}, which is no node type of this graph: pass a node's `id`.")
    return named
