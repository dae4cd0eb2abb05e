"""The least that AWS must allow a process that uses declared tables: an IAM policy for each of its jobs.

That these are the calls that are made, all of them and no other, is tested by recording them.
"""

import json
from collections.abc import Iterable
from enum import StrEnum

from graph.store.design import TableDesign, table_name


class Job(StrEnum):
    """What a process does with the tables."""

    SERVE = "serve"  # answer, ingest, poll, write request logs
    REBUILD = "rebuild"  # recompute the summaries
    CREATE = "create"  # make the tables, or bring them up to their designs


ACTIONS: dict[Job, tuple[str, ...]] = {
    Job.SERVE: ("BatchGetItem", "BatchWriteItem", "DescribeTable", "GetItem", "PutItem", "Query", "UpdateItem"),
    Job.REBUILD: ("GetItem", "Scan", "UpdateItem"),
    Job.CREATE: (
        *("CreateTable", "DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive"),
        *("UpdateContinuousBackups", "UpdateTable", "UpdateTimeToLive"),
    ),
}
"""IAM's actions on a table and its indexes. A transaction needs those of the actions in it."""

ACTIONS_ON_THE_STREAM: dict[Job, tuple[str, ...]] = {
    Job.SERVE: ("DescribeStream", "GetRecords", "GetShardIterator"),
}
"""Those on a table's stream, whose name is the time at which it was switched on."""


def policy(designs: Iterable[TableDesign], job: Job, *, prefix: str = "", environment: str = "dev") -> str:
    """The policy as JSON, for the tables in any region of the account that it is given in.

    Args:
        prefix: what stands before each table's name.
        environment: stands in the names for `{env}`.
    """
    resources, streams = list[str](), list[str]()
    for design in dict.fromkeys(designs):
        table = f"arn:aws:dynamodb:*:*:table/{table_name(design, prefix=prefix, environment=environment)}"
        resources += [table, *(f"{table}/index/{index.name}" for index in design.indexes)]
        streams.append(f"{table}/stream/*")
    statements = [_allow(job.title(), ACTIONS[job], resources)]
    if job in ACTIONS_ON_THE_STREAM:
        statements.append(_allow(f"{job.title()}Stream", ACTIONS_ON_THE_STREAM[job], streams))
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, indent=2) + "\n"


def _allow(sid: str, actions: tuple[str, ...], resources: list[str]) -> dict[str, object]:
    allowed = [f"dynamodb:{action}" for action in actions]
    return {"Sid": sid, "Effect": "Allow", "Action": allowed, "Resource": resources}
