"""What DynamoDB answers only for the moment is tried again; what lasts is DatabaseUnavailable."""

import asyncio
from typing import Any

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Action, Put, Update
from graph.store.entity import Item
from graph.store.values import InvalidItem
from tests.store.fault_proxy import Answer, Forward, Proxied, always, first, held_until, pass_on, processing_at_most
from tests.store.samples import SAMPLE, key, sample

ITEMS = [sample("many", f"{n:03}", n=n) for n in range(120)]
KEYS = [("many", f"{n:03}") for n in range(120)]


@pytest.fixture
def table(proxied: Proxied) -> Proxied:
    return proxied


async def everything(table: Proxied) -> list[Item]:
    return sorted([item async for item in table.scan()], key=lambda item: (str(item["pk"]), str(item["sk"])))


async def test_what_was_left_unprocessed_is_sent_again(table: Proxied) -> None:
    table.proxy.rule = processing_at_most(10)

    await table.put_many(ITEMS)

    sizes = [len(*request["RequestItems"].values()) for request in table.proxy.of("BatchWriteItem")]
    assert sorted(sizes) == [5] * 4 + [10] + [15] * 4 + [20] + [25] * 4
    assert await everything(table) == ITEMS

    table.proxy.rule = processing_at_most(40)

    assert await table.get_many(KEYS) == dict(zip(KEYS, ITEMS, strict=True))

    sizes = [
        len(request["RequestItems"][name]["Keys"])
        for request in table.proxy.of("BatchGetItem")
        for name in request["RequestItems"]
    ]
    assert sorted(sizes) == [20, 20, 60, 100]
    assert table.pauses == []


async def test_a_batch_without_progress_is_sent_again_after_a_pause(table: Proxied) -> None:
    table.proxy.rule = first(processing_at_most(0))
    await table.put_many(ITEMS[:25])
    table.proxy.rule = first(processing_at_most(0))
    found = await table.get_many(KEYS[:25])

    assert found == dict(zip(KEYS[:25], ITEMS[:25], strict=True))
    assert len(table.pauses) == 2
    assert all(0 <= pause <= 0.05 for pause in table.pauses)


async def test_batches_that_are_never_processed_make_the_store_unavailable(table: Proxied) -> None:
    table.proxy.rule = processing_at_most(0)

    with pytest.raises(DatabaseUnavailable) as raised:
        await table.put_many(ITEMS[:3])
    assert raised.value.detail.endswith("is overloaded, or throttles this account")
    with pytest.raises(DatabaseUnavailable):
        await table.get_many(KEYS[:3])

    assert len(table.proxy.of("BatchWriteItem")) == len(table.proxy.of("BatchGetItem")) == 4
    assert len(table.pauses) == 6


def cancelled(*codes: str) -> Answer:
    reasons = [{"Code": code} if code == "None" else {"Code": code, "Message": f"for {code}"} for code in codes]
    return Answer.error("TransactionCanceledException", CancellationReasons=reasons)


THREE: list[Action] = [Put(SAMPLE, sample(f"{n}"), if_absent=True) for n in range(3)]


async def test_what_was_refused_for_the_moment_is_sent_again(table: Proxied) -> None:
    for code in ("TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "NewReason"):
        table.proxy.requests.clear()
        table.pauses.clear()
        table.proxy.rule = first(always(cancelled("None", code, "None")))

        assert await table.transact([Put(SAMPLE, sample(f"{n}", by=code)) for n in range(3)]) == ()

        assert len(table.proxy.of("TransactWriteItems")) == 2
        assert len(table.pauses) == 1
        assert await everything(table) == [sample(f"{n}", by=code) for n in range(3)]
    for code in ("TransactionConflictException", "ReplicatedWriteConflictException"):
        table.proxy.rule = first(always(Answer.error(code)))

        assert await table.put(sample(by=code)) is True

        assert await table.get(("p", "s")) == sample(by=code)


async def test_a_transaction_in_lasting_conflict_makes_the_store_unavailable(table: Proxied) -> None:
    table.proxy.rule = always(cancelled("None", "TransactionConflict", "None"))

    with pytest.raises(DatabaseUnavailable) as raised:
        await table.transact(THREE)

    assert raised.value.detail.endswith("is kept busy by other writers of the same items")
    assert len(table.pauses) == 3
    table.proxy.rule = always(Answer.error("TransactionCanceledException"))  # without reasons
    with pytest.raises(DatabaseUnavailable):
        await table.transact(THREE)


async def test_a_conflict_beside_a_refusal_is_tried_again_and_the_refusal_answered(table: Proxied) -> None:
    both = always(cancelled("ConditionalCheckFailed", "None", "TransactionConflict"))
    table.proxy.rule = both
    assert await table.transact(THREE) == (0,), "the conflict lasts"

    table.proxy.rule = pass_on
    await table.put_many([sample("0"), sample("2")])
    table.proxy.rule = first(both)
    assert await table.transact(THREE) == (0, 2), "of all positions"
    assert await table.get(("1", "s")) is None


async def test_an_error_wins_over_an_earlier_refused_condition(table: Proxied) -> None:
    answers = [
        cancelled("ConditionalCheckFailed", "TransactionConflict", "None"),
        Answer.error("AccessDeniedException"),
    ]

    async def one_then_the_other(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        return answers.pop(0)

    table.proxy.rule = one_then_the_other

    with pytest.raises(DatabaseUnavailable):
        await table.transact(THREE)


@pytest.mark.parametrize("code", ["ValidationError", "ItemCollectionSizeLimitExceeded"])
async def test_an_action_that_can_never_apply_is_an_invalid_item(table: Proxied, code: str) -> None:
    table.proxy.rule = always(cancelled("TransactionConflict", code, "ConditionalCheckFailed"))

    with pytest.raises(InvalidItem, match=f"for {code}"):
        await table.transact(THREE)

    assert len(table.proxy.of("TransactWriteItems")) == 1


async def test_a_lost_answer_neither_counts_twice_nor_passes_for_a_refusal(table: Proxied) -> None:
    async def apply_and_hang_up(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        assert (await forward(request)).status == 200
        return None

    table.proxy.rule = first(apply_and_hang_up)
    assert await table.update(Update(key(), add={"n": 1})) is True
    table.proxy.rule = first(apply_and_hang_up)
    assert await table.put(sample("q"), if_absent=True) is True

    assert await everything(table) == [sample(n=1), sample("q")]
    assert len(table.proxy.of("TransactWriteItems")) == 4


async def test_readers_are_not_held_up_by_a_writer_that_waits(table: Proxied) -> None:
    release = asyncio.Event()

    table.proxy.rule = held_until(release, "TransactWriteItems")
    writing = asyncio.create_task(table.transact(THREE))

    assert await table.get(("0", "s")) is None
    release.set()
    assert await writing == ()
    assert await table.get(("0", "s")) == sample("0")
