"""What is compiled answers as graphql-core and Strawberry do, to the last byte, errors included.

Documents with fragments, aliases, `@skip`, `@include` and `__typename` are executed over records
that are right, null, of wrong types, failing or awaitable, both ways. The compiled way is taken
more than once, since its functions are kept.
"""

import asyncio
from collections import Counter
from itertools import islice
from typing import Any

import orjson
import pytest
from graphql import (
    ExecutionResult,
    NoUnusedFragmentsRule,
    NoUnusedVariablesRule,
    execute,
    parse,
    specified_rules,
    validate,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strawberry.execution import optimized_is_awaitable

from graph.api.fast import execution
from graph.api.fast.coercion import Coercions
from graph.api.fast.execution import Request
from graph.api.fast.plan import OperationPlan
from graph.store.records import Records, Stored
from tests.api.fast.stones import (
    ANY,
    BROKEN_SIEVES,
    ODD,
    ORDINARY,
    PLACES,
    SHORTENED,
    Quarry,
    StoneRecord,
    documents,
    in_rows,
    plan_of,
    quarries,
    questions,
    right_stone,
)
from tests.effort import THOROUGH, rounds

RULES = [rule for rule in specified_rules if rule not in (NoUnusedFragmentsRule, NoUnusedVariablesRule)]
ATTRIBUTES = {"shout": "name", "whisper": "name", "label": "weight", "spot": "weight"}  # resolver → what it reads
ODD_JSON: list[Any] = [None, "", "x", 2.5, 3.0, 2**31, -(2**31) - 1, 2**70, True, [], [None], {}]
EXAMPLES = rounds(400)
THOROUGHLY = settings(
    max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def valid(text: str, **options: Any) -> OperationPlan:
    assert validate(SHORTENED, parse(text), RULES) == []
    return plan_of(text, **options)


def serialised(result: ExecutionResult) -> bytes:
    """The answer as it is sent. What JSON cannot hold has no answer in either way."""
    try:
        return orjson.dumps({"data": result.data, "errors": [error.formatted for error in result.errors or ()]})
    except TypeError as error:
        return f"unwritable: {error}".encode()


async def ordinarily(text: str, variables: dict[str, Any], quarry: Quarry) -> bytes:
    result: Any = execute(
        ORDINARY,
        parse(text),
        context_value=quarry,
        variable_values=variables,
        is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]  # it says bool where a guard is meant
    )
    return serialised(await result if optimized_is_awaitable(result) else result)


async def compiled(plan: OperationPlan, given: dict[str, Any], quarry: Quarry) -> bytes:
    variables = plan.variables(given, max_errors=50)
    if isinstance(variables, list):
        return serialised(ExecutionResult(None, variables))
    return serialised(await execution.execute(plan, Request(variables, quarry)))


def both_ways_agree(
    runner: asyncio.Runner, plan: OperationPlan, text: str, variables: dict[str, Any], quarry: Quarry
) -> bytes:
    """The answer, which all ways have."""

    async def answers() -> list[bytes]:
        expected = await ordinarily(text, variables, quarry)
        return [expected, *[await compiled(plan, variables, quarry) for _ in range(2)]]

    expected, *found = runner.run(answers())
    assert found == [expected] * 2
    return expected


@pytest.mark.repeated
def test_a_compiled_selection_answers_as_the_executor_does() -> None:
    met: Counter[str] = Counter()

    with asyncio.Runner() as runner:

        @THOROUGHLY
        @given(documents(), quarries(), st.booleans(), st.sampled_from([{}, {"no": True}, {"no": False}]))
        @example("{ stones { weight } }", Quarry([right_stone(weight="heavy")]), True, {})
        @example("{ stones { whisper } }", Quarry([right_stone()]), True, {})
        def agree(text: str, quarry: Quarry, yes: bool, no: dict[str, Any]) -> None:
            plan = valid(text)
            for switch in (yes, not yes):
                answer = both_ways_agree(runner, plan, text, {"yes": switch, **no}, quarry)
                met["failed" if b'"errors":[{' in answer else "succeeded"] += 1
            met["compiled"] += any(plan._functions.values())
            met["not plain"] += None in plan._functions.values()

        agree()
    # Hypothesis draws on constants of the code under test, so the shares move with every change of it.
    least = EXAMPLES / 20 if THOROUGH else 0
    assert min(met[kind] for kind in ("failed", "succeeded", "compiled", "not plain")) > least


def test_what_is_written_of_a_stored_value_is_not_converted_and_written() -> None:
    class Untimely(StoneRecord):
        count = Stored[Any]("count", ANY, lambda value: 1 // 0, optional=True, written=lambda value: value + 1)
        marks = Stored[Any]("marks", ANY, lambda value: 1 // 0, written=list)

    text = "{ stones { count marks } }"
    plan = valid(text)
    stones = [right_stone().item, right_stone(count=None).item]
    rows = in_rows(stones)
    expected = {"stones": [{"count": 2, "marks": ["m"]}, {"count": None, "marks": ["m"]}]}
    with asyncio.Runner() as runner:
        for records in (list(map(Untimely, stones)), Records(Untimely, rows.items)):
            answer = runner.run(compiled(plan, {}, Quarry(records)))
            assert orjson.loads(answer) == {"data": expected, "errors": []}


def test_null_is_not_written_for_a_stored_value_that_may_not_be_null() -> None:
    class Nameless(StoneRecord):
        name = Stored[Any]("name", ANY, optional=True, written=str)

    text, quarry = "{ stones { name } }", Quarry([Nameless(right_stone(name=None).item)])
    with asyncio.Runner() as runner:
        assert b"Cannot return null" in both_ways_agree(runner, valid(text), text, {}, quarry)


def test_one_wrong_element_makes_no_other_compile_anew() -> None:
    made: list[object] = []

    class Noting(OperationPlan):
        def function(self, *arguments: Any) -> Any:
            function = super().function(*arguments)
            if not any(function is each for each in made):
                made.append(function)
            return function

    text = "{ stones { name weight key tags } }"
    quarry = Quarry([right_stone(weight="heavy"), *(right_stone() for _ in range(30))])
    plan = plan_of(text)
    noting = Noting(SHORTENED, Coercions(), plan.document, plan.operation, most_fields=5)
    with asyncio.Runner() as runner:
        both_ways_agree(runner, noting, text, {}, quarry)

    assert len(made) < 10


@pytest.mark.parametrize("place", PLACES)
def test_both_executions_answer_any_attribute_alike(place: str) -> None:
    """Also where a sole root field is answered without an executor."""
    sole = f"{{ stones {{ key {PLACES[place]} }} }}"
    several = f"{{ stones {{ key {PLACES[place]} }} perhaps {{ {PLACES[place]} }} first {{ {PLACES[place]} }} }}"
    plans = {text: valid(text) for text in (sole, several)}
    with asyncio.Runner() as runner:
        for odd in ODD:
            held = [odd] if place == "beside" else odd
            stones = [right_stone(), right_stone(**{ATTRIBUTES.get(place, place): held})]
            for text, plan in plans.items():
                for some in (stones, stones[::-1], [odd], in_rows([stone.item for stone in stones])):
                    both_ways_agree(runner, plan, text, {}, Quarry(some))
    assert (plans[sole].sole_field(()) is not None) is (place != "whisper")  # which is a coroutine


def test_a_wrong_variable_gets_the_same_message() -> None:
    declared = "$sieve: Sieve, $sieves: [Sieve], $size: Int!"
    text = f"query ({declared}) {{ sieved(sieve: $sieve, sieves: $sieves, size: $size) }}"
    plan = valid(text)
    with asyncio.Runner() as runner:
        for sent in (*BROKEN_SIEVES, *ODD_JSON):
            for given in ({"sieve": sent, "size": 1}, {"sieves": [sent], "size": 1}, {"size": sent}, {"sieve": sent}):
                both_ways_agree(runner, plan, text, given, Quarry())


def test_compiled_variables_and_arguments_reach_resolvers_as_they_always_did() -> None:
    """A quick run takes one question of many: by its step, each argument comes in all ways beside all others."""
    with asyncio.Runner() as runner:
        met = Counter(
            b'"data":null' in both_ways_agree(runner, valid(text), text, sent, Quarry())
            for text, sent in islice(questions(), None, None, 1 if THOROUGH else 37)
        )
    assert min(met[refused] for refused in (False, True)) > met.total() / 20


def test_null_does_not_pass_for_what_may_not_be_null_though_its_variable_may() -> None:
    text = "query ($size: Int = 5) { sieved(size: $size) }"
    given: list[tuple[dict[str, Any], int | None]] = [({"size": None}, None), ({"size": 4}, 4), ({}, 5)]
    with asyncio.Runner() as runner:
        for sent, taken in given:
            answer = both_ways_agree(runner, valid(text), text, sent, Quarry())
            assert orjson.loads(answer)["data"] == ({"sieved": f"(None, None, {taken}, None)"} if taken else None)
