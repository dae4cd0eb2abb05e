"""The command line: reads arguments, calls one function, says what came of it in a line.

Every option of `serve` is also a setting (`--port` is `GRAPH_PORT`); the option wins. What is
wrong ends with one clear line on standard error: status 2 for a wrong argument, 1 for work
that could not be done.
"""

import asyncio
from collections.abc import Callable, Coroutine
from math import isfinite
from typing import Any, TypeVar

import click
from pydantic import ValidationError

from graph import __version__
from graph.access.authentication import shared_secret
from graph.access.callers import Scope
from graph.access.options import Duration, Scopes, Subject
from graph.api.schema import printed
from graph.app import ENTITIES, open_parts
from graph.core.errors import DatabaseUnavailable, GraphError
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes.commands import Times, ingest_all
from graph.domains.earthquakes.rebuild import RebuildReport, rebuild_summaries
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from graph.serving import server
from graph.settings import Misconfigured, Settings
from graph.store.location import StoreLocation
from graph.store.policy import Job, policy

T = TypeVar("T")


class WrongSetting(click.ClickException):
    """A setting has an impossible value. Told in one line, as it may come from the environment."""

    exit_code = 2


def settings_of(**options: Any) -> Settings:
    """The settings, with the options that were given in place of the environment's."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).removeprefix("GRAPH_").lower()
        place = f"--{name.replace('_', '-')}" if name in given else f"GRAPH_{name.upper()}"
        raise WrongSetting(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do asynchronous work; what the store or USGS refuses ends the command with its reason."""
    try:
        return asyncio.run(work)
    except DatabaseUnavailable as error:
        raise click.ClickException(error.detail) from None
    except (GraphError, Misconfigured) as error:
        raise click.ClickException(str(error)) from None


