"""Nodes: objects with a global id. Each domain names its own, and `node` and `nodes` find them all."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.access.callers import Scope
from graph.api import relay
from graph.api.context import Context
from graph.api.scopes import requires_scopes_of
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput

MOST_NODES = 100  # ids a call


@dataclass(frozen=True, slots=True)
class Node:
    """A type of the graph whose objects can be fetched again by their global ids."""

    type: type  # of Strawberry, with the interface `relay.Node`
    load: Callable[[Context, Sequence[str]], Awaitable[Mapping[str, Any]]]  # keys → those objects that exist, by key
    scope: Scope | None = None  # that its objects need

    @property
    def name(self) -> str:
        """The type's name in the schema."""
        definition: Any = self.type
        return str(definition.__strawberry_definition__.name)


def node_queries(nodes: Iterable[Node]) -> type:
    """The root fields that find nodes of these types."""
    by_name = {node.name: node for node in nodes}

    def scopes_of_ids(arguments: Mapping[str, Any]) -> set[Scope]:
        """The scopes that `id` or `ids` need. What is no id of a node needs none, as the field refuses it."""
        given = arguments["ids"] if "ids" in arguments else [arguments.get("id")]
        ids = given if isinstance(given, list) else [given]  # which GraphQL takes for a list of one
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
            description="The object with a global id; null where it does not exist, or no longer. "
            "Needs the scope that the object's type needs elsewhere.",
            graphql_type=relay.Node | None,
            metadata=requires_scopes_of(scopes_of_ids),
        )
        async def node(
            self,
            info: Info[Context, None],
            id: Annotated[strawberry.ID, strawberry.argument(description="Global id.")],
        ) -> Any:
            return (await _found(by_name, info.context, [id]))[0]

        @strawberry.field(
            description="The objects with these global ids, in their order, null for those that do not exist. "
            "Needs the scopes that the objects' types need elsewhere.",
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
            return await _found(by_name, info.context, ids)

    return NodeQueries


async def _found(nodes: Mapping[str, Node], context: Context, ids: Sequence[str]) -> list[Any]:
    """The nodes with these global ids, in their order, None for those that do not exist."""
    wanted = [relay.parse_global_id(node_id) for node_id in ids]
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for type_name, key in wanted:
        if type_name not in nodes:
            raise BadUserInput(f"`id` names a {type_name}, of which this graph has no nodes.")
        keys[type_name].add(key)
    context.caller.require([scope for type_name in keys if (scope := nodes[type_name].scope)])
    found = {type_name: await nodes[type_name].load(context, list(some)) for type_name, some in keys.items()}
    return [found[type_name].get(key) for type_name, key in wanted]
