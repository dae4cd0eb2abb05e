"""`quakegraph ingest`: ingests each source and prints its outcome; on a terminal, it shows a progress bar."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
import orjson

from graph.command_line import progress_bar, shown_rejections
from graph.core.errors import GraphError
from graph.core.names import camel_case
from graph.core.times import TIME_FORMS, InvalidTime, millis_ceil, millis_floor, parse_time
from graph.domain import Services
from graph.domains.earthquakes.ingest.backfill import BackfillProgress
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.usgs.errors import UpstreamFailure
from graph.domains.earthquakes.usgs.requests import EventQuery, RecentEvents

HOW_TO_RESUME = "Run the same command again to resume."


class Times(click.ParamType[int]):
    """A UTC day or time, converted to epoch milliseconds. A day becomes its first or its last millisecond."""

    name = "date"

    def __init__(self, *, end_of_day: bool) -> None:
        self._end_of_day = end_of_day

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert a time of RFC 3339, or a date."""
        try:
            time = parse_time(value)
        except InvalidTime:
            self.fail(f"{value!r} is not a time: give {TIME_FORMS}.", param, ctx)
        return millis_floor(time) if self._end_of_day else millis_ceil(time)


@dataclass(slots=True)
class Outcome:
    """The outcome of one source."""

    source: str  # the file's name, or USGS
    report: IngestReport  # if there is an error, of the events before it
    error: GraphError | None = None
    progress: BackfillProgress = field(default_factory=BackfillProgress)  # stays empty unless a window is ingested

    @property
    def message(self) -> str:
        """The error, and whether the same command resumes."""
        return f"{self.error} {HOW_TO_RESUME}" if self.progress.parts else str(self.error)

    @property
    def succeeded(self) -> bool:
        """Whether the source was read to its end, and not all of its events were rejected."""
        return self.error is None and not (self.report.fetched and self.report.fetched == self.report.rejected)


async def ingest_all(
    services: Services, *, files: Sequence[str], recent_events: RecentEvents | None, as_json: bool
) -> bool:
    """Ingest every source, and print its outcome. False if one of them did not succeed."""
    succeeded, ingest = True, services.of(Ingest)
    outcomes = (
        [_ingest_usgs(ingest, recent_events, quiet=as_json)]
        if recent_events
        else [_ingest_file(ingest, name) for name in files]
    )
    for ingesting in outcomes:
        outcome = await ingesting
        click.echo(_json(outcome) if as_json else _lines(outcome))
        if outcome.error and not as_json:
            click.echo(f"Error: {outcome.source}: {outcome.message}", err=True)
        succeeded &= outcome.succeeded
    return succeeded


async def _ingest_usgs(ingest: Ingest, recent_events: RecentEvents, *, quiet: bool) -> Outcome:
    request = recent_events.request
    if recent_events.is_window and isinstance(request, EventQuery):
        return await _ingest_window(ingest, request, quiet=quiet)
    try:
        return Outcome("USGS", await ingest.recent(recent_events))
    except UpstreamFailure as error:
        return Outcome("USGS", IngestReport(retries=error.retries), error)


async def _ingest_window(ingest: Ingest, query: EventQuery, *, quiet: bool) -> Outcome:
    """Ingest all events of a window; with `quiet`, only the progress bar is shown meanwhile."""
    outcome = Outcome("USGS", IngestReport())
    with ExitStack() as stack:
        advance: Callable[[int], None] | None = None

        def advanced(report: IngestReport, progress: BackfillProgress) -> None:
            nonlocal advance
            outcome.report, outcome.progress = report, progress
            if progress.to_fetch is None:
                return
            if advance is None:
                if progress.parts_before and not quiet:
                    before = f"{progress.events_before:,} events in {progress.parts_before:,} parts"
                    click.echo(f"{outcome.source}: resuming after {before}", err=True)
                advance = stack.enter_context(progress_bar(outcome.source, progress.to_fetch))
            advance(report.fetched)

        try:
            outcome.report = await ingest.window(query, advanced)
        except UpstreamFailure as error:
            outcome.error = error
        except (GraphError, asyncio.CancelledError):
            stack.close()  # the bar ends its line
            if outcome.progress.parts and not quiet:
                click.echo(f"{outcome.source}: {outcome.report.fetched:,} fetched. {HOW_TO_RESUME}", err=True)
            raise
    return outcome


async def _ingest_file(ingest: Ingest, name: str) -> Outcome:
    outcome = Outcome(name, IngestReport())
    with click.open_file(name, "rb") as stream, _file_progress(name) as advance:

        def advanced(report: IngestReport) -> None:
            outcome.report = report
            advance(report.upstream_size or 0)

        try:
            outcome.report = await ingest.file(stream, advanced)
        except UpstreamFailure as error:
            outcome.error = error
    return outcome


def _file_progress(name: str) -> AbstractContextManager[Callable[[int], None]]:
    return progress_bar(Path(name).name, None if name == "-" else Path(name).stat().st_size)


def _lines(outcome: Outcome) -> str:
    report = outcome.report
    summary = (
        f"{outcome.source}: {report.fetched:,} fetched, {report.upserted:,} upserted, {report.revised:,} revised, "
        f"{report.skipped:,} skipped, {report.rejected:,} rejected"
    )
    rejections = [f"{each.event_id or '(no id)'}: {each.code.value}: {each.message}" for each in report.rejections]
    return "\n".join([summary, *shown_rejections(rejections, report.rejected)])


def _json(outcome: Outcome) -> str:
    """The report with the names of the graph, the number fetched earlier, and the error."""
    values = {"source": outcome.source, **counts_of(outcome.report)}
    if outcome.progress.parts_before:
        values["fetchedBefore"] = outcome.progress.events_before
    if outcome.error:
        values["error"] = {"code": outcome.error.code, "message": outcome.message}
    return orjson.dumps(values).decode()


def counts_of(report: IngestReport) -> dict[str, Any]:
    """The report with the names that the graph has, without its events."""
    return _with_camel_case({name: value for name, value in asdict(report).items() if name != "listed"})


def _with_camel_case(values: dict[str, Any]) -> dict[str, Any]:
    return {
        camel_case(name): [_with_camel_case(each) for each in value] if isinstance(value, list) else value
        for name, value in values.items()
    }
