"""Creates declared tables, checks existing ones, and adds what they lack.

All of this is one comparison of what is declared with what is there: `differences`. A check prints them, adopting a
table adds what the service needs, and creating tables adds everything, though to a table without our tags only what
adopting it adds. Nothing is ever changed that the owner of a table chose otherwise, such as billing and encryption.
Every step begins with the comparison, so all steps can be run again at any time, also after a failure. A feature that
an emulator does not offer is left out and reported.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from botocore.exceptions import ClientError

from graph.store.choices import TableChoices
from graph.store.design import TableDesign
from graph.store.dynamodb.additions import Additions
from graph.store.dynamodb.client import connected
from graph.store.dynamodb.description import Description, clients
from graph.store.dynamodb.differences import UNUSABLE, Difference, Feature, differences, not_offered
from graph.store.dynamodb.errors import MISSING, translating_errors
from graph.store.dynamodb.retry_policy import RETRY_POLICY, RetryPolicy
from graph.store.entity import Entity
from graph.store.policy import Job

ANSWER_SECONDS = 60.0  # a change of a table takes longer than a request for items

ADDED: Mapping[Job, frozenset[Feature]] = {
    Job.CHECK: frozenset(),
    Job.ADOPT: frozenset({Feature.INDEX, Feature.EXPIRY, Feature.STREAM}),
    Job.CREATE: frozenset(Feature),
}
"""What a job adds if it is missing."""

Say = Callable[[str], None]


async def administer(
    entities: Iterable[Entity],
    job: Job,
    *,
    choices: TableChoices,
    say: Say,
    progress: Say,
    retry_policy: RetryPolicy = RETRY_POLICY,
) -> bool:
    """Check, adopt or create the entities' tables.

    Args:
        job: `CHECK`, `ADOPT` or `CREATE`.
        say: receives a sentence for each thing that was done, is missing or differs.
        progress: receives a line about once a second while DynamoDB changes a table.

    Returns:
        Whether the service can run on the tables as they now are.

    Raises:
        DatabaseUnavailable: AWS does not answer, or refuses to do it.
    """
    of_table: dict[TableDesign, list[Entity]] = {}
    for entity in entities:
        of_table.setdefault(entity.table, []).append(entity)
    names = choices.tables(of_table)
    retry_policy = replace(retry_policy, read_seconds=max(retry_policy.read_seconds, ANSWER_SECONDS))
    can_run, lacking = True, dict[str, None]()
    async with (
        connected(names.values(), retry_policy) as connection,
        clients(connection.client, retry_policy) as services,
    ):
        for (design, name), its_entities in zip(names.items(), of_table.values(), strict=True):
            with translating_errors(name):
                table = Additions(services, design, name, progress, retry_policy.sleep)
                can_run = await _bring_up(table, its_entities, job, say, lacking) and can_run
    if lacking:
        say(f"Left out, since this endpoint does not offer it: {', '.join(lacking)}.")
    return can_run


async def _bring_up(table: Additions, entities: Iterable[Entity], job: Job, say: Say, lacking: dict[str, None]) -> bool:
    """Add what the job adds, and report the rest. Returns whether the service can run on the table."""
    found = await table.described()
    if found is not None and job is not Job.CHECK:
        await table.wait("another change")
        found = await table.described()
    if found is None and job is not Job.CREATE:
        say(f"Table {table.name} {MISSING}. {UNUSABLE}")
        return False
    if is_new := found is None:
        found = await table.create_table()
        say(f"Table {table.name} was created ({table.design.billing}).")
    lacking.update(dict.fromkeys(not_offered(table.design, found)))
    can_run, different = True, list(differences(table.design, table.name, found, entities))
    if not is_new:
        say(f"Table {table.name} exists." if different else f"Table {table.name} is as declared.")
    added = ADDED[job] if found.is_ours else ADDED[job] & ADDED[Job.ADOPT]
    for difference in different:
        if difference.is_missing and difference.feature in added:
            say(await _add(table, entities, difference, found))
        else:
            can_run = can_run and not difference.breaks
            say(str(difference))
    return can_run


async def _add(table: Additions, entities: Iterable[Entity], difference: Difference, found: Description) -> str:
    """Add what is missing, unless another process is faster. Returns a sentence on it."""
    try:
        return await table.add(difference, found)
    except ClientError:
        await table.wait("another process")
        now = await table.described()
        if now is None or difference in differences(table.design, table.name, now, entities):
            raise
    return f"{difference.said} Another process has added it meanwhile."
