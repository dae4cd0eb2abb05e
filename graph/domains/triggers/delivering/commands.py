"""`quakegraph deliver`: delivers webhooks in a process of its own."""

import click

from graph.command_line import CommandLine, store_option, until_stopped
from graph.domain import Resources, Services
from graph.domains.triggers.delivering import background
from graph.observability.logs import configure_logging, get_logger

logger = get_logger(__name__)


@click.command()
@store_option
@click.pass_obj
def deliver(line: CommandLine, store: str | None) -> None:
    """Deliver webhooks and follow watches, until this is stopped.

    `serve` does it too, unless GRAPH_DELIVER is false. Several processes may run: one of them works at
    a time, and another one takes over when it ends. The log says which one works.

    \b
    Example:
      GRAPH_DELIVER=false quakegraph serve &
      quakegraph deliver
    """
    line.run(line.settings(store=store), lambda services: until_stopped(_deliver(services)))


async def _deliver(services: Services) -> None:
    settings = services.of(Resources).settings
    configure_logging(settings.log_level, settings.log_format)
    logger.info("Ready to deliver webhooks whenever no other process does")
    await background.deliver(services)
