"""`quakegraph rebuild`: rebuilds the catalogue from kept payloads, and shows how far it is."""

import time
from functools import partial
from pathlib import Path

import click

from graph.command_line import CommandLine, store_option
from graph.core import garbage
from graph.domain import Resources, Services
from graph.domains.payloads.rebuilding import Rebuilt, rebuild
from graph.domains.payloads.receiving import Payloads

LINE_EVERY_S = 1.0


@click.command("rebuild")
@click.option(
    "--from-payloads",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="The folder that GRAPH_KEEP_PAYLOADS named when the events were ingested.",
)
@store_option
@click.pass_obj
def rebuild_catalogue(line: CommandLine, folder: Path, store: str | None) -> None:
    """Rebuild the whole catalogue from the payloads that were kept.

    The store must have no events yet. It gets every event, with all of its versions, as they were stored: with the same
    times, the same numbers of changes and the same summaries. All payloads are compared with their checksums before
    anything is stored. After an interruption, remove what was stored and run the same command again.

    \b
    Example:
      quakegraph rebuild --from-payloads payloads --store sqlite:///rebuilt.db
    """
    garbage.settle()
    rebuilt = line.run(line.settings(store=store), partial(_rebuild, folder=folder))
    click.echo(
        f"{rebuilt.versions:,} versions of events from {rebuilt.payloads:,} payloads, "
        f"in {rebuilt.stored:,} transactions."
    )


async def _rebuild(services: Services, folder: Path) -> Rebuilt:
    """Rebuild into the store of these services, with a line of progress on standard error."""
    shown = time.monotonic()

    def advanced(rebuilt: Rebuilt) -> None:
        nonlocal shown
        if time.monotonic() - shown >= LINE_EVERY_S:
            shown = time.monotonic()
            click.echo(_progress(rebuilt), err=True)

    recorders = services.of(Payloads).recorders
    return await rebuild(services.of(Resources).database, folder, advanced, recorders)


def _progress(rebuilt: Rebuilt) -> str:
    if not rebuilt.to_store:
        return f"{rebuilt.payloads:,} payloads checked"
    share = rebuilt.stored / rebuilt.to_store
    return f"{share:.0%}: {rebuilt.stored:,} of {rebuilt.to_store:,} transactions stored"
