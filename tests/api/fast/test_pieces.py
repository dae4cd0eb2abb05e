"""A long list is completed by its compiled function in pieces, with the answer that it has without pieces."""

import asyncio
from dataclasses import dataclass
from typing import Any

import strawberry
from graphql import ExecutionResult
from strawberry.schema.config import StrawberryConfig

from graph.api.fast.executor import RECORDS_PER_PIECE
from graph.api.fast.resolvers import replace_slow_resolvers
from graph.work.account import Work
from tests.api.fast.stones import execute, plan_of
from tests.domains.earthquakes.test_giving_way import CountedPace
from tests.work.accounts import an_account

PIECES = 5
PEBBLES = PIECES * RECORDS_PER_PIECE
QUERY = "{ pebbles { number } }"


@dataclass
class Stored:
    number: Any


@strawberry.type
class Pebble:
    number: int


@strawberry.type
class Query:
    @strawberry.field(graphql_type=list[Pebble] | None)
    async def pebbles(self) -> Any:
        return [Stored(number) for number in range(PEBBLES)]

    @strawberry.field(graphql_type=list[Pebble] | None)
    async def broken(self) -> Any:
        return [Stored(number if number < PEBBLES - 1 else "no number") for number in range(PEBBLES)]


SCHEMA = strawberry.Schema(Query, config=StrawberryConfig(auto_camel_case=False))._schema
replace_slow_resolvers(SCHEMA.type_map.values())


async def answered(text: str, pace: CountedPace, *, compiled: bool = True) -> ExecutionResult:
    with an_account(Work(pace=pace)):
        return await execute(plan_of(text, SCHEMA, compiled=compiled), None)


def test_a_long_list_offers_to_give_way_before_each_piece() -> None:
    pace = CountedPace()
    answer = asyncio.run(answered(QUERY, pace))
    assert answer.data == {"pebbles": [{"number": number} for number in range(PEBBLES)]}
    assert pace.offers == PIECES


def test_a_list_in_pieces_answers_as_one_that_is_not_compiled() -> None:
    for text in (QUERY, "{ broken { number } }"):
        compiled, plain = (asyncio.run(answered(text, CountedPace(), compiled=each)) for each in (True, False))
        assert compiled.data == plain.data
        assert [error.formatted for error in compiled.errors or ()] == [error.formatted for error in plain.errors or ()]
