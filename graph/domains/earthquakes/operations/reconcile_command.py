"""`quakegraph reconcile`: prints each difference between the catalogue and USGS, and removes it."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import click
import orjson

from graph.command_line import progress_bar
from graph.domain import Services
from graph.domains.earthquakes.ingest.backfill import BackfillProgress
from graph.domains.earthquakes.ingest.reconcile import Difference, Reconciler, ReconcileReport
from graph.domains.earthquakes.operations.ingest_command import HOW_TO_RESUME, counts_of
from graph.domains.earthquakes.usgs.errors import UpstreamFailure
from graph.domains.earthquakes.usgs.requests import EventQuery

WORDS: Mapping[str, str] = {
    "created": "new",
    "unknown": "not known to USGS; nothing is changed",
    "other": "given to another event by USGS, {now}; nothing is changed",
    "merged": "merged into {now}",
}
"""What is printed of a difference, where it is not the difference's own kind."""


async def reconcile_window(services: Services, query: EventQuery, *, dry_run: bool, as_json: bool) -> bool:
    """Reconcile a window, and print the differences and the outcome. False if USGS failed."""
    reconciler = services.of(Reconciler)
    report, error = ReconcileReport(), None
    with ExitStack() as stack:
        advance: Callable[[int], None] | None = None

        def advanced(latest: ReconcileReport, progress: BackfillProgress) -> None:
            nonlocal advance, report
            report = latest
            if progress.to_fetch is not None and advance is None:
                advance = stack.enter_context(progress_bar("USGS", progress.to_fetch))
            if advance:
                advance(report.compared)

        def found(difference: Difference) -> None:
            click.echo(_json_line(difference) if as_json else _line(difference))

        try:
            report = await reconciler.reconcile(query, dry_run=dry_run, found=found, advanced=advanced)
        except UpstreamFailure as failure:
            error = failure
    click.echo(_json_outcome(report, error, dry_run) if as_json else _outcome(report, dry_run))
    if error and not as_json:
        click.echo(f"Error: USGS: {error} {HOW_TO_RESUME}", err=True)
    return error is None


def _line(difference: Difference) -> str:
    what = WORDS.get(difference.kind, difference.kind).format(now=difference.now)
    changes = ", ".join(
        f"{name} {_value(before)} → {_value(after)}" for name, (before, after) in difference.changes.items()
    )
    return f"{difference.event_id}: {what}{f': {changes}' if changes else ''}"


def _value(value: Any) -> str:
    return "none" if value is None else str(value)


def _outcome(report: ReconcileReport, dry_run: bool) -> str:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(report.differences.items()))
    nothing = "Dry run, nothing was changed. " if dry_run else ""
    return f"{nothing}{report.compared:,} events compared, {report.looked_up:,} looked up: {kinds or 'no differences'}"


def _json_line(difference: Difference) -> str:
    changes = [
        {"field": name, "before": before, "after": after} for name, (before, after) in difference.changes.items()
    ]
    values = {"eventId": difference.event_id, "kind": difference.kind.upper(), "changes": changes}
    return orjson.dumps(values | ({"now": difference.now} if difference.now else {})).decode()


def _json_outcome(report: ReconcileReport, error: UpstreamFailure | None, dry_run: bool) -> str:
    values: dict[str, Any] = {
        "compared": report.compared,
        "lookedUp": report.looked_up,
        "differences": {kind.upper(): number for kind, number in report.differences.items()},
        "dryRun": dry_run,
        **counts_of(report.ingest),
    }
    if error:
        values["error"] = {"code": error.code, "message": f"{error} {HOW_TO_RESUME}"}
    return orjson.dumps(values).decode()
