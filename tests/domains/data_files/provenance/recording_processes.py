"""Processes that record runs until they are killed."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess

from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import RunReport
from tests.domains.data_files.provenance.in_store import a_report, names, provenance_at
from tests.processes import environment

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
    async with provenance_at(store) as ours:
        for first in range(runs.start, runs.stop, 4):
            at_once = range(first, min(first + 4, runs.stop))
            await asyncio.gather(*[ours.runs.record(numbered(number, large)) for number in at_once])
        await asyncio.Event().wait()
