"""The graph: joins the slices' queries and mutations, and finds a node of any of them by its id."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import strawberry
from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    Undefined,
)
from strawberry.schema.config import StrawberryConfig
from strawberry.types import Info

from graph.access.callers import Scope
from graph.api import relay
from graph.api.context import Context
from graph.api.fast.resolvers import shorten
from graph.api.recording import Logged
from graph.api.scalars import SCALARS
from graph.api.scopes import describe_scope, requires_scopes_of
from graph.api.selected import Attributes, selected_attributes
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.domains.earthquakes import model
from graph.domains.earthquakes.schema.events import Event, EventQueries, events_by_key
from graph.domains.earthquakes.schema.ingest import IngestMutations, IngestQueries
from graph.domains.earthquakes.schema.live import Subscription
from graph.domains.earthquakes.schema.statistics import StatisticsQueries
from graph.domains.request_logs import model as request_logs
from graph.domains.request_logs.schema import RequestLog, RequestLogQueries, logs_by_key
from graph.store.records import Record

MOST_NODES = 100  # ids a call

Load = Callable[[Context, Sequence[str], Attributes], Awaitable[Mapping[str, Any]]]
"""Finds nodes by their keys, with the attributes that are needed."""

NODES: dict[str, tuple[Scope, type[Record], Load]] = {
    "Event": (Scope.EVENTS_READ, model.Event, events_by_key),
    "RequestLog": (Scope.LOGS_READ, request_logs.RequestLog, logs_by_key),
}
"""Type's name → the scope that its nodes need, their records, and what finds them by their keys."""


async def _nodes(info: Info[Context, None], ids: Sequence[str]) -> list[Any]:
    """The nodes with these global ids, in their order, None for those that do not exist."""
    context = info.context
    wanted = [relay.parse_global_id(node_id) for node_id in ids]
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for type_name, key in wanted:
        if type_name not in NODES:
            raise BadUserInput(f"`id` names a {type_name}, of which this graph has no nodes.")
        keys[type_name].add(key)
    context.caller.require([NODES[type_name][0] for type_name in keys])
    found = {}
    for type_name, some in keys.items():
        _, record_class, load = NODES[type_name]
        found[type_name] = await load(context, list(some), selected_attributes(info, record_class, type_name))
    return [found[type_name].get(key) for type_name, key in wanted]


def _scopes_of_ids(arguments: Mapping[str, Any]) -> set[Scope]:
    """The scopes that `id` or `ids` need. What is no id of a node needs none, as the field refuses it."""
    given = arguments["ids"] if "ids" in arguments else [arguments.get("id")]
    ids = given if isinstance(given, list) else [given]  # which GraphQL takes for a list of one
    scopes = set()
    for node_id in ids if len(ids) <= MOST_NODES else ():
        if isinstance(node_id, str):
            with suppress(BadUserInput):
                type_name, _ = relay.parse_global_id(node_id)
                if type_name in NODES:
                    scopes.add(NODES[type_name][0])
    return scopes


@strawberry.type
class NodeQueries:
    @strawberry.field(
        description="The object with a global id; null where it does not exist, or no longer. "
        "Needs the scope that the object's type needs elsewhere.",
        graphql_type=relay.Node | None,
        metadata=requires_scopes_of(_scopes_of_ids),
        extensions=[Logged("/node")],
    )
    async def node(
        self,
        info: Info[Context, None],
        id: Annotated[strawberry.ID, strawberry.argument(description="Global id.")],
    ) -> Any:
        return (await _nodes(info, [id]))[0]

    @strawberry.field(
        description="The objects with these global ids, in their order, null for those that do not exist. "
        "Needs the scopes that the objects' types need elsewhere.",
        graphql_type=list[relay.Node | None],
        directives=[ListSize(slicing_arguments=["ids"])],
        metadata=requires_scopes_of(_scopes_of_ids),
        extensions=[Logged("/nodes")],
    )
    async def nodes(
        self,
        info: Info[Context, None],
        ids: Annotated[list[strawberry.ID], strawberry.argument(description="Global ids, at most 100.")],
    ) -> list[Any]:
        if len(ids) > MOST_NODES:
            raise BadUserInput(f"`ids` takes at most {MOST_NODES} ids.")
        return await _nodes(info, ids)


@strawberry.type(description="What can be read.")
class Query(NodeQueries, EventQueries, StatisticsQueries, IngestQueries, RequestLogQueries):
    pass


@strawberry.type(description="What can be changed.")
class Mutation(IngestMutations):
    pass


_schema = strawberry.Schema(
    Query, Mutation, Subscription, types=[Event, RequestLog], config=StrawberryConfig(scalar_map=SCALARS)
)

schema: GraphQLSchema = _schema._schema
"""The schema as it is executed: the endpoint takes each step of that by itself."""


def _finish(types: Iterable[GraphQLNamedType]) -> None:
    """Say which scopes fields need, and make what is optional just that.

    Strawberry gives the latter the default null, which clients would print everywhere.
    """
    for named in types:
        if isinstance(named, GraphQLInputObjectType):
            _leave_out(named.fields.values())
        elif isinstance(named, GraphQLObjectType):
            for field in named.fields.values():
                _leave_out(field.args.values())
                describe_scope(field)


def _leave_out(values: Iterable[GraphQLArgument | GraphQLInputField]) -> None:
    for value in values:
        if value.default_value is None:
            value.default_value = Undefined


_finish(schema.type_map.values())
shorten(schema.type_map.values())


def printed() -> str:
    """The schema in the schema definition language, as `schema.graphql` keeps it."""
    return f"{_schema.as_str()}\n"
