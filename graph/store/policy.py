"""The least permissions of a process on AWS: an IAM policy for each of its jobs.

Tests record the calls of each job, and compare them with these actions.
"""

import json
from collections.abc import Iterable
from enum import StrEnum

from graph.store.design import TableDesign, table_name


class Job(StrEnum):
    """The job of a process that uses the tables."""

    SERVE = "serve"  # answer, ingest, poll, deliver webhooks, write request logs
    REBUILD = "rebuild"  # take up what other programs wrote, and recompute the summaries
    CREATE = "create"  # make the tables, or bring them up to their designs


ACTIONS: dict[Job, tuple[str, ...]] = {
    Job.SERVE: (
        *("BatchGetItem", "BatchWriteItem", "DeleteItem", "DescribeTable"),
        *("GetItem", "PutItem", "Query", "Scan", "UpdateItem"),
    ),
    Job.REBUILD: ("BatchGetItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"),
    Job.CREATE: (
        *("CreateTable", "DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive"),
        *("UpdateContinuousBackups", "UpdateTable", "UpdateTimeToLive"),
    ),
}
"""IAM's actions on a table and its indexes. A transaction needs the permissions of its actions."""

ACTIONS_ON_THE_STREAM: dict[Job, tuple[str, ...]] = {
    Job.SERVE: ("DescribeStream", "GetRecords", "GetShardIterator"),
}
"""IAM's actions on a table's stream, whose name is the time at which it was switched on."""


def policy(designs: Iterable[TableDesign], job: Job, *, prefix: str = "", environment: str = "dev") -> str:
    """The policy as JSON, for the tables in any region of the account.

    Args:
        prefix: the prefix of each table's name.
        environment: the value of `{env}` in the names.
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
