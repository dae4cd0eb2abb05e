"""Runs whose recording was killed are there whole or not at all."""

import asyncio
import random
import signal
from pathlib import Path

import pytest

from graph.domains.data_files.entities import ENTITIES
from tests.domains.data_files.provenance.in_store import ProvenanceStore, names, provenance_at, run_id
from tests.domains.data_files.provenance.recording_processes import LARGE, numbered, recording
from tests.domains.data_files.provenance.whole import assert_whole
from tests.effort import THOROUGH
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store

KILLS = {"sqlite": 20 if THOROUGH else 3, "dynamodb": 5 if THOROUGH else 2}
RUNS_A_KILL = 16


@pytest.mark.repeated
async def test_processes_that_are_killed_while_they_record_leave_no_half_run(engine: str, tmp_path: Path) -> None:
    large = LARGE[engine]
    store, chosen = await new_store(engine, tmp_path, ENTITIES), random.Random(1)
    survived = 0
    async with provenance_at(store) as ours:
        await ours.register(*names(large))
        for kill in range(KILLS[engine]):
            runs = range(RUNS_A_KILL * kill, RUNS_A_KILL * (kill + 1))
            with recording(store, runs, large) as process:
                wanted = chosen.randrange(1, len(runs) // 2)
                async with asyncio.timeout(TIMEOUT_S):
                    while await recorded(ours, runs) < wanted:
                        assert process.is_alive()
                process.kill()
                process.join()
                assert process.exitcode == -signal.SIGKILL
            await settled(ours)
            await assert_whole(ours)
            survived += await recorded(ours, runs)

            for number in runs:
                await ours.runs.record(numbered(number, large))
            assert await recorded(ours, runs) == len(runs)
            await assert_whole(ours)
    assert survived < RUNS_A_KILL * KILLS[engine]  # a kill was early enough to interrupt something


async def recorded(ours: ProvenanceStore, runs: range) -> int:
    """How many of some runs are recorded."""
    return len(await ours.runs.by_id([run_id(number) for number in runs], frozenset()))


async def settled(ours: ProvenanceStore) -> None:
    """Wait until nothing changes any more: DynamoDB goes on with what it was sent before a kill."""
    before, now = None, await ours.everything()
    while now != before:
        before, now = now, await ours.everything()
