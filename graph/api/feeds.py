"""The feeds that fields read: while the states of an operation's feeds stay the same, so does its answer.

    @field("The events near it.", of=…, feeds=[EVENT_SEQUENCE])
    @record_type(model.Event, load=…, feeds=[EVENT_SEQUENCE])

A field that declares none may read anything, such as the clock, and no answer with it can be known to be unchanged.
`feeds=[]` is for a field that reads nothing that changes while the service runs. A record type declares for those of
its own resolvers that take no `info`, which reach only what the object holds. A field without a resolver shows an
attribute of its object, and declares nothing; neither does introspection. A field that another domain contributes to a
type declares for itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
)
from strawberry.types.field import StrawberryField

from graph.api.fast.plain_fields import field_of
from graph.api.selections import by_variables, fields_of
from graph.feed.sequence import SequenceEntities

Feeds = frozenset[SequenceEntities]
FeedsOf = Callable[[Mapping[str, Any]], Feeds | None]
"""Arguments of a field, or variables of an operation, as the client sent them → all feeds read; None if unknown."""

_FEEDS = "feeds"


def reads_feeds(feeds: Iterable[SequenceEntities] | FeedsOf) -> Mapping[str, Feeds | FeedsOf]:
    """The metadata of a field that reads no other feeds, or whose arguments decide which ones it reads."""
    return {_FEEDS: feeds if callable(feeds) else frozenset(feeds)}


def note_feeds(of: Any, feeds: Iterable[SequenceEntities]) -> None:
    """Declare the feeds of those own fields of a type whose resolvers take no `info`, unless they declare theirs."""
    declared = reads_feeds(feeds)
    for field in of.__strawberry_definition__.fields:
        if field.origin is of and field.base_resolver and not field.base_resolver.info_parameter:
            field.metadata = {**declared, **field.metadata}


def feeds_of(
    schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
) -> FeedsOf:
    """The feeds that a valid operation reads, for its own fields and those of its fragments."""
    always = set[SequenceEntities]()
    by_arguments: list[tuple[FeedsOf, FieldNode]] = []
    for parent, definition, node in fields_of(schema, operation, fragments):
        for field in _resolved(schema, parent, definition, node):
            feeds: Feeds | FeedsOf | None = field.metadata.get(_FEEDS)
            if callable(feeds):
                by_arguments.append((feeds, node))
            elif feeds is not None:
                always |= feeds
            elif field.base_resolver:
                return lambda variables: None
    of_arguments = by_variables(operation, by_arguments)

    def of_variables(variables: Mapping[str, Any]) -> Feeds | None:
        read = set(of_arguments(variables))
        return None if None in read else frozenset(always).union(*filter(None, read))

    return of_variables


def _resolved(
    schema: GraphQLSchema,
    parent: GraphQLObjectType | GraphQLInterfaceType,
    definition: GraphQLField,
    node: FieldNode,
) -> Iterator[StrawberryField]:
    """The fields that may resolve a selected one: those of all types of an interface. None of introspection."""
    name = node.name.value
    if isinstance(parent, GraphQLInterfaceType) and name in parent.fields:
        candidates = [each.fields[name] for each in schema.get_possible_types(parent)]
    else:
        candidates = [definition]
    yield from filter(None, map(field_of, candidates))
