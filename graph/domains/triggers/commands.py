"""`quakegraph deliver`: delivers webhooks in a process of its own."""

import click

from graph.command_line import CommandLine, store_option, until_stopped
from graph.domains.triggers import background


@click.command()
@store_option
@click.pass_obj
def deliver(line: CommandLine, store: str | None) -> None:
    """Deliver webhooks and follow watches, until this is stopped.

    `serve` does it too, unless GRAPH_DELIVER is false. Several processes may run: one of them works at
    a time, and another one takes over when it ends.

    \b
    Example:
      GRAPH_DELIVER=false quakegraph serve &
      quakegraph deliver
    """
    line.run(line.settings(store=store), lambda services: until_stopped(background.deliver(services)))
