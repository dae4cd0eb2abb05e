"""`quakegraph ingest`: ingests each source and prints its outcome; on a terminal, it shows a progress bar."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import orjson
from strawberry.utils.str_converters import to_camel_case

from graph.core.days import DAY_MS, EPOCH_TIME
from graph.core.errors import GraphError, UpstreamFailure
from graph.domain import Services
from graph.domains.earthquakes.ingest.backfill import Progress
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.usgs.requests import EventQuery, RecentEvents

REJECTIONS_SHOWN = 5
HOW_TO_RESUME = "Run the same command again to resume."


class Times(click.ParamType[int]):
    """A UTC day or time, converted to epoch milliseconds. A day becomes its first or its last millisecond."""

    name = "date"

    def __init__(self, *, end_of_day: bool) -> None:
        self._end_of_day = end_of_day

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert from ISO 8601."""
        try:
            time = datetime.fromisoformat(value)
            time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time: give 2023-08-01, or 2023-08-01T12:00:00Z.", param, ctx)
        milliseconds = (time - EPOCH_TIME) // timedelta(milliseconds=1)
        whole_day = len(value) <= len("2023-08-01")
        return milliseconds + DAY_MS - 1 if whole_day and self._end_of_day else milliseconds


@dataclass(slots=True)
class Outcome:
    """The outcome of one source."""

    source: str  # the file's name, or USGS
    report: IngestReport  # if there is an error, of the events before it
    error: GraphError | None = None
    progress: Progress = field(default_factory=Progress)  # stays empty unless a window is ingested

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

        def advanced(report: IngestReport, progress: Progress) -> None:
            nonlocal advance
            outcome.report, outcome.progress = report, progress
            if progress.to_fetch is None:
                return
            if advance is None:
                if progress.parts_before and not quiet:
                    before = f"{progress.events_before:,} events in {progress.parts_before:,} parts"
                    click.echo(f"{outcome.source}: resuming after {before}", err=True)
                advance = stack.enter_context(_progress(outcome.source, progress.to_fetch))
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
    return _progress(Path(name).name, None if name == "-" else Path(name).stat().st_size)


@contextmanager
def _progress(label: str, length: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar, if the length is known and standard error is a terminal; yields the function that sets it."""
    if length is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.pos)


def _lines(outcome: Outcome) -> str:
    report = outcome.report
    lines = [
        f"{outcome.source}: {report.fetched:,} fetched, {report.upserted:,} upserted, "
        f"{report.skipped:,} skipped, {report.rejected:,} rejected"
    ]
    lines += [f"  {r.event_id or '(no id)'}: {r.code}: {r.message}" for r in report.rejections[:REJECTIONS_SHOWN]]
    if report.rejected > REJECTIONS_SHOWN:
        lines.append(f"  and {report.rejected - REJECTIONS_SHOWN:,} more")
    return "\n".join(lines)


def _json(outcome: Outcome) -> str:
    """The report with the names of `IngestPayload`, the number fetched earlier, and the error."""
    values = {"source": outcome.source, **_camel_case(asdict(outcome.report))}
    if outcome.progress.parts_before:
        values["fetchedBefore"] = outcome.progress.events_before
    if outcome.error:
        values["error"] = {"code": outcome.error.code, "message": outcome.message}
    return orjson.dumps(values).decode()


def _camel_case(values: dict[str, Any]) -> dict[str, Any]:
    return {
        to_camel_case(name): [_camel_case(each) for each in value] if isinstance(value, list) else value
        for name, value in values.items()
    }
