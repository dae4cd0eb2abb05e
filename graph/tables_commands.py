"""The commands on the tables: create, check and adopt them, and print their template or IAM policy."""

from collections.abc import Callable
from dataclasses import replace

import click

from graph.command_line import CommandLine, ending_with_the_message, progress_line, run, store_option
from graph.domain import entities_of, switched_on, tables_of
from graph.store.location import StoreLocation
from graph.store.policy import Job, policy


@click.group()
def tables() -> None:
    """Create, check or adopt the tables, or print their template or IAM policy."""


def job_on_tables(described: Callable[[], None]) -> click.Command:
    """A command that does the job of its name on the tables.

    Its sentences go to standard output, and its progress to standard error.
    """
    job = Job(described.__name__)

    @tables.command(job.value, help=described.__doc__)
    @store_option
    @click.option(
        "--stream/--no-stream",
        default=True,
        help="Whether the tables need streams. By them, subscribers receive at once what another process stores.",
    )
    @click.pass_obj
    def command(line: CommandLine, store: str | None, stream: bool) -> None:
        settings = line.settings(store=store)
        entities = entities_of(switched_on(line.domains, settings.domains))
        choices = replace(settings.table_choices, stream=stream)
        location = StoreLocation.of(settings.store)
        with progress_line() as progress:
            can_run = run(location.administer(entities, job, choices=choices, say=click.echo, progress=progress))
        click.echo("The service can run." if can_run else "The service cannot run: see what is said above to fail.")
        if not can_run:
            raise SystemExit(1)

    return command


@job_on_tables
def create() -> None:
    """Create the tables that are missing, as they are designed.

    On DynamoDB, those that it made before get what they lack: indexes, expiry, streams,
    auto-scaling, alarms, tags, point-in-time recovery and deletion protection. Tables of another
    program are adopted. What the endpoint does not offer is left out. SQLite does not need this
    command.

    \b
    Example:
      quakegraph tables create --store dynamodb://
    """


@job_on_tables
def check() -> None:
    """Compare the tables with their designs, and change nothing.

    Says what is missing, what differs, and what that costs. The exit status is 0 if the service can
    run on the tables, and 1 if it cannot.

    \b
    Example:
      quakegraph tables check --store dynamodb://
    """


@job_on_tables
def adopt() -> None:
    """Add what the service needs to existing tables: indexes, expiry and streams.

    Waits until the indexes are filled. Nothing changes that the tables' owner chose otherwise, such
    as billing and encryption. The exit status is that of `check` afterwards.

    \b
    Example:
      quakegraph tables adopt --store dynamodb://
    """


@tables.command("template")
@store_option
@click.pass_obj
def print_template(line: CommandLine, store: str | None) -> None:
    """Print a CloudFormation template of the tables, for the configured region.

    \b
    Example:
      quakegraph tables template --store dynamodb:// > table.json
      aws cloudformation deploy --template-file table.json --stack-name earthquakes
    """
    settings = line.settings(store=store)
    designs = tables_of(switched_on(line.domains, settings.domains))
    with ending_with_the_message():
        printed = StoreLocation.of(settings.store).template(designs, settings.table_choices)
    click.echo(printed, nl=False)


@tables.command("policy")
@click.option(
    "--for",
    "job",
    type=click.Choice([job.value for job in Job]),
    default=Job.SERVE.value,
    help="Job of the process.  [default: serve]",
)
@store_option
@click.pass_obj
def print_policy(line: CommandLine, job: str, store: str | None) -> None:
    """Print the IAM policy with the least permissions that a process needs on DynamoDB.

    \b
    Example:
      quakegraph tables policy --store dynamodb:// > policy.json
      aws iam put-role-policy --role-name quakegraph --policy-name table \\
        --policy-document file://policy.json
    """
    settings = line.settings(store=store)
    designs = tables_of(switched_on(line.domains, settings.domains))
    click.echo(policy(designs, Job(job), choices=settings.table_choices), nl=False)
