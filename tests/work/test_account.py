"""The account of an operation: what it may read, and what it shares with others of its caller."""

import asyncio

import pytest

from graph.core.errors import Overloaded, QueryTooComplex, RateLimited
from graph.work.account import (
    HEAVY_POINTS,
    ROWS_READ_PER_POINT,
    ROWS_TESTED_PER_POINT,
    Account,
    Work,
    WorkLimits,
    charge_rows,
    charged_to,
    current_caller,
)
from graph.work.length import LEAST_LONG, LEAST_USUAL, Length
from tests.work.accounts import an_account, free


async def test_rows_are_charged_in_whole_points_and_no_part_is_lost() -> None:
    charged: list[int] = []

    async def charge(points: int) -> None:
        charged.append(points)

    with charged_to(Account(Work(), "a", 1000, charge)) as account:
        for _ in range(2 * ROWS_TESTED_PER_POINT):
            await charge_rows(tested=1)
        await charge_rows(read=5 * ROWS_READ_PER_POINT)

    assert (sum(charged), account.spent) == (7, 7)
    assert len(charged) == 3


async def test_an_operation_that_may_spend_no_more_is_refused_before_it_reads() -> None:
    with charged_to(an_account(most=10)) as account:
        await charge_rows(read=10 * ROWS_READ_PER_POINT)
        with pytest.raises(QueryTooComplex, match="narrow its time range"):
            await charge_rows(read=ROWS_READ_PER_POINT)

    assert account.spent == 10


async def test_a_caller_without_points_is_refused() -> None:
    async def charge(points: int) -> None:
        raise RateLimited(7)

    with charged_to(Account(Work(), "a", 1000, charge)), pytest.raises(RateLimited):
        await charge_rows(tested=ROWS_TESTED_PER_POINT)


async def test_work_without_an_account_is_the_services_own_and_free() -> None:
    assert current_caller() == ""
    await charge_rows(read=10**9)


async def test_an_operation_that_reads_much_counts_as_heavy_until_it_ends() -> None:
    work = Work(WorkLimits(process=2, caller=1))
    with charged_to(an_account(work)):
        await charge_rows(read=HEAVY_POINTS * ROWS_READ_PER_POINT)
        assert work.heavy_operations == 0
        await charge_rows(read=ROWS_READ_PER_POINT)
        await charge_rows(read=ROWS_READ_PER_POINT)
        assert work.heavy_operations == 1
        with charged_to(an_account(work)), pytest.raises(Overloaded):
            await charge_rows(read=(HEAVY_POINTS + 1) * ROWS_READ_PER_POINT)
    assert work.heavy_operations == 0


async def test_tasks_of_an_operation_share_its_account() -> None:
    with charged_to(an_account()) as account:
        await asyncio.gather(*(charge_rows(read=ROWS_READ_PER_POINT) for _ in range(3)))
        assert current_caller() == "a"

    assert account.spent == 3
    assert current_caller() == ""


async def test_an_operation_grows_longer_with_what_it_reads() -> None:
    account = Account(Work(), "a", 100_000, free, price=11)
    lengths = [account.length]
    for points in (LEAST_USUAL, LEAST_LONG):
        await account.spend(points)
        lengths.append(account.length)

    assert lengths == [Length.SHORT, Length.USUAL, Length.LONG]
    assert Account(Work(), "a", 0, free, price=LEAST_LONG).length is Length.LONG
