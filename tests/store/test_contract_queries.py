"""The store's contract: the order of a query, its bounds and its start. Every test runs on every engine."""

from dataclasses import replace
from itertools import product

import pytest

from graph.store.conditions import Compare
from graph.store.contract import Delete
from graph.store.query import UNBOUNDED
from graph.store.values import InvalidItem
from tests.store.one_entity import OneEntity, read_on
from tests.store.samples import BY_NAME, BY_TIME, key, sample, sks, timed


async def test_texts_and_numbers_are_ordered_as_such(table: OneEntity) -> None:
    names = ["!", "10", "9", "A", "Z", "a", "zz", "é", "한", "\U0001f300"]
    times = [-(2**63), -1e25, -10, -9.5, -1e-7, 0, 0.1, 4.55, 9, 10, 2**53, 2**53 + 2, 1e25]
    await table.put_many([sample("n", str(i), team="t", name=name) for i, name in enumerate(reversed(names))])
    await table.put_many([timed(str(i), at) for i, at in enumerate(reversed(times))])

    assert [item["name"] for item in (await table.query(BY_NAME, "t")).items] == names
    assert [item["at"] for item in (await table.query(BY_TIME, "mon")).items] == sorted(times)
    assert [item["at"] for item in (await table.query(BY_TIME, "mon", forward=False)).items] == sorted(times)[::-1]


async def test_only_the_queried_partition_is_read(table: OneEntity) -> None:
    await table.put_many(
        [timed("a", 1, "mon"), timed("b", 2, "tue"), sample("p", "c", at=3), sample("q", "d", day="mon")]
    )

    assert sks((await table.query(BY_TIME, "mon")).items) == ["a"]
    assert sks((await table.query(BY_TIME, "wed")).items) == []
    assert sks((await table.query(table.design.primary, "p")).items) == ["a", "b", "c"]


async def test_the_first_items_of_each_partition_are_those_of_a_query_of_the_partition(table: OneEntity) -> None:
    days = ["wed", "none", "mon", *(f"{n}" for n in range(40)), "tue"]
    await table.put_many([timed(f"{n:02}", n * n % 5, days[n % 4], n=n) for n in range(20)])
    await table.put_many([timed(day, 1, day, n=1) for day in days[4:]])
    query = table.query_of(BY_TIME, days)
    limits: list[tuple[int, int | None]] = [(1, None), (3, None), (3, 2), (2000, None)]  # of each, and of `at`
    for number, (limit, most) in enumerate(limits):
        for where in (None, Compare("n", "<", 15)):
            forward = (number % 2 == 0) is (where is None)
            query = replace(query, between=(None, most), forward=forward, where=where)

            found = await table.database.first_of_each(query, limit)

            each = [replace(query, partitions=[(day,)], limit=limit) for day in days]
            assert found == [(await table.database.query(one)).items for one in each]


async def test_a_query_that_orders_ties_has_items_of_one_sort_key_in_the_order_of_their_primary_keys(
    table: OneEntity,
) -> None:
    times = [1, *[2] * 80, 3, 4, 4]  # a tie of more than a filtered reading has at first
    items = [sample(f"p{i * 31 % 97:02}", f"{i:02}", day="mon", at=at, mag=i % 3) for i, at in enumerate(times)]
    await table.put_many(items)
    for forward, where in product((True, False), (None, Compare("mag", "=", 0))):
        wanted = [item for item in items if not where or item["mag"] == 0]
        expected = sorted(wanted, key=lambda item: (item["at"], item["pk"]), reverse=not forward)
        query = table.query_of(BY_TIME, ["mon"], forward=forward, where=where, orders_ties=True)
        assert (await table.database.query(query)).items == expected
        for limit in (1, 2, 7, 83):
            assert await read_on(table.database, replace(query, limit=limit)) == expected, (limit, forward, where)
    nowhere = {"day": "mon", "at": 2, "pk": "p50x", "sk": ""}
    later = sorted(item["pk"] for item in items if item["at"] == 2 and item["pk"] > "p50x")
    for between, beyond in ((UNBOUNDED, 3), ((2, 2), 0), ((2, 3), 1), ((3, None), 3)):
        rest = await table.query(BY_TIME, "mon", start=nowhere, between=between, orders_ties=True)
        assert [item["pk"] for item in rest.items[: len(rest.items) - beyond]] == (later if between[0] != 3 else [])


@pytest.mark.parametrize("forward", [True, False])
async def test_a_query_resumes_after_any_item_even_a_deleted_one(table: OneEntity, forward: bool) -> None:
    await table.put_many([sample(f"p{i}", "s", day="mon", at=at) for i, at in enumerate([1, 2, 2, 2, 3])])
    items = (await table.query(BY_TIME, "mon", forward=forward)).items

    for i, item in enumerate(items):
        position = {name: item[name] for name in ("day", "at", "pk", "sk")}
        assert (await table.query(BY_TIME, "mon", forward=forward, start=item)).items == items[i + 1 :]
        assert (await table.query(BY_TIME, "mon", forward=forward, start=position)).items == items[i + 1 :]
        assert (await table.query(BY_TIME, "mon", forward=not forward, start=item)).items == items[:i][::-1]

    primary, position = table.design.primary, {"pk": "p2", "sk": "never there"}
    assert sks((await table.query(primary, "p2", start=position, forward=not forward)).items) == (
        [] if forward else ["s"]
    )
    await table.delete(Delete(key(items[2]["pk"], items[2]["sk"])))
    assert (await table.query(BY_TIME, "mon", forward=forward, start=items[2])).items == items[3:]
    assert (await table.query(BY_TIME, "mon", forward=not forward, start=items[2])).items == items[:2][::-1]


@pytest.mark.parametrize("forward", [True, False])
async def test_bounds_are_inclusive_and_a_start_may_lie_anywhere_about_them(table: OneEntity, forward: bool) -> None:
    items = {at: timed(str(at), at) for at in range(1, 6)}
    await table.put_many([*items.values()])
    bounds = [(2, 4), (2, 9), (-9, 4), (-9, 9), (2, 2), (1.5, 4.5), (6, 9), (-9, 0), (4, 2)]

    for low, high in bounds:
        for at in (None, -5, 1, 1.2, 1.7, 2, 3, 4, 4.2, 4.7, 5, 99):
            start = None if at is None else items[int(at)] if at in items else timed("gone", at)
            ahead = [n for n in items if low <= n <= high and (at is None or (n > at if forward else n < at))]
            for between in ((low, high), (None if low < 0 else low, None if high > 5 else high)):
                page = await table.query(BY_TIME, "mon", between=between, forward=forward, start=start)

                assert [item["at"] for item in page.items] == (ahead if forward else ahead[::-1]), (between, at)
                assert page.last_key is None


async def test_a_start_that_lacks_a_key_is_refused(table: OneEntity) -> None:
    await table.put(timed("a", 1))

    with pytest.raises(InvalidItem):
        await table.query(BY_TIME, "mon", start={"day": "mon", "at": 1})
