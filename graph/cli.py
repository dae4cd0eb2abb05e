"""The command line, assembled from the domains. Each command calls one function and prints its result.

Every option of `serve` is also a setting (`--port` is `GRAPH_PORT`); the option wins. An error is one
line on standard error. The exit status is 2 for a wrong argument or for domains that do not fit together,
and 1 for work that failed. A domain that is off has no commands.
"""

import sys
from collections.abc import Sequence
from typing import Any

import click

from graph import __version__
from graph.access.authentication import shared_secret
from graph.access.callers import Scope
from graph.access.options import Duration, Scopes, Subject
from graph.api.federation import SDL
from graph.app import schema_of
from graph.command_line import CommandLine, WrongSetting, run, store_option
from graph.domain import ORIGIN, BrokenDomain, Domain, ImproperDomains, chosen, refuse_twice, scopes_of, switched_on
from graph.domains import installed
from graph.reference import reference
from graph.serving import server
from graph.settings import DomainNames, Misconfigured
from graph.tables_commands import tables

HELP = """An earthquake catalogue behind a GraphQL API.

\b
Try it with a real week of events, and open the address that it prints:
  quakegraph serve --demo
Ingest the latest events, or a GeoJSON file:
  quakegraph ingest --recent
  quakegraph ingest all_week.geojson

Settings are environment variables (GRAPH_PORT, GRAPH_STORE, ...). Options override them.
"""


class DomainGroup(click.Group):
    """The commands of the service and of its domains. It runs only the commands of domains that are on."""

    def __init__(self, domains: Sequence[Domain], on: Sequence[Domain]) -> None:
        options = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "obj": CommandLine(domains)}
        super().__init__(help=HELP, context_settings=options)
        self.domains = domains
        click.version_option(__version__, prog_name="quakegraph")(self)
        for command in (_serve(on), schema, _token(on), tables, list_domains):
            self.add_command(command)
        for domain in on:
            for command in domain.commands:
                self.add_command(command)

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        """Run the command that the arguments name, if its domain is on."""
        group: click.Group = self
        if list(sys.argv[1:] if args is None else args)[:1] != [list_domains.name]:
            try:
                group = DomainGroup(self.domains, fitting(self.domains))
            except (Misconfigured, ImproperDomains) as error:
                wrong = WrongSetting(str(error))
                wrong.show()
                raise SystemExit(wrong.exit_code) from None
        return click.Group.main(group, args, *others, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Some contradictions between domains show only when their services open."""
        try:
            return super().invoke(ctx)
        except ImproperDomains as error:
            raise WrongSetting(str(error)) from None


def fitting(domains: Sequence[Domain]) -> tuple[Domain, ...]:
    """The domains that are on.

    Raises:
        Misconfigured: `GRAPH_DOMAINS` names domains that cannot be switched on.
        ImproperDomains: A domain is broken, or contradicts another one.
    """
    on = switched_on(domains, DomainNames().domains)
    refuse_twice(
        "command", on, lambda domain: [str(each.name) for each in domain.commands], DomainGroup((), ()).commands
    )
    if any(domain.origin != ORIGIN for domain in on):
        schema_of(on)
    return on


def build(domains: Sequence[Domain] = ()) -> DomainGroup:
    """The command line of a service with these domains; by default, with those that are installed."""
    domains = domains or installed()
    return DomainGroup(domains, domains)


def _serve(domains: Sequence[Domain]) -> click.Command:
    @click.command()
    @click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: 127.0.0.1]")
    @click.option("--port", metavar="NUMBER", help="Port to listen on; 0 takes a free one.  [default: 8000]")
    @store_option
    @click.option("--workers", metavar="NUMBER", help="Number of processes that serve requests.  [default: 1]")
    @click.pass_obj
    def serve(line: CommandLine, /, **options: Any) -> None:
        """Serve the GraphQL API and its web pages.

        \b
        Examples:
          quakegraph serve --demo
          quakegraph serve --port 9000 --store sqlite:////var/lib/quakegraph.db --poll 60
          quakegraph serve --host 0.0.0.0 --workers 4 --store dynamodb://
        """
        settings = line.settings(**options)
        server.check_callers(settings)
        try:
            run(server.prepare(settings, line.domains))
            server.serve(settings, line.domains)
        except Misconfigured as error:
            raise click.ClickException(str(error)) from None

    serve.params += [option for domain in domains for option in domain.options]
    return serve


@click.command()
@click.pass_obj
def schema(line: CommandLine) -> None:
    """Print the GraphQL schema; with GRAPH_FEDERATION=true as a subgraph, for composition.

    \b
    Example:
      quakegraph schema > schema.graphql
    """
    settings = line.settings()
    on = switched_on(line.domains, settings.domains)
    made = schema_of(on, settings.page_sizes, federation=settings.federation)
    click.echo(made.graphql.extensions.get(SDL, made.printed), nl=False)


@click.command("domains")
@click.argument("name", required=False)
@click.pass_obj
def list_domains(line: CommandLine, name: str | None) -> None:
    """List the installed domains, or print tables of what one of them declares.

    Each line has its name, whether it is on, off or broken, the domain that it is a part of, and the
    distribution that it comes from. If they cannot be served together, the last line says why.

    \b
    Examples:
      quakegraph domains
      quakegraph domains earthquakes > earthquakes.md
    """
    if name:
        named = {domain.name: domain for domain in line.domains}
        if name not in named:
            raise click.BadParameter(f"there is no domain {name!r}; these are: {', '.join(named)}", param_hint="NAME")
        click.echo(reference(named[name]), nl=False)
        return
    on = chosen(line.domains, DomainNames().domains)
    rows = [("domain", "state", "part of", "distribution")]
    for domain in line.domains:
        state = "off" if domain not in on else "broken" if isinstance(domain, BrokenDomain) else "on"
        rows.append((domain.name, state, domain.part_of or "-", domain.origin))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    try:
        fitting(line.domains)
    except Misconfigured as error:
        raise WrongSetting(str(error)) from None


def _token(domains: Sequence[Domain]) -> click.Command:
    available = scopes_of(domains)

    @click.command()
    @click.option(
        "--scope",
        "scopes",
        type=Scopes(available),
        required=True,
        help=f"Permissions, separated by commas: {', '.join(available)}.",
    )
    @click.option("--subject", type=Subject(), required=True, help="Name of the caller.")
    @click.option("--expires", type=Duration(), default="1h", help="Lifetime: 30m, 1h, 7d.  [default: 1h]")
    @store_option
    @click.pass_obj
    def token(line: CommandLine, scopes: frozenset[Scope], subject: str, expires: int, store: str | None) -> None:
        """Print a token for a caller of this service.

        It is signed with GRAPH_JWT_SECRET. Without that setting, it is signed with the secret that
        `serve` creates beside the store. If GRAPH_JWKS_URL names a key set, tokens are signed
        elsewhere, with the private key.

        \b
        Example:
          quakegraph token --scope events:write,logs:read --subject importer --expires 7d
        """
        settings = line.settings(store=store)
        if settings.jwks_url:
            raise click.ClickException("tokens for the key set of GRAPH_JWKS_URL are issued where its private keys are")
        try:
            click.echo(shared_secret(settings).issue(subject, sorted(scopes), expires))
        except Misconfigured as error:
            raise click.ClickException(str(error)) from None

    return token


main = build()
