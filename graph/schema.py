"""The graph: joins the slices' queries and mutations, and finds a node of any of them by its id."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

import strawberry
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.schema.config import StrawberryConfig
from strawberry.types import Info

from graph import relay
from graph.context import Context
from graph.earthquakes.schema import EarthquakeMutations, EarthquakeQueries, Event, events_by_key
from graph.errors import BadUserInput
from graph.logged import Logged
from graph.request_log.schema import RequestLog, RequestLogQueries, logs_by_key
from graph.scalars import SCALARS

MOST_NODES = 100  # ids a call
CACHED_DOCUMENTS = 1000

NODES: dict[str, Callable[[Context, Sequence[str]], Awaitable[Mapping[str, Any]]]] = {
    "Event": events_by_key,
    "RequestLog": logs_by_key,
}
"""Type's name → finds its nodes by their keys."""


async def _nodes(context: Context, ids: Sequence[str]) -> list[Any]:
    """The nodes with these global ids, in their order, None for those that do not exist."""
    wanted = [relay.parse_global_id(node_id) for node_id in ids]
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for type_name, key in wanted:
        if type_name not in NODES:
            raise BadUserInput(f"`id` names a {type_name}, of which this graph has no nodes.")
        keys[type_name].add(key)
    found = {type_name: await NODES[type_name](context, list(some)) for type_name, some in keys.items()}
    return [found[type_name].get(key) for type_name, key in wanted]


@strawberry.type
class NodeQueries:
    @strawberry.field(
        description="The object with a global id; null where it does not exist, or no longer.",
        graphql_type=relay.Node | None,
        extensions=[Logged("/node")],
    )
    async def node(
        self,
        info: Info[Context, None],
        id: Annotated[strawberry.ID, strawberry.argument(description="Global id.")],
    ) -> Any:
        return (await _nodes(info.context, [id]))[0]

    @strawberry.field(
        description="The objects with these global ids, in their order, null for those that do not exist.",
        graphql_type=list[relay.Node | None],
        extensions=[Logged("/nodes")],
    )
    async def nodes(
        self,
        info: Info[Context, None],
        ids: Annotated[list[strawberry.ID], strawberry.argument(description="Global ids, at most 100.")],
    ) -> list[Any]:
        if len(ids) > MOST_NODES:
            raise BadUserInput(f"`ids` takes at most {MOST_NODES} ids.")
        return await _nodes(info.context, ids)


@strawberry.type(description="What can be read.")
class Query(NodeQueries, EarthquakeQueries, RequestLogQueries):
    pass


@strawberry.type(description="What can be changed.")
class Mutation(EarthquakeMutations):
    pass


class Schema(strawberry.Schema):
    """The graph's schema. Errors are told and logged by the endpoint, which knows the request."""

    def process_errors(self, errors: object, execution_context: object = None) -> None:
        """Leave them to the endpoint."""


schema = Schema(
    Query,
    Mutation,
    types=[Event, RequestLog],
    extensions=[lambda: ParserCache(CACHED_DOCUMENTS), lambda: ValidationCache(CACHED_DOCUMENTS)],
    config=StrawberryConfig(scalar_map=SCALARS),
)


def printed() -> str:
    """The schema in the schema definition language, as `schema.graphql` keeps it."""
    return f"{schema.as_str()}\n"
