"""What every command needs: settings, the services of the domains, and errors in one line.

A domain's command receives a `CommandLine` from click, which opens the services:

    @click.command()
    @store_option
    @click.pass_obj
    def recount(line: CommandLine, store: str | None) -> None:
        "Count everything again."
        click.echo(line.run(line.settings(store=store), lambda services: services.of(Counts).recount()))
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from pydantic import ValidationError

from graph.core.errors import GraphError
from graph.domain import Domain, Services
from graph.opening import open_services, read_settings
from graph.settings import Misconfigured, Settings

T = TypeVar("T")

LINES_LEFT_OUT = 30  # a line is shown about once in so many seconds
REJECTIONS_SHOWN = 5  # of a source; the others are counted


class WrongSetting(click.ClickException):
    """A setting has an impossible value. The message is one line that names the option or the variable."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The service as commands see it."""

    domains: Sequence[Domain]

    def settings(self, **options: Any) -> Settings:
        """Read the settings. Options that were given override the environment."""
        given = {name: value for name, value in options.items() if value is not None}
        try:
            return read_settings(self.domains, **given)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0]).removeprefix("GRAPH_").lower()
            place = f"--{name.replace('_', '-')}" if name in given else f"GRAPH_{name.upper()}"
            raise WrongSetting(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
        except Misconfigured as error:
            raise WrongSetting(str(error)) from None

    def run(self, settings: Settings, work: Callable[[Services], Awaitable[T]]) -> T:
        """Open the services, run `work` with them, and close them."""

        async def run_with_services() -> T:
            async with open_services(settings, self.domains) as services:
                return await work(services)

        return run(run_with_services())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work. An expected error ends the command with its message."""
    with ending_with_the_message():
        return asyncio.run(work)


@contextmanager
def ending_with_the_message() -> Iterator[None]:
    """End the command with the message of an expected error."""
    try:
        yield
    except GraphError as error:
        raise click.ClickException(error.detail or str(error)) from None
    except Misconfigured as error:
        raise click.ClickException(str(error)) from None


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Do work without end until SIGINT or SIGTERM, then let it end what it has begun."""
    task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has none of these: Ctrl+C raises KeyboardInterrupt
            loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--store`, which every command that uses the store has."""
    return click.option(
        "--store",
        metavar="URL",
        help="sqlite:///FILE, dynamodb:// or dynamodb://PREFIX.  [default: sqlite:///quakegraph.db]",
    )(command)


@contextmanager
def progress_bar(label: str, length: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar, if the length is known and standard error is a terminal; yields the function that sets it."""
    if length is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.pos)


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a line on standard error, in place of the one before.

    Without a terminal, it prints each thirtieth line.
    """
    number = 0

    def show(line: str) -> None:
        nonlocal number
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
        elif number % LINES_LEFT_OUT == 0:
            click.echo(line, err=True)
        number += 1

    try:
        yield show
    finally:
        if number and sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)


def shown_rejections(rejections: Sequence[str], number: int) -> list[str]:
    """The lines for the rejections of a source: the first ones, and how many more there are.

    Args:
        rejections: each in words; perhaps not all of them.
        number: of all.
    """
    lines = [f"  {rejection}" for rejection in rejections[:REJECTIONS_SHOWN]]
    return [*lines, f"  and {number - REJECTIONS_SHOWN:,} more"] if number > REJECTIONS_SHOWN else lines
