"""Reports of a run complete each other, in any order and at any time, and say the same however often they come."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.errors import AlreadyGenerated
from graph.domains.data_files.model import Run, RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from tests.domains.data_files.in_store import a_report, checksum, data_files, names, references, run_id
from tests.domains.data_files.whole import assert_whole

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
