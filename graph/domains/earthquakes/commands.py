"""The commands of the catalogue, and its options of `quakegraph serve`."""

from functools import partial
from math import isfinite

import click

from graph.command_line import CommandLine, store_option
from graph.core import garbage
from graph.domain import Resources
from graph.domains.earthquakes.ingest_command import Times, ingest_all
from graph.domains.earthquakes.rebuild import rebuild_summaries
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed

poll_option = click.Option(
    ["--poll"], metavar="SECONDS", help="Poll USGS so often, 60 or more; 0 for never.  [default: 0]"
)
demo_option = click.Option(
    ["--demo"], is_flag=True, default=None, help="Load a real week of events when the catalogue is empty."
)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True), metavar="[FILE]...")
@click.option("--recent", is_flag=True, help="The 100 latest events of USGS.")
@click.option(
    "--feed",
    type=click.Choice([feed.name for feed in UsgsFeed], case_sensitive=False),
    metavar="NAME",
    help="A summary feed of USGS: ALL_HOUR, M2_5_DAY, SIGNIFICANT_MONTH, ...",
)
@click.option("--from", "start_ms", type=Times(end_of_day=False), help="USGS's events from this day or time on, UTC.")
@click.option("--to", "end_ms", type=Times(end_of_day=True), help="USGS's events up to this day's end or time, UTC.")
@click.option("--min-magnitude", type=float, metavar="M", help="Least magnitude, with --from, --to or --recent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a source.")
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
    as_json: bool,
    store: str | None,
) -> None:
    """Take events into the catalogue, from files or from USGS.

    A FILE is a GeoJSON FeatureCollection, or has a GeoJSON feature a line; either may be
    gzipped, and "-" is standard input. An event that is stored already is skipped, so any
    ingest can be run again. A window of time is fetched in as many parts as USGS's limit takes;
    after an interruption, the same command goes on from there. The exit status is 1 if a source
    could not be read to its end, or if none of its events could be taken.

    \b
    Examples:
      quakegraph ingest all_week.geojson catalogue.ndjson.gz
      quakegraph ingest --feed M4_5_MONTH
      quakegraph ingest --from 2023-08-01 --to 2023-08-03 --min-magnitude 2.5
      quakegraph ingest --from 1970-01-01 --to 2024-12-31 --min-magnitude 4.5
      quakegraph ingest --recent --json | jq .upserted
    """
    window = start_ms is not None or end_ms is not None
    if sum((bool(files), feed is not None, recent or window)) != 1 or (recent and window):
        raise click.UsageError("Give one of FILE..., --recent, --feed, or --from and --to.")
    if min_magnitude is not None and not (recent or window):
        raise click.UsageError("--min-magnitude goes with --from, --to or --recent.")
    if min_magnitude is not None and not isfinite(min_magnitude):
        raise click.UsageError("--min-magnitude must be a number.")
    if start_ms is not None and end_ms is not None and start_ms > end_ms:
        raise click.UsageError("--from must not be later than --to.")
    recent_events = None
    if not files:
        recent_events = RecentEvents(
            feed=UsgsFeed[feed] if feed else None, start_ms=start_ms, end_ms=end_ms, min_magnitude=min_magnitude
        )
    garbage.settle()
    succeeded = line.run(
        line.settings(store=store), partial(ingest_all, files=files, recent_events=recent_events, as_json=as_json)
    )
    raise SystemExit(0 if succeeded else 1)


@click.command("rebuild-summaries")
@store_option
@click.pass_obj
def rebuild(line: CommandLine, store: str | None) -> None:
    """Recompute the summaries, for a table that another writer filled.

    Queries are planned and counted by summaries of each day and year. Every ingest of this
    service keeps them right, also when it crashes; a copy of events from elsewhere does not.

    \b
    Example:
      quakegraph rebuild-summaries --store dynamodb://
    """

    report = line.run(line.settings(store=store), lambda services: rebuild_summaries(services.of(Resources).database))
    click.echo(f"{report.events:,} events on {report.days:,} days; {report.corrected:,} summaries corrected.")
