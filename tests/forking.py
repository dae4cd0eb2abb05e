"""Runs `quakegraph` in a process forked from one that has imported it, unless a test is about the start itself.

The import takes a second of a processor each time. `tests.processes` has it, for the tests of the start.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from threading import Thread

from graph.cli import main
from tests.children import Fork
from tests.processes import TIMEOUT_S, Server, environment, printing_its_address

_forking = get_context("forkserver")
_forking.set_forkserver_preload(["graph.cli"])


@contextmanager
def forked(
    *arguments: str,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    output: str = os.devnull,
    errors: str | None = None,
) -> Iterator[BaseProcess]:
    """Start a process in a folder. It is killed at the end of the `with`.

    Args:
        output: the file that it writes to.
        errors: the file for standard error, if that is another one.
    """
    process = _forking.Process(target=_run, args=(arguments, folder, environment(settings), output, errors or output))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


@contextmanager
def serving(*options: str, folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Run `quakegraph serve` on a free port, without workers. It ends at the end of the `with`, if not before."""
    with TemporaryDirectory() as own:
        errors = os.path.join(own, "errors")
        os.mkfifo(errors)
        arguments = ("serve", "--port", "0", *options)
        with (
            forked(*arguments, folder=folder, settings=settings, errors=errors) as process,
            open(errors) as lines,
            printing_its_address(Fork(process, lines)) as server,
        ):
            yield server


def ended(*arguments: str, folder: Path, settings: Mapping[str, str] | None = None) -> tuple[int | None, str]:
    """Run a process that ends by itself. Returns its exit status, and what it wrote to either stream."""
    with NamedTemporaryFile("r") as output:
        with forked(*arguments, folder=folder, settings=settings, output=output.name) as process:
            process.join(TIMEOUT_S)
            status = process.exitcode
        return status, output.read()


def on_a_terminal(*arguments: str, folder: Path, settings: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Run a command whose errors go to a terminal. Returns what it shows there, and its output."""
    ours, theirs = os.openpty()
    with (
        NamedTemporaryFile("r") as output,
        forked(*arguments, folder=folder, settings=settings, output=output.name, errors=os.ttyname(theirs)) as process,
    ):

        def close_at_its_end() -> None:
            process.join(TIMEOUT_S)
            os.close(theirs)

        Thread(target=close_at_its_end).start()
        shown = _read_terminal(ours)
        assert process.exitcode == 0
        return shown, output.read()


def _read_terminal(descriptor: int) -> str:
    """All that is written to a pseudo-terminal until nobody has its other end any more."""
    shown = b""
    with suppress(OSError), os.fdopen(descriptor, "rb", buffering=0) as terminal:  # so Linux says that it was closed
        while part := terminal.read(4096):
            shown += part
    return shown.decode()


def assert_progress(shown: str, name: str) -> None:
    """A progress bar has gone up from 0 to 100 % in some steps."""
    shares = [int(part.rpartition(" ")[2]) for part in shown.split("%")[:-1]]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 100)
    assert len(set(shares)) >= 3
    assert shown.count(name) == len(shares)


def _run(arguments: tuple[str, ...], folder: Path, variables: Mapping[str, str], output: str, errors: str) -> None:
    for stream, file in enumerate((os.devnull, output, errors)):
        os.dup2(os.open(file, os.O_RDWR | os.O_APPEND), stream)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    main(arguments, prog_name="quakegraph")
