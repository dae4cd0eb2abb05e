"""The schema of domains: joined, extended, and refused where it does not fit together."""

from types import ModuleType
from typing import Any, NewType

import pytest
import strawberry
from graphql import GraphQLObjectType, GraphQLScalarType, parse, validate

from graph.access.callers import Scope
from graph.api.federation import SDL
from graph.api.fields import field
from graph.api.recorded import route_of
from graph.api.schema import ImproperSchema, build_schema
from graph.api.scopes import RequiresScopes
from graph.domain import Contribution, Domain
from graph.domains import DOMAINS
from graph.domains.earthquakes.schema.events import Event
from graph.pages import graphiql
from tests.schemas import printed


def fields(domains: tuple[Domain, ...], name: str) -> set[str]:
    """The fields of a type."""
    of = build_schema(domains).graphql.type_map.get(name)
    return set(of.fields) if isinstance(of, GraphQLObjectType) else set()


def test_a_domain_gives_its_fields_to_the_root_types(field_notes: ModuleType) -> None:
    more = (*DOMAINS, field_notes.DOMAIN)
    names = ("Query", "Mutation", "Subscription", "Event")
    added = {name: fields(more, name) - fields(DOMAINS, name) for name in names}

    assert added == {
        "Query": {"fieldNotes", "bestFieldNotes"},
        "Mutation": {"writeFieldNote"},
        "Subscription": {"fieldNotes"},
        "Event": set(),
    }
    assert build_schema(DOMAINS).printed == printed()  # which has none of them
    subgraph = build_schema(more, federation=True).graphql.extensions[SDL]
    assert 'type FieldNote implements Node @key(fields: "id") {' in subgraph


def needed(domain: Domain) -> tuple[Domain, ...]:
    """A domain after all that it builds on."""
    names = {domain.name}
    for each in reversed(DOMAINS):
        if each.name in names:
            names |= {*each.needs}
    return tuple(each for each in DOMAINS if each.name in names)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_a_domain_needs_only_those_that_it_requires(domain: Domain) -> None:
    """So do its examples, also as a subgraph."""
    schema = build_schema(needed(domain), federation=True).graphql
    examples = graphiql.examples_of(domain.examples) if domain.examples else ()

    assert schema.query_type is not None
    assert [error.message for each in examples for error in validate(schema, parse(each.query))] == []


@strawberry.type
class Second:
    @strawberry.field
    def events(self) -> int:
        return 1


@strawberry.type
class SecondPlace:
    @strawberry.field
    def place(self) -> int:
        return 1


@strawberry.type
class Undeclared:
    @strawberry.field(directives=[RequiresScopes(scopes=[[Scope("second:read")]])])
    def second(self) -> int:
        return 1


def test_conflicting_schema_parts_are_refused() -> None:
    conflicts: dict[str, dict[str, Any]] = {
        "earthquakes and second define Query.events": {"queries": (Second,)},
        "earthquakes and second define Subscription.events": {"subscriptions": (Second,)},
        "second and second define Query.second": {"queries": (Undeclared, Undeclared)},
        "Event and second define Event.place": {"contributions": (Contribution(Event, SecondPlace),)},
        "no domain declares the scope second:read": {"queries": (Undeclared,)},
    }
    for wrong, given in conflicts.items():
        with pytest.raises(ImproperSchema, match=wrong):
            build_schema((*DOMAINS, Domain(name="second", **given)))


@strawberry.type
class Placed:
    @field("A field.", before="absent")
    def late(self) -> int:
        return 1

    @field("A field.", before="events")
    def early(self) -> int:
        return 1


def test_a_field_precedes_the_one_that_it_names_if_that_is_there() -> None:
    query = build_schema((*DOMAINS, Domain(name="placed", queries=(Placed,)))).graphql.query_type
    assert query is not None
    names = list(query.fields)

    assert (names.index("early") + 1, names[-1]) == (names.index("events"), "late")


Colour = NewType("Colour", str)


@strawberry.type
class Coloured:
    @strawberry.field
    def colour(self, of: Colour) -> Colour:
        return of


def test_a_domain_may_have_scalars_of_its_own() -> None:
    red = strawberry.scalar(name="Colour", description="What a light looks like.", parse_value=str.lower, serialize=str)
    schema = build_schema((*DOMAINS, Domain(name="second", queries=(Coloured,), scalars={Colour: red})))

    assert '"""What a light looks like."""\nscalar Colour\n' in schema.printed
    assert "colour(of: Colour!): Colour" in schema.printed
    scalar = schema.graphql.type_map["Colour"]
    assert isinstance(scalar, GraphQLScalarType)
    assert scalar.parse_value("Red") == "red"
    assert build_schema(DOMAINS).printed == printed()


def test_a_route_is_derived_from_the_name_of_its_field() -> None:
    names = ("node", "requestLogs", "m2Events")
    assert [route_of(name) for name in names] == ["/node", "/request-logs", "/m2-events"]
