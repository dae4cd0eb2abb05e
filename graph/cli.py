"""The command line, assembled from the domains: reads arguments, calls one function, tells the result in a line.

Every option of `serve` is also a setting (`--port` is `GRAPH_PORT`); the option wins. What is
wrong ends with one clear line on standard error: status 2 for a wrong argument, 1 for work
that could not be done. A domain that is off has no command.
"""

from collections.abc import Sequence
from typing import Any

import click

from graph import __version__
from graph.access.authentication import shared_secret
from graph.access.callers import Scope
from graph.access.options import Duration, Scopes, Subject
from graph.app import schema_of
from graph.command_line import CommandLine, WrongSetting, run, store_option
from graph.domain import Domain, checked, entities_of, scopes_of, switched_on, tables_of
from graph.domains import DOMAINS
from graph.serving import server
from graph.settings import DomainNames, Misconfigured
from graph.store.location import StoreLocation
from graph.store.policy import Job, policy

HELP = """An earthquake catalogue behind a GraphQL API.

\b
Try it with a week of real events, then open the address that it prints:
  quakegraph serve --demo
Take in what happened lately, or a file of GeoJSON:
  quakegraph ingest --recent
  quakegraph ingest all_week.geojson

Settings are read from the environment (GRAPH_PORT, GRAPH_STORE, ...); options win over them.
"""


class DomainGroup(click.Group):
    """The commands of some domains. When it runs, those remain that the environment switches on."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        options = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "obj": CommandLine(domains)}
        super().__init__(help=HELP, context_settings=options)
        self.domains = checked(domains)
        click.version_option(__version__, prog_name="quakegraph")(self)
        for command in (_serve(domains), schema, _token(domains), tables):
            self.add_command(command)
        for domain in domains:
            for command in domain.commands:
                self.add_command(command)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            on = switched_on(self.domains, DomainNames().domains)
        except Misconfigured as error:
            wrong = WrongSetting(str(error))
            wrong.show()
            raise SystemExit(wrong.exit_code) from None
        group: click.Group = self if on == self.domains else DomainGroup(on)
        return click.Group.main(group, *args, **kwargs)


def build(domains: Sequence[Domain] = DOMAINS) -> DomainGroup:
    """The command line of a service that has these domains."""
    return DomainGroup(domains)


def _serve(domains: Sequence[Domain]) -> click.Command:
    @click.command()
    @click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: 127.0.0.1]")
    @click.option("--port", metavar="NUMBER", help="Port to listen on; 0 takes a free one.  [default: 8000]")
    @store_option
    @click.option("--workers", metavar="NUMBER", help="Processes that serve.  [default: 1]")
    @click.pass_obj
    def serve(line: CommandLine, /, **options: Any) -> None:
        """Serve the graph, and GraphiQL for people.

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
    """Print the graph's schema in the schema definition language.

    \b
    Example:
      quakegraph schema > schema.graphql
    """
    click.echo(schema_of(tuple(line.domains)).printed, nl=False)


def _token(domains: Sequence[Domain]) -> click.Command:
    there_are = scopes_of(domains)

    @click.command()
    @click.option(
        "--scope", "scopes", type=Scopes(there_are), required=True, help=f"Permissions, of {', '.join(there_are)}."
    )
    @click.option("--subject", type=Subject(), required=True, help="Who presents it.")
    @click.option("--expires", type=Duration(), default="1h", help="How long it holds: 30m, 1h, 7d.  [default: 1h]")
    @store_option
    @click.pass_obj
    def token(line: CommandLine, scopes: frozenset[Scope], subject: str, expires: int, store: str | None) -> None:
        """Print a token for a caller of this service.

        It is signed with GRAPH_JWT_SECRET; without one, with the secret that `serve` makes beside the
        store. Tokens for a key set (GRAPH_JWKS_URL) are signed elsewhere, with its private key.

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


@click.group()
def tables() -> None:
    """Make the tables, or print their template for CloudFormation or what IAM must allow."""


@tables.command()
@store_option
@click.option(
    "--stream/--no-stream",
    default=True,
    help="Whether to switch their streams on, which tells subscribers at once what another process stored.",
)
@click.pass_obj
def create(line: CommandLine, store: str | None, stream: bool) -> None:
    """Make each table where it is missing, with its indexes and expiry.

    On DynamoDB, their streams, point-in-time recovery and deletion protection are switched on too,
    where the endpoint has them. SQLite needs no such step.

    \b
    Example:
      quakegraph tables create --store dynamodb://
    """
    settings = line.settings(store=store)
    location = StoreLocation.of(settings.store)
    entities = entities_of(switched_on(line.domains, settings.domains))
    for done in run(location.create(entities, environment=settings.environment, stream=stream)):
        click.echo(done)


@tables.command("template")
@click.pass_obj
def print_template(line: CommandLine) -> None:
    """Print a CloudFormation template of the tables.

    \b
    Example:
      quakegraph tables template > table.yaml
      aws cloudformation deploy --template-file table.yaml --stack-name earthquakes
    """
    from graph.store.cloudformation import template  # with DynamoDB's engine, which takes a while to import

    settings = line.settings()
    designs = tables_of(switched_on(line.domains, settings.domains))
    click.echo(template(designs, environment=settings.environment), nl=False)


@tables.command("policy")
@click.option(
    "--for",
    "job",
    type=click.Choice([job.value for job in Job]),
    default=Job.SERVE.value,
    help="What the process does.  [default: serve]",
)
@store_option
@click.pass_obj
def print_policy(line: CommandLine, job: str, store: str | None) -> None:
    """Print the IAM policy that a process needs on DynamoDB, and no more.

    \b
    Example:
      quakegraph tables policy --store dynamodb:// > policy.json
      aws iam put-role-policy --role-name quakegraph --policy-name table \\
        --policy-document file://policy.json
    """
    settings = line.settings(store=store)
    location = StoreLocation.of(settings.store)
    prefix = location.name if location.engine == "dynamodb" else ""
    designs = tables_of(switched_on(line.domains, settings.domains))
    click.echo(policy(designs, Job(job), prefix=prefix, environment=settings.environment), nl=False)


main = build()
