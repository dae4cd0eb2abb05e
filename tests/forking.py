"""Runs `quakegraph` in a process forked from one that has imported it, for tests that end dozens of processes.

The import takes a second of a processor each time. A test of the start itself uses `tests.processes.started`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from graph.cli import main
from tests.processes import environment

_forking = get_context("forkserver")
_forking.set_forkserver_preload(["graph.cli"])


@contextmanager
def forked(*arguments: str, folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[BaseProcess]:
    """Start a process in a folder. It is killed at the end of the `with`."""
    process = _forking.Process(target=_run, args=(arguments, folder, environment(settings)))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _run(arguments: tuple[str, ...], folder: Path, variables: Mapping[str, str]) -> None:
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    main(arguments, prog_name="quakegraph")