def store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--store`, which every command that touches the catalogue has."""
    return click.option(
        "--store",
        metavar="URL",
        help="sqlite:///FILE, dynamodb:// or dynamodb://PREFIX.  [default: sqlite:///quakegraph.db]",
    )(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="quakegraph")
def main() -> None:
    """An earthquake catalogue behind a GraphQL API.

    \b
    Try it with a week of real events, then open the address that it prints:
      quakegraph serve --demo
    Take in what happened lately, or a file of GeoJSON:
      quakegraph ingest --recent
      quakegraph ingest all_week.geojson

    Settings are read from the environment (GRAPH_PORT, GRAPH_STORE, ...); options win over them.
    """


@main.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", metavar="NUMBER", help="Port to listen on; 0 takes a free one.  [default: 8000]")
@store_option
@click.option("--workers", metavar="NUMBER", help="Processes that serve.  [default: 1]")
@click.option("--poll", metavar="SECONDS", help="Poll USGS so often, 60 or more; 0 for never.  [default: 0]")
@click.option("--demo", is_flag=True, default=None, help="Load a real week of events when the catalogue is empty.")
def serve(**options: Any) -> None:
    """Serve the graph, and GraphiQL for people.

    \b
    Examples:
      quakegraph serve --demo
      quakegraph serve --port 9000 --store sqlite:////var/lib/quakegraph.db --poll 60
      quakegraph serve --host 0.0.0.0 --workers 4 --store dynamodb://
    """
    settings = settings_of(**options)
    server.check_callers(settings)
    try:
        run(server.prepare(settings))
        server.serve(settings)
    except Misconfigured as error:
        raise click.ClickException(str(error)) from None


@main.command()
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
def ingest(
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
    asked = None
    if not files:
        asked = RecentEvents(
            feed=UsgsFeed[feed] if feed else None, start_ms=start_ms, end_ms=end_ms, min_magnitude=min_magnitude
        )
    succeeded = run(ingest_all(settings_of(store=store), files, asked, as_json=as_json))
    raise SystemExit(0 if succeeded else 1)


@main.command()
def schema() -> None:
    """Print the graph's schema in the schema definition language.

    \b
    Example:
      quakegraph schema > schema.graphql
    """
    click.echo(printed(), nl=False)


@main.command()
@click.option("--scope", "scopes", type=Scopes(), required=True, help=f"Permissions, of {', '.join(Scope)}.")
@click.option("--subject", type=Subject(), required=True, help="Who presents it.")
@click.option("--expires", type=Duration(), default="1h", help="How long it holds: 30m, 1h, 7d.  [default: 1h]")
@store_option
def token(scopes: frozenset[Scope], subject: str, expires: int, store: str | None) -> None:
    """Print a token for a caller of this service.

    It is signed with GRAPH_JWT_SECRET; without one, with the secret that `serve` makes beside the
    store. Tokens for a key set (GRAPH_JWKS_URL) are made by whoever has the private key.

    \b
    Example:
      quakegraph token --scope events:write,logs:read --subject importer --expires 7d
    """
    settings = settings_of(store=store)
    if settings.jwks_url:
        raise click.ClickException("tokens for the key set of GRAPH_JWKS_URL are issued where its private keys are")
    try:
        click.echo(shared_secret(settings).issue(subject, sorted(scopes), expires))
    except Misconfigured as error:
        raise click.ClickException(str(error)) from None


@main.group()
def tables() -> None:
    """Make the table, or print its template for CloudFormation or what IAM must allow."""


@tables.command()
@store_option
@click.option(
    "--stream/--no-stream",
    default=True,
    help="Whether to switch its stream on, which tells subscribers at once what another process stored.",
)
def create(store: str | None, stream: bool) -> None:
    """Make the table where it is missing, with its index and expiry.

    On DynamoDB, its stream, point-in-time recovery and deletion protection are switched on too,
    where the endpoint has them. SQLite needs no such step.

    \b
    Example:
      quakegraph tables create --store dynamodb://
    """
    settings = settings_of(store=store)
    location = StoreLocation.of(settings.store)
    for line in run(location.create(ENTITIES, environment=settings.environment, stream=stream)):
        click.echo(line)


@tables.command("template")
def print_template() -> None:
    """Print a CloudFormation template of the table.

    \b
    Example:
      quakegraph tables template > table.yaml
      aws cloudformation deploy --template-file table.yaml --stack-name earthquakes
    """
    from graph.store.cloudformation import template  # with DynamoDB's engine, which takes a while to import

    click.echo(template([EARTHQUAKE_EVENTS]), nl=False)


@tables.command("policy")
@click.option(
    "--for",
    "job",
    type=click.Choice([job.value for job in Job]),
    default=Job.SERVE.value,
    help="What the process does.  [default: serve]",
)
@store_option
def print_policy(job: str, store: str | None) -> None:
    """Print the IAM policy that a process needs on DynamoDB, and no more.

    \b
    Example:
      quakegraph tables policy --store dynamodb:// > policy.json
      aws iam put-role-policy --role-name quakegraph --policy-name table \\
        --policy-document file://policy.json
    """
    settings = settings_of(store=store)
    location = StoreLocation.of(settings.store)
    prefix = location.name if location.engine == "dynamodb" else ""
    text = policy([EARTHQUAKE_EVENTS], Job(job), prefix=prefix, environment=settings.environment)
    click.echo(text, nl=False)


@main.command("rebuild-summaries")
@store_option
def rebuild(store: str | None) -> None:
    """Recompute the summaries, for a table that another writer filled.

    Queries are planned and counted by summaries of each day and year. Every ingest of this
    service keeps them right, also when it crashes; a copy of events from elsewhere does not.

    \b
    Example:
      quakegraph rebuild-summaries --store dynamodb://
    """

    async def work() -> RebuildReport:
        async with open_parts(settings_of(store=store)) as parts:
            return await rebuild_summaries(parts.database)

    report = run(work())
    click.echo(f"{report.events:,} events on {report.days:,} days; {report.corrected:,} summaries corrected.")
