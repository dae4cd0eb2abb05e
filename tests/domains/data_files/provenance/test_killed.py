"""Runs whose recording was killed are there whole or not at all."""

import asyncio
import os
import random
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from graph.domains.data_files.entities import ENTITIES
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import RunReport
from tests.domains.data_files.in_store import FileStore, a_report, data_files_at, names, run_id
from tests.domains.data_files.whole import assert_whole
from tests.effort import THOROUGH
from tests.processes import TIMEOUT_S, environment
from tests.store.engines import new_store

KILLS = {"sqlite": 20 if THOROUGH else 3, "dynamodb": 5 if THOROUGH else 2}
RUNS_A_KILL = 16
SMALL = 5  # files that a run uses
LARGE = {"sqlite": 1000, "dynamodb": 150}  # so many that their edges do not fit into a transaction

_forking = get_context("forkserver")
_forking.set_forkserver_preload(["graph.cli", __name__])


def numbered(number: int, large: int) -> RunReport:
    """A run. Each eighth one uses so many files."""
    used = names(large if number % 8 == 0 else SMALL)
    return a_report(number, used=used, makes=[f"made{number}", NewFile(name="latest", metadata={"run": number})])


@contextmanager
def recording(store: str, runs: range, large: int) -> Iterator[BaseProcess]:
    """Let a process record runs, some at the same time. It is killed at the end of the `with`."""
    process = _forking.Process(target=_run, args=(environment(), store, runs, large))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _run(variables: Mapping[str, str], store: str, runs: range, large: int) -> None:
    os.environ.clear()
    os.environ.update(variables)
    asyncio.run(_record(store, runs, large))


async def _record(store: str, runs: range, large: int) -> None:
    async with data_files_at(store) as ours:
        for first in range(runs.start, runs.stop, 4):
            at_once = range(first, min(first + 4, runs.stop))
            await asyncio.gather(*[ours.runs.record(numbered(number, large)) for number in at_once])
        await asyncio.Event().wait()


@pytest.mark.repeated
async def test_processes_that_are_killed_while_they_record_leave_no_half_run(engine: str, tmp_path: Path) -> None:
    large = LARGE[engine]
    store, chosen = await new_store(engine, tmp_path, ENTITIES), random.Random(1)
    survived = 0
    async with data_files_at(store) as ours:
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


async def recorded(ours: FileStore, runs: range) -> int:
    """How many of some runs are recorded."""
    return len(await ours.runs.by_id([run_id(number) for number in runs], frozenset()))


async def settled(ours: FileStore) -> None:
    """Wait until nothing changes any more: DynamoDB goes on with what it was sent before a kill."""
    before, now = None, await ours.everything()
    while now != before:
        before, now = now, await ours.everything()
