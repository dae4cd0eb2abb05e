"""What was compiled for a document is freed with it, and nothing of a request stays with the document.

The garbage collector is off here: it runs seldom in the service.
"""

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from graph.api.fast.coercion import Coercions
from graph.api.fast.plan import OperationPlan
from tests.api.fast.stones import Quarry, execute, plan_of, right_stone

PLAIN = "{ stones { key ...F } perhaps { key } } fragment F on Stone { name weight }"
SIEVED = "query ($sieve: Sieve, $sieves: [Sieve!], $size: Int!) { sieved(sieve: $sieve, sieves: $sieves, size: $size) }"


@pytest.fixture(autouse=True)
def no_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def answered(plan: OperationPlan, quarry: Quarry, **given: object) -> None:
    result = asyncio.run(execute(plan, quarry, **given))
    assert (result.errors, bool(result.data)) == (None, True)


def test_compiled_functions_are_freed_with_their_plan_which_keeps_nothing_of_a_request() -> None:
    """Also while records that were completed by them live on."""
    plan, quarry, another = plan_of(PLAIN, no_location=True), Quarry([right_stone(), right_stone()]), Quarry()
    answered(plan, quarry)
    answered(plan, another)
    compiled = [weakref.ref(function) for function in plan._functions.values() if function]
    forgotten, request = weakref.ref(plan), weakref.ref(another)
    assert compiled

    del another
    assert request() is None
    del plan
    assert forgotten() is None
    assert [function() for function in compiled] == [None] * len(compiled)
    assert len(quarry.stones) == 2


def test_coercions_are_compiled_once_for_all_documents() -> None:
    coercions = Coercions()
    for _ in range(3):
        answered(plan_of(SIEVED, coercions=coercions), Quarry(), size=1)
    made = dict(coercions._functions)

    for _ in range(10):
        answered(plan_of(SIEVED, coercions=coercions), Quarry(), size=1)

    assert coercions._functions == made
    assert "[Sieve!]" in made
