"""The store's contract: sort keys of several attributes, their bounds and walks. Every test runs on every engine."""

import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.core.paging import Later, Paging
from graph.store.attributes import Text, Whole
from graph.store.between import Between
from graph.store.conditions import Compare
from graph.store.contract import Database, Put, Update
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity, Item
from graph.store.merging import MergedPartitions
from graph.store.query import UNBOUNDED, Bounds, Partition, Query
from graph.store.sqlite import open_sqlite
from graph.store.sqlite.query import PreparedSqlQuery
from graph.store.sqlite.table import EntityTable
from graph.store.sqlite.threads import ReadConnection
from graph.store.time_walk import Promises, Walk
from graph.store.values import InvalidItem
from tests.domains.earthquakes.watched_database import CountingDatabase
from tests.effort import rounds
from tests.store.engines import empty_database
from tests.store.one_entity import read_on

BY_KIND = Index("ByKind", KeyAttribute("owner", "S"), KeyAttribute("kind#time", "S"))
LETTERS = TableDesign(
    "letters", KeyAttribute("owner", "S"), KeyAttribute("time#id", "S"), indexes=(BY_KIND,), ttl="ttl"
)
LETTER = Entity(
    "LETTER",
    LETTERS,
    key=("{owner}", "{time}#{id}"),
    indexes={BY_KIND: ("{owner}", "{kind}#{time}")},
    attributes=(
        Text("owner", longest=40),
        Text("time", shortest=3, longest=3),
        Text("id", longest=40),
        Text("kind", longest=40, plain=True),
        Whole("weight", optional=True),
    ),
)
BY_TIME = LETTERS.primary
KINDS = ("user", "user-x", "user.created", "user.created_late", "user0", "USER", "")  # some begin others


@pytest.fixture
async def database(engine: str) -> AsyncIterator[Database]:
    async with empty_database(engine, [LETTER]) as database:
        yield database


def letter(kind: str, time: str, name: str = "a", **attributes: Any) -> Item:
    return {"owner": "ann", "time": time, "id": name, "kind": kind, **attributes}


async def put(database: Database, letters: Sequence[Item]) -> None:
    await database.put_many([Put(LETTER, item) for item in letters])


def sort_names(index: Index) -> tuple[str, ...]:
    return LETTER.templates[index].sort.names


def place(item: Mapping[str, Any], index: Index) -> tuple[Any, ...]:
    return tuple(item[name] for name in sort_names(index))


async def found(database: Database, index: Index, between: Bounds = UNBOUNDED, **others: Any) -> list[tuple[Any, ...]]:
    """The places of the letters that a query finds."""
    query = Query(entity=LETTER, index=index, partitions=[("ann",)], between=between, **others)
    return [place(item, index) for item in (await database.query(query)).items]


async def test_a_kind_that_begins_another_comes_first_and_a_text_of_one_length_may_have_any_characters(
    database: Database,
) -> None:
    times = ("001", "a#b", "a##", "!!!", "éé\U0001f300", "###")
    letters = [letter(kind, time, f"{kind}{name}") for kind, time, name in product(KINDS, times, ("", "#", "z"))]
    await put(database, letters[::-1])

    for index in (BY_KIND, BY_TIME):
        expected = sorted(place(each, index) for each in letters)
        assert await found(database, index) == expected
        assert await found(database, index, forward=False) == expected[::-1]
    assert LETTER.templates[BY_TIME].sort.parse("a#b##") == {"time": "a#b", "id": "#"}


async def test_bounds_of_several_attributes_include_all_that_begin_with_them(database: Database) -> None:
    some = {"user": 3, "user.created": 3, "user.created_late": 2}
    await put(database, [letter(kind, f"00{n}", kind) for kind, times in some.items() for n in range(1, times + 1)])

    bounds: list[tuple[Bounds, list[str]]] = [
        (("user.created", "user.created"), ["user.created 1", "user.created 2", "user.created 3"]),
        ((("user.created",), ("user.created",)), ["user.created 1", "user.created 2", "user.created 3"]),
        ((("user.created", "002"), ("user.created", "003")), ["user.created 2", "user.created 3"]),
        ((("user.created", "002"), "user.created"), ["user.created 2", "user.created 3"]),
        (("user.created", ("user.created", "002")), ["user.created 1", "user.created 2"]),
        ((("user", "003"), ("user.created", "001")), ["user 3", "user.created 1"]),
        ((("user.created", "003"), None), ["user.created 3", "user.created_late 1", "user.created_late 2"]),
        ((None, ("user", "001")), ["user 1"]),
        ((("user.created", "0015"), ("user.created", "0025")), ["user.created 2"]),
        ((("user.created", "003"), ("user.created", "001")), []),
        ((("user.created", "001"), "user"), []),
        (((), ("user", "001")), ["user 1"]),
        ((("user.creat", "001"), ("user.creat", "999")), []),
    ]
    for between, expected in bounds:
        for forward in (True, False):
            places = await found(database, BY_KIND, between, forward=forward)
            assert [f"{kind} {int(time)}" for kind, time in places] == (expected if forward else expected[::-1])
        query = Query(entity=LETTER, index=BY_KIND, partitions=[("ann",)], between=between)
        assert await database.count(query) == len(expected)


