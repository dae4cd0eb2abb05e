"""The commands of the service logs: `quakegraph logs import`, `tail` and `forget`."""

from functools import partial

import click

from graph.command_line import CommandLine, store_option
from graph.core import garbage
from graph.domains.service_logs.import_command import import_all
from graph.domains.service_logs.model import ServiceLogLevel, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.tail_command import tail_logs

MOST_LINES = 10_000


class Metadata(click.ParamType[tuple[str, str]]):
    """A name of metadata and its value."""

    name = "KEY=VALUE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split at the first `=`."""
        name, separator, wanted = value.partition("=")
        if not separator:
            self.fail(f"{value!r} is not KEY=VALUE.", param, ctx)
        return name, wanted


@click.group()
def logs() -> None:
    """Import service logs from files, follow them, or forget services."""


@logs.command()
@click.argument("names", nargs=-1, required=True, metavar="SERVICE...")
@store_option
@click.pass_obj
def forget(line: CommandLine, names: tuple[str, ...], store: str | None) -> None:
    """Remove services from the list of those that write logs.

    This makes room for others where GRAPH_MAX_SERVICES is reached. The logs of the services stay until
    they expire, among those of all services. A service that writes again is listed again.

    \b
    Example:
      quakegraph logs forget test-1 test-2
    """
    for name in line.run(line.settings(store=store), lambda services: services.of(LoggingServices).forget(names)):
        click.echo(f"Forgot {name!r}.")


@logs.command("import")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True), metavar="FILE..."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each file.")
@store_option
@click.pass_obj
def import_(line: CommandLine, files: tuple[str, ...], as_json: bool, store: str | None) -> None:
    """Import service logs from files.

    A FILE has one log on each line, a JSON object with the names of the graph or of the table:
    service, message and a time are needed, as time, timestamp or timeUnixNano; type, level,
    severityNumber, severityText, logId, metadata, traceId, spanId and eventName may be there, and
    all others become metadata. Or it has requests of OTLP JSON, as the file exporter of
    the OpenTelemetry Collector writes them. "-" is standard input. Logs that are stored already
    are skipped, so any import can be repeated. The exit status is 1 if all logs of a file were
    rejected.

    \b
    Examples:
      quakegraph logs import checkout.ndjson
      zcat checkout.ndjson.gz | quakegraph logs import - --json | jq .rejected
    """
    garbage.settle()
    succeeded = line.run(line.settings(store=store), partial(import_all, files=files, as_json=as_json))
    raise SystemExit(0 if succeeded else 1)


@logs.command()
@click.option("--service", "services", multiple=True, metavar="NAME", help="Only logs of this service; repeatable.")
@click.option(
    "--type",
    "types",
    multiple=True,
    type=click.Choice([each.value for each in ServiceLogType], case_sensitive=False),
    help="Only logs of this type; repeatable.",
)
@click.option(
    "--level",
    type=click.Choice([each.name for each in ServiceLogLevel], case_sensitive=False),
    help="Only logs of this level and more severe ones.",
)
@click.option("--text", metavar="TEXT", help="Only logs with this text in the message, without regard to case.")
@click.option("--metadata", multiple=True, type=Metadata(), help="Only logs with this metadata; repeatable.")
@click.option(
    "--lines", type=click.IntRange(0, MOST_LINES), default=10, help="Number of logs to begin with.  [default: 10]"
)
@click.option("--follow/--no-follow", default=True, help="Whether to go on with new logs until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print logs as JSON objects, which `logs import` reads.")
@store_option
@click.pass_obj
def tail(
    line: CommandLine,
    services: tuple[str, ...],
    types: tuple[str, ...],
    level: str | None,
    text: str | None,
    metadata: tuple[tuple[str, str], ...],
    lines: int,
    follow: bool,
    as_json: bool,
    store: str | None,
) -> None:
    """Print the newest service logs, and each further one as it is stored.

    The newest logs are printed in order of time, further ones in the order in which they are
    stored, by whichever process. Ctrl-C ends the command.

    \b
    Examples:
      quakegraph logs tail --service checkout --level WARN
      quakegraph logs tail --metadata region=eu --lines 100 --no-follow --json | jq .message
    """

    def selection() -> ServiceLogSelection:
        return ServiceLogSelection(
            services=services or None,
            types=tuple(ServiceLogType(each) for each in types) or None,
            min_severity=ServiceLogLevel[level].value if level else None,
            text=text,
            metadata=metadata,
        )

    work = partial(tail_logs, selection=selection, lines=lines, follow=follow, as_json=as_json)
    try:
        line.run(line.settings(store=store), work)
    except KeyboardInterrupt:
        raise SystemExit(0) from None
