"""What was compiled for a document is freed with it, and nothing of a request stays with the document.

The garbage collector is off here: it runs seldom in the service.
"""

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest
from graphql import OperationDefinitionNode, parse

from graph.api.fast import execution
from graph.api.fast.coercion import Coercions
from graph.api.fast.execution import Request
from graph.api.fast.plan import Plan
from tests.api.fast.stones import SHORTENED, Quarry, right_stone

PLAIN = "{ stones { key ...F } perhaps { key } } fragment F on Stone { name weight }"
SIEVED = "query ($sieve: Sieve, $sieves: [Sieve!], $size: Int!) { sieved(sieve: $sieve, sieves: $sieves, size: $size) }"


@pytest.fixture(autouse=True)
def no_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def plan_of(text: str, coercions: Coercions) -> Plan:
    """The plan of a document that holds no tokens, since these are in a cycle."""
    document = parse(text, no_location=True)
    (operation,) = (node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    return Plan(SHORTENED, coercions, document, operation)


def execute(plan: Plan, quarry: Quarry, **given: object) -> None:
    variables = plan.variables(given, max_errors=5, hide_suggestions=True)
    assert not isinstance(variables, list)
    result = asyncio.run(execution.execute(plan, Request(variables, quarry)))
    assert (result.errors, bool(result.data)) == (None, True)


def test_compiled_functions_are_freed_with_their_plan() -> None:
    plan = plan_of(PLAIN, Coercions())
    execute(plan, Quarry([right_stone(), right_stone()]))
    compiled = [weakref.ref(function) for function in plan._functions.values() if function]
    forgotten = weakref.ref(plan)
    assert compiled

    del plan

    assert forgotten() is None
    assert [function() for function in compiled] == [None] * len(compiled)


def test_a_plan_keeps_nothing_of_the_request_that_it_was_compiled_in() -> None:
    plan, quarry = plan_of(PLAIN, Coercions()), Quarry([right_stone()])
    execute(plan, quarry)
    forgotten = weakref.ref(quarry)

    del quarry

    assert forgotten() is None
    assert any(plan._functions.values())


def test_coercions_are_compiled_once_for_all_documents() -> None:
    coercions = Coercions()
    for _ in range(3):
        execute(plan_of(SIEVED, coercions), Quarry(), size=1)
    made = dict(coercions._functions)

    for _ in range(10):
        execute(plan_of(SIEVED, coercions), Quarry(), size=1)

    assert coercions._functions == made
    assert "[Sieve!]" in made
