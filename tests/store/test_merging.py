"""Several partitions are read as one list, in one order, at the price of a page. Every test runs on every engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.store.between import Between, ItemsFound, Place
from graph.store.conditions import Compare
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.merging import AT_LEAST, MOST_AT_ONCE, MergedPartitions
from graph.store.query import UNBOUNDED, Bounds, Query
from graph.store.time_walk import READ_AT_LEAST, Keep
from graph.work.account import Work
from graph.work.pace import SHORT_AT_ONCE, Pace
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.effort import rounds
from tests.store.engines import empty_database
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, SAMPLE
from tests.turns import turns_counted
from tests.work.accounts import an_account

DAYS = ("mon", "tue", "wed", "thu")
EVERYTHING = Between()


def place(item: Item) -> Place:
    """The place of a sample in the list: its time, and then its key."""
    return item["at"], item["pk"], item["sk"]


def merged(
    database: Database, days: Sequence[str], *, between: Bounds = UNBOUNDED, keep: Keep | None = None, **others: Any
) -> MergedPartitions:
    """The samples of some days."""
    partitions = [(day,) for day in days]
    return MergedPartitions(
        database, Query(entity=SAMPLE, index=BY_TIME, partitions=partitions, between=between, **others), keep
    )


@dataclass(frozen=True)
class Reading:
    """A reading of the list, and what narrows it."""

    size: int
    within: Between
    forward: bool
    days: list[str]
    between: Bounds
    least: float | None  # magnitude, which the store tests
    kinds: str | None  # which Python tests

    def expected(self, items: Sequence[Item]) -> ItemsFound:
        """What it must return."""
        low, high = self.between
        matching = [
            item
            for item in items
            if item["day"] in self.days
            and (low is None or item["at"] >= low)
            and (high is None or item["at"] <= high)
            and (self.least is None or item["mag"] >= self.least)
            and (self.kinds is None or item["kind"] in self.kinds)
            and self.within.holds(place(item))
        ]
        matching.sort(key=place, reverse=not self.forward)
        return ItemsFound(matching[: self.size], len(matching) > self.size, len(self.days))


def of_kinds(kinds: str) -> Keep:
    """A filter that only Python can test."""
    return Keep(lambda item: item["kind"] in kinds, frozenset({"kind"}))


times = st.integers(0, 6)  # so that most items share theirs with others
samples = st.builds(
    lambda day, at, mag, kind: {"day": day, "at": at, "mag": mag, "kind": kind},
    st.sampled_from(DAYS),
    times,
    st.integers(0, 3),
    st.sampled_from("abc"),
)
many_samples = st.lists(samples, max_size=40).map(
    lambda items: [{"pk": f"p{n % 3}", "sk": f"{n * 7 % 41:02}", **item} for n, item in enumerate(items)]
)
places = st.none() | st.tuples(times, st.sampled_from(["p0", "p1", "p2"]), st.integers(0, 40).map("{:02}".format))
readings = st.builds(
    Reading,
    size=st.integers(0, 12),
    within=st.builds(Between, places, places, st.booleans()),
    forward=st.booleans(),
    days=st.lists(st.sampled_from(DAYS), unique=True),
    between=st.tuples(st.none() | times, st.none() | times),
    least=st.none() | st.integers(0, 3),
    kinds=st.none() | st.sampled_from(["a", "ab", ""]),
)


@settings(max_examples=rounds(100), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(items=many_samples, wanted=st.lists(readings, min_size=8, max_size=8), merges=st.integers(1, len(DAYS)))
async def test_a_reading_between_any_two_places_equals_the_sorted_list(
    engine: str, items: list[Item], wanted: list[Reading], merges: int
) -> None:
    async with empty_database(engine, [SAMPLE]) as real:
        database = CountingDatabase(real)
        database.merges = min(merges, real.merges)
        await OneEntity(real, SAMPLE).put_many(items)
        for reading in wanted:
            found = await merged(
                database,
                reading.days,
                between=reading.between,
                keep=None if reading.kinds is None else of_kinds(reading.kinds),
                where=None if reading.least is None else Compare("mag", ">=", reading.least),
            ).read(reading.size, reading.within, forward=reading.forward)
            assert found == reading.expected(items), reading


async def test_a_tie_longer_than_any_reading_comes_whole_and_in_order(table: OneEntity) -> None:
    items = [{"pk": f"{n % 7}", "sk": f"{n:03}", "day": DAYS[n % 4], "at": 5} for n in range(200)]
    await table.put_many(items)

    for forward in (True, False):
        seen: list[Item] = []
        within, more = EVERYTHING, True
        while more:
            found = await merged(table.database, DAYS).read(30, within, forward=forward)
            seen += found.items
            more = found.more
            within = Between(after=place(seen[-1])) if forward else Between(before=place(seen[-1]))

        assert seen == sorted(items, key=place, reverse=not forward)


async def test_only_the_needed_attributes_and_those_of_the_filter_are_read(table: OneEntity) -> None:
    await table.put_many(
        [{"pk": "p", "sk": f"{n}", "day": "mon", "at": n, "mag": n, "kind": "ab"[n % 2]} for n in range(4)]
    )
    odd = Keep(lambda item: bool(item["kind"] == "b"), frozenset({"kind"}))

    found = await merged(table.database, ["mon"], keep=odd, attributes=frozenset({"mag"})).read(
        5, EVERYTHING, forward=True
    )

    position = {"pk": "p", "day": "mon"}
    assert found.items == [{**position, "sk": f"{n}", "at": n, "mag": n, "kind": "b"} for n in (1, 3)]


# What a page costs


def spread(number: int, days: Sequence[str]) -> list[Item]:
    """Items whose days take turns in time."""
    return [{"pk": "p", "sk": f"{n:05}", "day": days[n % len(days)], "at": n} for n in range(number)]


@pytest.mark.parametrize(("partitions", "number"), [(1, 400), (10, 400), (60, 1200)])
async def test_a_page_reads_about_its_own_items_and_each_partition_once(
    table: OneEntity, partitions: int, number: int
) -> None:
    days = [f"day{n:02}" for n in range(partitions)]
    await table.put_many(spread(number, days))
    size, middle = 50, (number // 2, "p", f"{number // 2:05}")

    for forward in (True, False):
        watched = CountingDatabase(table.database)
        within = Between(after=middle) if forward else Between(before=middle)
        found = await merged(watched, days).read(size, within, forward=forward)

        assert [item["at"] for item in found.items] == [
            number // 2 + (n if forward else -n) for n in range(1, size + 1)
        ]
        assert len(watched.calls) == ceil(partitions / table.database.merges)
        assert watched.read(SAMPLE, BY_TIME) == {(day,) for day in days}
        assert watched.items <= max(3 * size, AT_LEAST * partitions)


async def test_a_page_of_one_busy_partition_among_quiet_ones_reads_about_its_own_items(table: OneEntity) -> None:
    quiet = [f"quiet{n}" for n in range(12)]
    items = [{"pk": "p", "sk": f"{n:05}", "day": "busy", "at": n} for n in range(800)]
    items += [
        {"pk": f"q{far}", "sk": f"{n:05}", "day": quiet[n % 12], "at": far + n}
        for far in (-9999, 9999)
        for n in range(240)
    ]
    await table.put_many(items)

    for forward in (True, False):
        size, watched = 100, CountingDatabase(table.database)
        within = Between(after=(0,)) if forward else Between(before=(799,))
        found = await merged(watched, [*quiet, "busy"]).read(size, within, forward=forward)

        assert {item["day"] for item in found.items} == {"busy"}
        assert watched.items <= 13 * 2 * size // 13 + AT_LEAST * 13 + 4 * size


@pytest.mark.parametrize("forward", [True, False])
async def test_partitions_that_are_busy_one_after_the_other_are_each_read_on_by_themselves(
    table: OneEntity, forward: bool
) -> None:
    """The reading of one does not grow because others were read on before it."""
    days, burst = [f"day{n:02}" for n in range(20)], 20
    bursts = range(len(days))
    # The bursts follow each other. Each partition goes on densely behind all of them.
    times = [(n, n * burst + at) for n in bursts for at in range(burst)]
    times += [(n, 100_000 + at) for n in bursts for at in range(100)]
    items = [
        {"pk": "p", "sk": f"{number:05}", "day": days[n], "at": time if forward else -time}
        for number, (n, time) in enumerate(times)
    ]
    await table.put_many(items)
    size, watched = 180, CountingDatabase(table.database)

    found = await merged(watched, days).read(size, EVERYTHING, forward=forward)

    assert found.items == sorted(items, key=place, reverse=not forward)[:size]
    assert watched.items <= 5 * size


async def test_a_filter_in_python_reads_many_items_at_a_time(table: OneEntity) -> None:
    await table.put_many(spread(2 * READ_AT_LEAST, ["mon"]))
    last = Keep(lambda item: bool(item["at"] == 2 * READ_AT_LEAST - 1), frozenset())
    watched = CountingDatabase(table.database)

    found = await merged(watched, ["mon"], keep=last).read(1, EVERYTHING, forward=True)

    assert ([item["at"] for item in found.items], found.more) == ([2 * READ_AT_LEAST - 1], False)
    assert len(watched.calls) == 2


async def test_a_filter_in_python_that_drops_little_of_many_partitions_reads_little_of_each(table: OneEntity) -> None:
    days = [f"day{n:02}" for n in range(40)]
    await table.put_many(spread(1200, days))
    even = Keep(lambda item: bool(item["at"] % 2 == 0), frozenset())
    size, watched = 50, CountingDatabase(table.database)

    found = await merged(watched, days, keep=even).read(size, EVERYTHING, forward=True)

    assert [item["at"] for item in found.items] == [2 * n for n in range(size)]
    assert watched.items <= AT_LEAST * len(days)


async def test_many_partitions_are_not_all_read_in_one_iteration_of_the_loop_if_others_wait(table: OneEntity) -> None:
    readings = 30
    days = [f"day{n:03}" for n in range(readings * table.database.merges)]
    await table.put_many(spread(2 * len(days), days))
    busy = Work(pace=Pace(burst_s=0, slice_s=0, resting_iterations=0))  # nothing may go on without giving way

    with an_account(busy):
        async with turns_counted() as turns:
            found = await merged(table.database, days).read(50, EVERYTHING, forward=True)

    assert len(found.items) == 50
    assert turns.number >= readings / SHORT_AT_ONCE


async def test_a_filter_in_python_is_tested_on_a_bounded_number_of_items_at_a_time() -> None:
    none = Keep(lambda item: False, frozenset())
    async with empty_database("sqlite", [SAMPLE]) as database:
        await OneEntity(database, SAMPLE).put_many(spread(4 * MOST_AT_ONCE, ["mon"]))
        watched = CountingDatabase(database)
        found = await merged(watched, ["mon"], keep=none).read(1, EVERYTHING, forward=True)

    assert (found.items, found.more) == ([], False)
    assert (watched.items, watched.most) == (4 * MOST_AT_ONCE, MOST_AT_ONCE)
