"""Runs `quakegraph` in a process forked from one that has imported it, for tests that end dozens of processes.

The import takes a second of a processor each time. A test of the start itself uses `tests.processes.started`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import NamedTemporaryFile

from graph.cli import main
from tests.processes import TIMEOUT_S, environment

_forking = get_context("forkserver")
_forking.set_forkserver_preload(["graph.cli"])


@contextmanager
def forked(
    *arguments: str, folder: Path, settings: Mapping[str, str] | None = None, output: Path | None = None
) -> Iterator[BaseProcess]:
    """Start a process in a folder. It is killed at the end of the `with`.

    It says nothing, or writes both of its streams to a file.
    """
    process = _forking.Process(target=_run, args=(arguments, folder, environment(settings), output))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def ended(*arguments: str, folder: Path, settings: Mapping[str, str] | None = None) -> tuple[int | None, str]:
    """Run a process that ends by itself. Returns its exit status, and what it wrote to either stream."""
    with NamedTemporaryFile("r") as output:
        with forked(*arguments, folder=folder, settings=settings, output=Path(output.name)) as process:
            process.join(TIMEOUT_S)
            status = process.exitcode
        return status, output.read()


def _run(arguments: tuple[str, ...], folder: Path, variables: Mapping[str, str], output: Path | None) -> None:
    silence = os.open(os.devnull, os.O_RDONLY)
    spoken = os.open(output or os.devnull, os.O_WRONLY | os.O_APPEND)
    for stream, file in enumerate((silence, spoken, spoken)):
        os.dup2(file, stream)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    main(arguments, prog_name="quakegraph")
