"""Nodes: objects with a global id. Each domain declares its own; `node` and `nodes` find all of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.access.callers import Scope
from graph.api import relay
from graph.api.context import Context
from graph.api.scopes import requires_scopes_of
from graph.api.selected import selected_attributes
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput

MOST_NODES = 100  # ids of one call

Node = type[relay.Node]
"""A type of the schema whose objects can be fetched by their global ids."""


def node_queries(nodes: Iterable[Node]) -> type:
    """The root fields that find nodes of these types."""
    by_name = {relay.type_name_of(node): node.found_by for node in nodes}

    def scopes_of_ids(arguments: Mapping[str, Any]) -> set[Scope]:
        """The scopes that `id` or `ids` need. A value that is no id needs none: the field refuses it."""
        given = arguments["ids"] if "ids" in arguments else [arguments.get("id")]
        ids = given if isinstance(given, list) else [given]  # GraphQL accepts one value as a list of one
        scopes = set()
        for node_id in ids if len(ids) <= MOST_NODES else ():
            if isinstance(node_id, str):
                with suppress(BadUserInput):
                    type_name, _ = relay.parse_global_id(node_id)
                    if (node := by_name.get(type_name)) and node.scope:
                        scopes.add(node.scope)
        return scopes

    @strawberry.type
    class NodeQueries:
        @strawberry.field(
            description="The object with this global id; null if it does not exist. "
            "Needs the scope of the object's type.",
            graphql_type=relay.Node | None,
            metadata=requires_scopes_of(scopes_of_ids),
        )
        async def node(
            self,
            info: Info[Context, None],
            id: Annotated[strawberry.ID, strawberry.argument(description="Global id.")],
        ) -> Any:
            (found,) = await _found(by_name, info, [id])
            if isinstance(found, BadUserInput):
                raise found
            return found

        @strawberry.field(
            description="The objects with these global ids, in the same order; null for each that does not exist, "
            "and with an error for each that is no id. Needs the scopes of the objects' types.",
            graphql_type=list[relay.Node | None],
            directives=[ListSize(slicing_arguments=["ids"])],
            metadata=requires_scopes_of(scopes_of_ids),
        )
        async def nodes(
            self,
            info: Info[Context, None],
            ids: Annotated[list[strawberry.ID], strawberry.argument(description="Global ids, at most 100.")],
        ) -> list[Any]:
            if len(ids) > MOST_NODES:
                raise BadUserInput(f"`ids` takes at most {MOST_NODES} ids.")
            return await _found(by_name, info, ids)

    return NodeQueries


async def _found(nodes: Mapping[str, relay.FoundBy], info: Info[Context, None], ids: Sequence[str]) -> list[Any]:
    """The nodes with these global ids, in the same order: None for each that does not exist, an error for no id."""
    wanted = [_named(nodes, node_id) for node_id in ids]
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


def _named(nodes: Mapping[str, relay.FoundBy], node_id: str) -> tuple[str, str] | BadUserInput:
    """The type and the key that a global id names, or what is wrong with it."""
    try:
        named = relay.parse_global_id(node_id)
    except BadUserInput as error:
        return error
    if named[0] not in nodes:
        return BadUserInput(f"`id` names a {named[0]}, which is no node type of this graph: pass a node's `id`.")
    return named
