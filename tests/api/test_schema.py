"""The graph's schema: all of it described, and printed where clients look for it."""

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import strawberry
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    is_introspection_type,
    is_specified_scalar_type,
    print_type,
)

from graph.api import schema as schemas
from graph.api.fields import field
from graph.api.schema import SchemaPart
from tests.schemas import printed

CHECKED_IN = Path(__file__).parents[2] / "schema.graphql"


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    """The schema as a client reads it."""
    return build_schema(printed())


def own_types(schema: GraphQLSchema) -> dict[str, GraphQLNamedType]:
    """The types that GraphQL itself does not bring."""
    return {
        name: named
        for name, named in schema.type_map.items()
        if not (is_introspection_type(named) or is_specified_scalar_type(named))
    }


def members(named: GraphQLNamedType) -> dict[str, Any]:
    """Name → definition of a type's fields or values."""
    if isinstance(named, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
        return dict(named.fields)
    return dict(named.values) if isinstance(named, GraphQLEnumType) else {}


def test_the_checked_in_schema_is_the_printed_one() -> None:
    assert CHECKED_IN.read_text() == printed()


def test_everything_in_it_is_described(schema: GraphQLSchema) -> None:
    assert list(undescribed(schema)) == []


def undescribed(schema: GraphQLSchema) -> Iterator[str]:
    for name, named in own_types(schema).items():
        if not (named.description or "").strip():
            yield name
        for member_name, member in members(named).items():
            if not (member.description or "").strip():
                yield f"{name}.{member_name}"
            for argument_name, argument in getattr(member, "args", {}).items():
                if not (argument.description or "").strip():
                    yield f"{name}.{member_name}({argument_name})"


DEPRECATED = """
type Query {
  old: Int @deprecated(reason: "Until 2027-06-30: use `new`.")
  new(given: Int @deprecated(reason: "Some day.")): Kind
}
enum Kind { FIRST @deprecated(reason: "2027-6-30") }
input Given { value: Int @deprecated }
"""


def test_what_is_deprecated_has_a_date(schema: GraphQLSchema) -> None:
    assert list(undated(schema)) == []
    assert list(undated(build_schema(DEPRECATED))) == ["Query.new(given)", "Kind.FIRST", "Given.value"]


def undated(schema: GraphQLSchema) -> Iterator[str]:
    for name, named in own_types(schema).items():
        for member_name, member in members(named).items():
            coordinates = {f"{name}.{member_name}": member}
            coordinates |= {f"{name}.{member_name}({at})": each for at, each in getattr(member, "args", {}).items()}
            for coordinate, each in coordinates.items():
                if each.deprecation_reason and not re.search(r"\b\d{4}-\d{2}-\d{2}\b", each.deprecation_reason):
                    yield coordinate


def test_optional_arguments_have_no_default_of_null() -> None:
    assert "= null" not in printed()


def test_a_class_of_root_fields_has_its_own_beside_those_of_its_base() -> None:
    class Stones:
        @field("The number of stones.")
        async def stones(self) -> int:
            return 2

    class StonesAndShells(Stones):
        @field("The number of shells.")
        async def shells(self) -> int:
            return 3

    for queries, names in ((Stones, {"stones"}), (StonesAndShells, {"stones", "shells"})):
        made = schemas.build_schema([SchemaPart(name="beach", queries=(queries,))]).graphql
        assert made.query_type
        assert made.query_type.fields.keys() == {"node", "nodes"} | names


def test_an_enum_may_lack_descriptions_and_rename_its_values() -> None:
    @strawberry.enum
    class Tint(Enum):
        GREY = strawberry.enum_value("grey", name="ASHEN", description="As ashes.")
        RED = "red"

    class Tints:
        @field("A tint.", of=Tint)
        async def tint(self) -> Tint:
            return Tint.RED

    made = schemas.build_schema([SchemaPart(name="tints", queries=(Tints,))]).graphql
    assert print_type(made.type_map["Tint"]) == 'enum Tint {\n  """As ashes."""\n  ASHEN\n  RED\n}'
