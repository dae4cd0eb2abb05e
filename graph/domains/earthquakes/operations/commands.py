"""The commands of the catalogue, and the options that it adds to `quakegraph serve`."""

from functools import partial
from math import isfinite

import click

from graph.command_line import CommandLine, store_option
from graph.core import garbage
from graph.domain import Resources, Services
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.operations.ingest_command import Times, ingest_all
from graph.domains.earthquakes.operations.reconcile_command import reconcile_window
from graph.domains.earthquakes.summaries import RebuildReport, rebuild_summaries
from graph.domains.earthquakes.usgs.requests import MAX_EVENTS, EventQuery, RecentEvents, UsgsFeed

poll_option = click.Option(
    ["--poll"], metavar="SECONDS", help="Seconds between polls of USGS, 60 or more; 0 for no polling.  [default: 0]"
)
demo_option = click.Option(
    ["--demo"],
    is_flag=True,
    default=None,
    help="Load a real week of events when the catalogue is empty, and other examples.",
)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True), metavar="[FILE]...")
@click.option("--recent", is_flag=True, help="Ingest the 100 latest events of USGS.")
@click.option(
    "--feed",
    type=click.Choice([feed.name for feed in UsgsFeed], case_sensitive=False),
    metavar="NAME",
    help="Ingest a summary feed of USGS: ALL_HOUR, M2_5_DAY, SIGNIFICANT_MONTH, ...",
)
@click.option(
    "--from", "start_ms", type=Times(end_of_day=False), help="Ingest events of USGS from this day or time on, UTC."
)
@click.option(
    "--to",
    "end_ms",
    type=Times(end_of_day=True),
    help="Ingest events of USGS until the end of this day or this time, UTC.",
)
@click.option("--min-magnitude", type=float, metavar="M", help="Least magnitude, not with a feed.")
@click.option(
    "--updated-since",
    type=Times(end_of_day=False),
    help="Ingest only what USGS has changed or deleted since this day or time, UTC; alone, of any origin time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each source.")
@store_option
@click.pass_obj
def ingest(
    line: CommandLine,
    files: tuple[str, ...],
    recent: bool,
    feed: str | None,
    start_ms: int | None,
    end_ms: int | None,
    min_magnitude: float | None,
    updated_since: int | None,
    as_json: bool,
    store: str | None,
) -> None:
    """Ingest events from files or from USGS.

    A FILE is a GeoJSON FeatureCollection, or has one GeoJSON feature on each line. It may be
    gzipped; "-" is standard input. Events that are stored already are skipped, so any ingest can
    be repeated. The events between --from and --to are fetched in parts, as USGS limits the size
    of an answer. After an interruption, run the same command again: it resumes. The exit status
    is 1 if a source could not be read to its end, or if all its events were rejected.

    \b
    Examples:
      quakegraph ingest all_week.geojson catalogue.ndjson.gz
      quakegraph ingest --feed M4_5_MONTH
      quakegraph ingest --from 2023-08-01 --to 2023-08-03 --min-magnitude 2.5
      quakegraph ingest --from 1970-01-01 --to 2024-12-31 --min-magnitude 4.5
      quakegraph ingest --updated-since 2023-08-01
      quakegraph ingest --recent --json | jq .upserted
    """
    window = any(bound is not None for bound in (start_ms, end_ms, updated_since))
    if sum((bool(files), feed is not None, recent or window)) != 1 or (recent and window):
        raise click.UsageError("Give one of FILE..., --recent, --feed, or --from, --to and --updated-since.")
    if min_magnitude is not None and not (recent or window):
        raise click.UsageError("--min-magnitude goes with --from, --to, --updated-since or --recent.")
    if min_magnitude is not None and not isfinite(min_magnitude):
        raise click.UsageError("--min-magnitude must be a number.")
    if start_ms is not None and end_ms is not None and start_ms > end_ms:
        raise click.UsageError("--from must not be later than --to.")
    recent_events = None
    if not files:
        recent_events = RecentEvents(
            feed=UsgsFeed[feed] if feed else None,
            start_ms=start_ms,
            end_ms=end_ms,
            min_magnitude=min_magnitude,
            updated_since=updated_since,
        )
    garbage.settle()
    succeeded = line.run(
        line.settings(store=store), partial(ingest_all, files=files, recent_events=recent_events, as_json=as_json)
    )
    raise SystemExit(0 if succeeded else 1)


@click.command()
@click.option(
    "--from",
    "start_ms",
    type=Times(end_of_day=False),
    required=True,
    help="Compare the events from this day or time on, UTC.",
)
@click.option(
    "--to",
    "end_ms",
    type=Times(end_of_day=True),
    required=True,
    help="Compare the events until the end of this day or this time, UTC.",
)
@click.option("--min-magnitude", type=float, metavar="M", help="Compare only events of at least this magnitude.")
@click.option("--dry-run", is_flag=True, help="Print the differences, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each difference, and one at the end.")
@store_option
@click.pass_obj
def reconcile(
    line: CommandLine,
    start_ms: int,
    end_ms: int,
    min_magnitude: float | None,
    dry_run: bool,
    as_json: bool,
    store: str | None,
) -> None:
    """Find what USGS has changed, renamed, merged or deleted, and change it here too.

    All events of USGS between --from and --to are fetched, in parts. Each event of the catalogue that
    USGS's answer lacks is looked up by its id, at most 100 a minute: USGS says whether it was deleted,
    moved, or became another event. An event that USGS does not know stays as it is. After an
    interruption, run the same command again: it resumes.

    \b
    Examples:
      quakegraph reconcile --from 2023-08-01 --to 2023-08-31 --dry-run
      quakegraph reconcile --from 1970-01-01 --to 2024-12-31 --min-magnitude 4.5
    """
    if start_ms > end_ms:
        raise click.UsageError("--from must not be later than --to.")
    if min_magnitude is not None and not isfinite(min_magnitude):
        raise click.UsageError("--min-magnitude must be a number.")
    query = EventQuery(MAX_EVENTS, start_ms, end_ms, min_magnitude, include_deleted=True)
    garbage.settle()
    work = partial(reconcile_window, query=query, dry_run=dry_run, as_json=as_json)
    raise SystemExit(0 if line.run(line.settings(store=store), work) else 1)


@click.command("rebuild-summaries")
@store_option
@click.pass_obj
def rebuild(line: CommandLine, store: str | None) -> None:
    """Recompute the summaries of days and years.

    Queries are planned and counted by a summary of each day and each year. Every ingest of this
    service updates the summaries, even if it crashes. Other programs that write events do not. A
    serving process takes up what they write, and this command takes up all of it at once.

    \b
    Example:
      quakegraph rebuild-summaries --store dynamodb://
    """

    async def work(services: Services) -> tuple[int, RebuildReport]:
        adopted = await services.of(Ingest).intake.adopt_all()
        return adopted, await rebuild_summaries(services.of(Resources).database)

    adopted, report = line.run(line.settings(store=store), work)
    others = f" {adopted:,} events of other programs were taken up." if adopted else ""
    click.echo(f"{report.events:,} events on {report.days:,} days; {report.corrected:,} summaries corrected.{others}")