async def test_a_bound_that_no_key_can_have_is_refused(database: Database) -> None:
    for low in ("user created", ("user#", "001"), ("user", "001", "more"), (5, "001"), ("user", 1)):
        with pytest.raises(InvalidItem):
            await found(database, BY_KIND, (low, None))
        with pytest.raises(InvalidItem):
            await found(database, BY_KIND, (None, low))


async def test_an_update_moves_an_item_in_an_index_that_the_primary_key_orders_too(database: Database) -> None:
    await put(database, [letter("user", "001"), letter("user.created", "002", "b")])

    assert await database.update(Update(LETTER.key_for("ann", "001", "a"), set={"kind": "zebra"}))

    assert await found(database, BY_KIND) == [("user.created", "002"), ("zebra", "001")]


# Any letters, by a model

times = st.sampled_from(["001", "002", "003", "0#4"])
kinds = st.sampled_from(KINDS)
letters = st.lists(
    st.tuples(kinds, times, st.integers(0, 9)), unique_by=lambda each: (each[1], each[2]), max_size=20
).map(lambda some: [letter(kind, time, f"{n}", weight=n % 3) for kind, time, n in some])
bounds_of = {
    BY_KIND: st.none() | kinds | st.tuples(kinds) | st.tuples(kinds, times),
    BY_TIME: st.none() | times | st.tuples(times, st.sampled_from("0459")),
}
indexes = st.sampled_from([BY_KIND, BY_TIME])


@dataclass(frozen=True)
class Reading:
    """A query of letters."""

    index: Index
    between: Bounds
    forward: bool
    size: int
    weight: int | None

    @property
    def query(self) -> Query:
        where = None if self.weight is None else Compare("weight", ">=", self.weight)
        index = None if self.index is BY_TIME else self.index
        return Query(entity=LETTER, index=index, partitions=[("ann",)], between=self.between, where=where)

    def matches(self, item: Item) -> bool:
        """Whether it finds an item, by Python's order of tuples."""
        low, high = (each if isinstance(each, tuple) or each is None else (each,) for each in self.between)
        at = place(item, self.index)
        return (
            (low is None or at[: len(low)] >= low)
            and (high is None or at[: len(high)] <= high)
            and (self.weight is None or item["weight"] >= self.weight)
        )


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    index = draw(indexes)
    between = draw(bounds_of[index]), draw(bounds_of[index])
    return Reading(index, between, draw(st.booleans()), draw(st.integers(1, 6)), draw(st.none() | st.integers(0, 2)))


