"""Reports of a run complete each other, in any order and at any time, and say the same however often they come.

Wherever the store fails, a run is there whole or not at all, and recording it again completes it. So are runs that
generate more files than a transaction takes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count, permutations
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.domains.data_files.entities import FILE_REVISION
from graph.domains.data_files.errors import AlreadyGenerated
from graph.domains.data_files.model import Run, RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.lineage import Direction
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.store.contract import Database
from tests.domains.data_files.in_store import (
    FileStore,
    a_file,
    a_report,
    checksum,
    data_files,
    distances,
    names,
    references,
    run_id,
)
from tests.domains.data_files.provenance.in_turn import in_turn
from tests.domains.data_files.provenance.test_races import recorded
from tests.domains.data_files.whole import assert_whole
from tests.domains.watches.cuts import ACTIONS, Cut, cut_off, lose_connection
from tests.effort import THOROUGH

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
INPUTS, OUTPUTS = names(4, "in"), names(3, "out")


@st.composite
def told(draw: st.DrawFn) -> RunReport:
    """What a report tells of the one run that all of them are about."""
    times = st.none() | st.integers(0, 5).map(lambda hours: NOON + timedelta(hours=hours))
    facts = {"version": "1.0", "namespace": "jobs", "producer": "https://example.org", "configuration_hash": "ab"}
    known = draw(st.sets(st.sampled_from(sorted(facts))))
    facets = {"nominalTime": {"at": "noon"}, "parent": {"run": "none"}, "engine": {"name": "spark"}}
    return a_report(
        1,
        used=draw(st.lists(st.sampled_from(INPUTS), max_size=3)),
        makes=draw(st.lists(st.sampled_from(OUTPUTS), max_size=2)),
        outputs=draw(st.lists(st.sampled_from(["late0", "late1"]), max_size=2)),
        state=draw(st.sampled_from(RunState)),
        started_at=draw(times),
        ended_at=draw(times),
        facets={name: facets[name] for name in draw(st.sets(st.sampled_from(sorted(facets))))},
        **{name: facts[name] for name in known},
    )


def facts_of(run: Run) -> dict[str, Any]:
    """A run, with its files in no order."""
    item = {name: value for name, value in run.item.items() if name not in ("reports", "revision")}
    return {name: sorted(value) if isinstance(value, list) else value for name, value in item.items()}


async def run_of(reports: Sequence[RunReport], *, at_once: bool) -> dict[str, Any]:
    """The run that some reports tell of."""
    async with data_files("sqlite") as ours:
        await ours.register(*INPUTS)
        if at_once:
            await asyncio.gather(*[ours.runs.record(report) for report in reports])
        else:
            for report in reports:
                await ours.runs.record(report)
        await assert_whole(ours)
        stored = await ours.everything()
        for report in reports:
            await ours.runs.record(report)
        assert await ours.everything() == stored
        found = await ours.found(1)
        assert found is not None
        return facts_of(found)


reported = st.lists(told(), min_size=1, max_size=4)


@given(reported, st.randoms(use_true_random=False))
async def test_reports_in_any_order_and_at_once_tell_the_same_run(reports: list[RunReport], random: Any) -> None:
    run = await run_of(reports, at_once=False)
    other = random.sample(reports, len(reports))
    assert await run_of(other, at_once=False) == run
    assert await run_of(other, at_once=True) == run


async def test_an_end_replaces_a_beginning_completion_replaces_all_and_the_longest_time_counts() -> None:
    cases = {
        "RUNNING": "RUNNING",
        "RUNNING COMPLETE": "COMPLETE",
        "RUNNING ABORTED": "ABORTED",
        "COMPLETE ABORTED": "COMPLETE",
        "RUNNING COMPLETE FAILED": "COMPLETE",
        "RUNNING ABORTED FAILED": "FAILED",
    }
    orders = [(order, becomes) for states, becomes in cases.items() for order in permutations(states.split())]
    async with data_files("sqlite") as ours:
        for number, (order, becomes) in enumerate(orders):
            for state in order:
                run = await ours.run(number, state=RunState(state))
            assert run.state is RunState(becomes), order
        for start, end in ((2, 3), (1, 2), (3, 5), (4, 4)):  # it lasts from its earliest start to its latest end
            at = {"started_at": NOON + timedelta(hours=start), "ended_at": NOON + timedelta(hours=end)}
            run = await ours.run(99, **at)
        assert (run.started_at, run.ended_at) == (NOON + timedelta(hours=1), NOON + timedelta(hours=5))


async def test_a_run_without_an_id_is_a_new_one_each_time(engine: str) -> None:
    async with data_files(engine) as ours:
        runs = [await ours.run(None) for _ in range(2)]
        assert len({run.run_id for run in runs}) == 2
        assert [run.used for run in runs] == [run.generated for run in runs] == [[], []]


async def test_what_another_run_has_generated_is_refused_without_a_file_that_was_only_named(engine: str) -> None:
    async with data_files(engine) as ours:
        await ours.run(1, makes=["taken"])
        stored = await ours.everything()
        unknown = [UsedFile(name, may_be_unknown=True) for name in ("table", "other", "table")]
        makes = [NewFile(name="table", checksum=checksum(1)), NewFile(name="taken")]
        with pytest.raises(AlreadyGenerated, match=f"Revision 1 of 'taken' was generated by run {run_id(1)}"):
            await ours.run(2, used=unknown, makes=makes)
        assert await ours.everything() == stored

        run = await ours.run(2, used=unknown, makes=[makes[0], NewFile(name="taken", checksum=checksum(1))])
        assert (references(run.used), references(run.generated)) == (["table@1", "other@1"], ["table@2", "taken@2"])
        await assert_whole(ours)


T = TypeVar("T")


WAYS = (*Cut.WAYS, "killed")


class Broken(Cut):
    """Breaks off. After it was killed, no call comes to the store, not even to clean up."""

    def __init__(self, database: Database, way: str, left: int) -> None:
        super().__init__(database, way)
        self.left = left

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        if self.way == "killed" and self.left <= 0:
            await lose_connection()
        return await super().around(method, asked, call)


SIZES = {"small": (3, 1), "with many inputs": (2 * ACTIONS, 1), "with many outputs": (3, 2 * ACTIONS)}
"""The numbers of known files that a run uses, and of new ones that it makes."""


def reports(number: int, inputs: int, outputs: int) -> Sequence[RunReport]:
    """Of a run that begins with one file, and ends with others: it makes new ones, and replaces some that it used."""
    named = UsedFile(f"named{number}", may_be_unknown=True)
    makes = [
        *(a_file(name, 1, 2, level="L1A") for name in names(outputs, f"made{number}-")),
        a_file(f"named{number}", 1, 2, level="L1A"),
        NewFile(name=names(1)[0], metadata={"run": number}),
    ]
    return [
        a_report(number, used=[names(1)[0]], makes=[f"first{number}"], state=RunState.RUNNING),
        a_report(number, used=[*names(inputs), named], makes=makes),
    ]


async def seen(ours: FileStore, number: int, outputs: int) -> bool:
    """Whether anything is seen of the second report. All of it has to be, or nothing."""
    run = await ours.found(number)
    assert run is not None
    files = [f"named{number}", *names(outputs, f"made{number}-")]
    made = [f"{files[0]}@2", *(f"{name}@1" for name in files[1:])]  # the first of which it used before
    makers = await Edges(ours.database).makers(made)
    below = distances(await ours.lineage(references(run.used)[0], Direction.DOWNSTREAM, 1)).keys()
    if len(run.generated) == 1:
        assert makers == {}
        assert below.isdisjoint(made)
        assert outputs > ACTIONS or not await ours.files.by_name(files)  # of many, some are claimed before
        return False
    assert makers == dict.fromkeys(made, run_id(number))
    assert len(run.generated) == len(made) + 2
    assert below >= set(made)
    return True


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("way", WAYS)
async def test_a_run_that_breaks_off_at_any_call_is_whole_or_not_there_and_can_be_repeated(
    way: str, size: tuple[int, int]
) -> None:
    is_quick = max(size) > ACTIONS and not THOROUGH  # then each way breaks off at other calls
    await breaks_off("sqlite", way, size, 1 + is_quick * WAYS.index(way), len(WAYS) if is_quick else 1)


@pytest.mark.parametrize("way", ["killed", "answer lost"])
async def test_it_is_so_on_dynamodb(dynamodb_endpoint: str, way: str) -> None:
    await breaks_off("dynamodb", way, SIZES["with many outputs" if THOROUGH else "small"], 1, 1 if THOROUGH else 3)


async def breaks_off(engine: str, way: str, size: tuple[int, int], first: int, step: int) -> None:
    """Let recording break off at each call in turn, or at some, and repeat it."""
    inputs, outputs = size
    async with data_files(engine) as ours:
        await ours.register(*names(inputs))
        again = FileStore(Cut(ours.database, way))
        for failing in count(first, step):
            begins, ends = reports(failing, inputs, outputs)
            await ours.runs.record(begins)
            database = Broken(ours.database, way, failing)
            await cut_off(FileStore(database).runs.record(ends))
            broke_off = database.left <= 0
            await ours.register(f"behind{failing}")  # a cancelled write ends before this one
            await assert_whole(ours)
            assert await seen(ours, failing, outputs) or broke_off

            await again.runs.record(ends)
            await assert_whole(ours)
            assert await seen(ours, failing, outputs)
            if not broke_off:
                break
        assert failing > (4 if max(size) < ACTIONS else 6)


@pytest.mark.parametrize("inputs", [3, 2 * ACTIONS], ids=["few", "many"])
async def test_a_run_that_broke_off_keeps_no_other_from_what_it_would_have_made(inputs: int) -> None:
    async with data_files("sqlite") as ours:
        await ours.register(*names(inputs), "made")
        for failing in count(1):
            database = Broken(ours.database, "killed", failing)
            await cut_off(FileStore(database).run(1, used=names(inputs), makes=["made"]))
            if database.left > 0:
                break
            assert await ours.found(1) is None
        await ours.run(2, used=["made"], makes=["other"])
        with pytest.raises(BadUserInput):
            await ours.run(3, used=["other"], makes=["made"])
        await assert_whole(ours)


MANY = names(2 * ACTIONS, "made")
FIRST = [f"{name}@1" for name in MANY]


async def test_a_run_generates_files_of_more_bytes_than_a_transaction_takes(engine: str) -> None:
    large = [NewFile(name=name, metadata={"text": "x" * 60_000}) for name in names(70)]
    async with data_files(engine) as ours:
        run = await ours.run(1, makes=large)
        assert references(run.generated) == [f"{name}@1" for name in names(70)]
        await assert_whole(ours)


async def test_what_a_large_run_replaces_is_what_it_used(engine: str) -> None:
    async with data_files(engine) as ours:
        await ours.register("latest")
        small = FileStore(Cut(ours.database, "refused"))
        unknown = UsedFile("unknown", may_be_unknown=True)
        makes = [*MANY, *(NewFile(name=name, checksum=checksum(1)) for name in ("latest", "unknown"))]
        run = await small.run(1, used=["latest", unknown], makes=makes)
        assert references(run.used) == ["latest@1", "unknown@1"]
        assert references(run.generated) == [*FIRST, "latest@2", "unknown@2"]
        assert set(distances(await ours.lineage("latest@1"))) == {"latest@1", *references(run.generated)}
        await assert_whole(ours)


async def claimed(ours: FileStore, number: int, makes: Sequence[str]) -> None:
    """Let a large run break off when it has claimed what it generates."""
    stored = len(await ours.items(FILE_REVISION))
    database = Cut(ours.database, "refused")
    for failing in count(1):
        database.left = failing
        await cut_off(FileStore(database).run(number, makes=makes))
        assert database.left <= 0
        revisions = await ours.items(FILE_REVISION)
        if len([each for each in revisions if each.get("generated-by") == run_id(number)]) == len(makes):
            assert len(revisions) == stored + len(makes)
            return


@pytest.mark.parametrize("makes", [MANY[:1], MANY], ids=["small", "large"])
async def test_what_a_run_that_broke_off_would_have_generated_can_be_anothers(
    engine: str, makes: Sequence[str]
) -> None:
    async with data_files(engine) as ours:
        await claimed(ours, 1, MANY)
        assert await ours.found(1) is None
        other = FileStore(Cut(ours.database, "refused"))
        run = await other.run(2, makes=makes)
        assert references(run.generated) == FIRST[: len(makes)]
        with pytest.raises(AlreadyGenerated):
            await other.run(1, makes=MANY)
        await assert_whole(ours)


@pytest.mark.parametrize("calls", [8, 9, 10, 50])
async def test_of_large_runs_that_generate_the_same_at_once_one_is_recorded(calls: int) -> None:
    """One goes on when the other has made so many calls: it has taken over claims by then, or is recorded."""
    few = names(8)
    for behind in range(1, 20, 1 if THOROUGH else 2):
        async with data_files("sqlite") as ours:
            works = [recorded(a_report(number, makes=few)) for number in (1, 2)]
            errors = await in_turn(ours.database, works, [0] * behind + [1] * calls + [0] * 50, 7)
            assert [type(error) for error in errors if error] == [AlreadyGenerated]
            await assert_whole(ours)
