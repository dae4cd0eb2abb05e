"""`quakegraph export`: writes the events of a filter to a file or to standard output."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click

from graph.command_line import CommandLine, progress_bar, store_option
from graph.core import garbage
from graph.core.times import rfc3339_of_millis
from graph.domain import Services
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.revisions.views import View
from graph.domains.export.exporting import Exports
from graph.domains.export.files import ExportFile, Written
from graph.domains.export.formats import ExportFormat
from graph.domains.export.parameters import export_request
from graph.work.account import SERVICE, Account, Work

STANDARD_OUTPUT = "-"


@click.command()
@click.argument("file", default=STANDARD_OUTPUT, type=click.Path(dir_okay=False, allow_dash=True), metavar="[FILE]")
@click.option(
    "--format",
    "format_",
    type=click.Choice([each.value for each in ExportFormat]),
    help="Format.  [default: by the file's name, else ndjson]",
)
@click.option("--filter", "filter_", metavar="JSON", help="The filter of `events` as JSON.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="One field of the filter; repeat for others.")
@click.option("--order-by", metavar="ORDER", help="TIME_DESC or TIME_ASC.  [default: TIME_DESC]")
@click.option("--after", metavar="CURSOR", help="Begin behind this cursor, or behind the event with this id.")
@click.option("--as-of", metavar="TIME", help="The events that were stored by this time.  [default: now]")
@click.option("--deleted", metavar="WHICH", help="EXCLUDE, INCLUDE or ONLY deleted events.  [default: EXCLUDE]")
@click.option("--updated-since", metavar="TIME", help="Only events whose version was stored at this time or later.")
@click.option("--comments", is_flag=True, help="End CSV with a comment that has the count and a hash.")
@click.option("--spreadsheet", is_flag=True, help="Write CSV of which a spreadsheet computes no text, such as `=1+1`.")
@click.option("--resume", is_flag=True, help="Go on where the same command was interrupted.")
@store_option
@click.pass_obj
def export(
    line: CommandLine,
    file: str,
    format_: str | None,
    filter_: str | None,
    where: tuple[str, ...],
    order_by: str | None,
    after: str | None,
    as_of: str | None,
    deleted: str | None,
    updated_since: str | None,
    comments: bool,
    spreadsheet: bool,
    resume: bool,
    store: str | None,
) -> None:
    """Export events to a file or to standard output.

    FILE appears when it is whole. Until then it is FILE.part. The formats are ndjson, csv, geojson,
    parquet and arrow; the last two need the extra `quakegraph[arrow]`. After an interruption, run
    the same command with --resume: NDJSON and CSV go on behind their last whole line.

    \b
    Examples:
      quakegraph export events.csv --where minMagnitude=5 --where startTime=2023-08-01T00:00:00Z
      quakegraph export near.parquet --filter '{"circle": {"lat": 35, "lon": -117, "radiusKm": 99}}'
      quakegraph export --order-by TIME_ASC | head -n 3
    """
    parameters = {
        "filter": filter_,
        "orderBy": order_by,
        "after": after,
        "asOf": as_of,
        "deleted": deleted,
        "updatedSince": updated_since,
    }
    given = [(name, value) for name, value in parameters.items() if value is not None]
    for each in where:
        name, separator, value = each.partition("=")
        if not separator:
            raise click.UsageError(f"--where takes FIELD=VALUE, not {each!r}.")
        given.append((name, value))
    if resume and file == STANDARD_OUTPUT:
        raise click.UsageError("--resume goes with a FILE.")
    whole = ExportFile(Path(file), _format(file, format_), given)
    of_csv = {"comments": comments, "spreadsheet": spreadsheet}
    garbage.settle()
    work = partial(_export, name=file, file=whole, of_csv=of_csv, resume=resume)
    click.echo(line.run(line.settings(store=store), work), err=True)


def _format(file: str, named: str | None) -> ExportFormat:
    suffix = Path(file).suffix.removeprefix(".").lower()
    known = [each.value for each in ExportFormat]
    if named is None and file != STANDARD_OUTPUT and suffix not in known:
        raise click.UsageError(f"Give --format, or a FILE that ends with .{', .'.join(known)}.")
    return ExportFormat[(named or (suffix if file != STANDARD_OUTPUT else "ndjson")).upper()]


async def _export(services: Services, *, name: str, file: ExportFile, of_csv: Mapping[str, bool], resume: bool) -> str:
    """Export to a file, or to standard output by its name, and return what was done."""
    request = export_request(file.parameters)
    encoder = file.format.encoder(**of_csv)
    written = file.written(encoder) if resume else Written()
    if written.as_of_ms is not None:
        request = replace(request, after=written.last_id or request.after, as_of_ms=written.as_of_ms)
    running = await services.of(Exports).begin(request, encoder, begun=written.size > 0)
    running.count = written.count
    total = await services.of(Catalogue).total(request.selection, View(deleted=request.deleted))
    as_of_ms = running.source.as_of_ms
    opened: AbstractContextManager[BinaryIO] = nullcontext(sys.stdout.buffer)
    if name != STANDARD_OUTPUT:
        opened = file.writing(written, as_of_ms)
    with _heavy_work(), progress_bar(name, total) as advance, opened as stream:
        async for chunk in running.chunks():
            stream.write(chunk)
            stream.flush()
            advance(running.count)
    resumed = f", {written.count:,} of them before" if resume else ""
    return f"{name}: {running.count:,} events as of {rfc3339_of_millis(as_of_ms)}{resumed}"


@contextmanager
def _heavy_work() -> Iterator[None]:
    """Read on threads from the beginning, and without a limit."""

    async def charge(points: int) -> None:
        pass

    with Account(Work(), SERVICE, sys.maxsize, charge) as account:
        account.begin_heavy_work()
        yield