HYPOTHESIS = settings(
    max_examples=rounds(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


async def in_order(database: Database, index: Index, *, orders_ties: bool = False) -> list[Item]:
    """All letters in the order of an index. The engine orders those that share a sort key, unless it is asked to."""
    query = Query(entity=LETTER, index=index, partitions=[("ann",)], orders_ties=orders_ties)
    items = (await database.query(query)).items
    assert [place(item, index) for item in items] == sorted(place(item, index) for item in items)
    return list(items)


@HYPOTHESIS
@given(items=letters, wanted=st.lists(readings(), min_size=5, max_size=5), at=st.integers(0, 19))
async def test_queries_equal_a_sorted_list(engine: str, items: list[Item], wanted: list[Reading], at: int) -> None:
    async with empty_database(engine, [LETTER]) as database:
        await put(database, items)
        for reading in wanted:
            whole = await in_order(database, reading.index)
            assert len(whole) == len(items)
            assert all(item in items for item in whole)
            if not reading.forward:
                whole.reverse()
            query = replace(reading.query, forward=reading.forward, limit=reading.size)

            assert await read_on(database, query) == list(filter(reading.matches, whole))
            if whole:
                start = whole[at % len(whole)]  # inside the bounds, or before or behind them
                behind = whole[whole.index(start) + 1 :]
                assert await read_on(database, replace(query, start=start)) == list(filter(reading.matches, behind))


async def one_owner(*, forward: bool, start: Partition | None) -> AsyncGenerator[Promises, None]:
    yield [(("ann",), 100, 100)]


@HYPOTHESIS
@given(items=letters, reading=readings(), ends=st.tuples(*[st.none() | st.integers(0, 19)] * 2), backward=st.booleans())
async def test_a_walk_between_any_two_letters_equals_the_list(
    engine: str, items: list[Item], reading: Reading, ends: tuple[int | None, int | None], backward: bool
) -> None:
    async with empty_database(engine, [LETTER]) as database:
        await put(database, items)
        whole = await in_order(database, reading.index, orders_ties=True)
        if not reading.forward:
            whole.reverse()
        first, last = (at % len(whole) if at is not None and whole else None for at in ends)
        after, before = (None if at is None else whole[at] for at in (first, last))
        between = whole[0 if first is None else first + 1 : last]
        expected = list(filter(reading.matches, between))

        page = await Walk(database, reading.query, one_owner).page(
            Paging(reading.size, backward, after=after, before=before),
            forward=reading.forward,
            record_of=lambda letter: letter,
        )

    assert page.records == (expected[-reading.size :] if backward else expected[: reading.size])
    assert page.has_more is (len(expected) > reading.size)


@pytest.mark.parametrize("forward", [True, False])
async def test_a_walk_knows_whether_anything_lies_behind_its_start(database: Database, forward: bool) -> None:
    letters = [letter("user", f"00{n}", f"{n}") for n in range(5)] + [letter("user.created", "001", "x")]
    await put(database, letters)

    async def behind(start: Item, between: Bounds) -> bool:
        walk = Walk(database, Query(entity=LETTER, index=BY_KIND, between=between), one_owner)
        paging = Paging(5, after=start)
        page = await walk.page(paging, forward=forward, record_of=lambda each: each)
        return bool(await page.has_behind) if isinstance(page.has_behind, Later) else page.has_behind

    starts = [letters[at] for at in ((0, 1, 3, 5) if forward else (5, 3, 1, 0))]
    assert [await behind(start, (("user", "001"), ("user", "003"))) for start in starts] == [False, True, True, True]
    assert [await behind(start, (("user", "0015"), ("user", "0018"))) for start in starts] == [False] * 4


@pytest.mark.parametrize("forward", [True, False])
async def test_a_walk_up_to_a_letter_reads_only_those_that_share_its_sort_key_besides(
    database: Database, forward: bool
) -> None:
    await put(database, [letter("user", f"{n:03}", f"{n}") for n in range(30)])
    counting = CountingDatabase(database)
    names = LETTER.position_names(BY_KIND)
    low, high = (tuple(letter("user", f"{at:03}", f"{at}")[name] for name in names) for at in (10, 14))

    walk = Walk(counting, Query(entity=LETTER, index=BY_KIND), one_owner)
    reading = await walk.read(20, Between(low, high), forward=forward)

    assert [item["time"] for item in reading.items] == (["011", "012", "013"] if forward else ["013", "012", "011"])
    assert counting.items == 4


def plans(path: Path, query: Query, *starts: Item | None) -> list[list[str]]:
    """How SQLite searches for a query that begins at each of these starts."""
    with closing(sqlite3.connect(path, factory=ReadConnection)) as db:
        statements: list[str] = []
        db.set_trace_callback(statements.append)
        for start in starts:
            PreparedSqlQuery(EntityTable(query.entity), query).read(db, [("ann",)], 0, start)
        db.set_trace_callback(None)
        return [[row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")] for statement in statements]


@pytest.mark.parametrize("forward", [True, False])
async def test_sqlite_finds_bounds_a_start_and_what_narrows_in_an_index(tmp_path: Path, forward: bool) -> None:
    path, narrowed = tmp_path / "table.db", replace(LETTER, narrowed_by=("weight",))
    between = ("user", "001"), ("user.created", "003")
    bounded = Query(entity=narrowed, index=BY_KIND, between=between, forward=forward)
    heavy = Query(
        entity=narrowed,
        partitions=[("ann",)],
        forward=forward,
        where=Compare("weight", ">", 14),
        attributes=frozenset({"weight"}),
    )
    async with open_sqlite(path, [narrowed]) as database:
        letters = [letter("user", f"{n:03}", f"{n}", weight=n) for n in range(20)]
        await database.put_many([Put(narrowed, each) for each in letters])
        found = (await database.query(heavy)).items

    assert [item["weight"] for item in found] == sorted(range(15, 20), reverse=not forward)
    low, high, behind = "(kind,time)>(?,?)", "(kind,time)<(?,?)", f"(kind,time,id){'>' if forward else '<'}(?,?,?)"
    assert plans(path, bounded, None, letter("user", "002")) == [
        [f"SEARCH letters.LETTER USING INDEX letters.LETTER.ByKind (owner=? AND {first} AND {last})"]
        for first, last in ((low, high), (behind, high) if forward else (low, behind))
    ]
    assert plans(path, heavy, None) == [["SEARCH letters.LETTER USING COVERING INDEX letters.LETTER.primary (owner=?)"]]


@pytest.mark.parametrize("forward", [True, False])
async def test_a_page_of_merged_partitions_in_which_no_place_repeats_is_one_reading(
    database: Database, forward: bool
) -> None:
    """All letters are of one time, and of one kind besides. So a tie of either has no end that could be read."""
    owners = ("ann", "bob")[: database.merges]
    await put(database, [{**letter("user", "000", f"{n:02}"), "owner": owners[n % len(owners)]} for n in range(60)])
    counting = CountingDatabase(database)
    query = Query(entity=LETTER, partitions=[(owner,) for owner in owners])
    middle = Between(("000", "30")) if forward else Between(None, ("000", "30"))

    found = await MergedPartitions(counting, query, order=("time", "id")).read(20, middle, forward=forward)

    assert [item["id"] for item in found.items] == [f"{30 + (n if forward else -n):02}" for n in range(1, 21)]
    assert found.more
    assert len(counting.calls) == 1
