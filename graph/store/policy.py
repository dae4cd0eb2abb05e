"""The least permissions of a process on AWS: an IAM policy for each of its jobs.

Tests record the calls of each job, and compare them with these actions.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from graph.store.choices import AS_DESIGNED, TableChoices
from graph.store.configuration import AWS_KEY, Provisioned
from graph.store.design import TableDesign, table_name

Statement = dict[str, object]


class Job(StrEnum):
    """The job of a process that uses the tables."""

    SERVE = "serve"  # answer, ingest, poll, deliver webhooks, write request logs
    REBUILD = "rebuild"  # take up what other programs wrote, and recompute the summaries
    CHECK = "check"  # compare the tables with their designs
    ADOPT = "adopt"  # add what the service needs to existing tables
    CREATE = "create"  # make the tables, or bring them up to their designs


_DESCRIBED = ("DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive", "ListTagsOfResource")

ACTIONS: dict[Job, tuple[str, ...]] = {
    Job.SERVE: (
        *("BatchGetItem", "BatchWriteItem", "DeleteItem", "DescribeTable"),
        *("GetItem", "PutItem", "Query", "Scan", "UpdateItem"),
    ),
    Job.REBUILD: ("BatchGetItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"),
    Job.CHECK: _DESCRIBED,
    Job.ADOPT: (*_DESCRIBED, "UpdateTable", "UpdateTimeToLive"),
    Job.CREATE: (
        *("CreateTable", *_DESCRIBED, "TagResource"),
        *("UpdateContinuousBackups", "UpdateTable", "UpdateTimeToLive"),
    ),
}
"""IAM's actions on a table and its indexes. A transaction needs the permissions of its actions."""

ACTIONS_ON_THE_STREAM: dict[Job, tuple[str, ...]] = {
    Job.SERVE: ("DescribeStream", "GetRecords", "GetShardIterator"),
}
"""IAM's actions on a table's stream, whose name is the time at which it was switched on."""

_SCALED = ("DescribeScalableTargets",)
_SCALING = (*_SCALED, "PutScalingPolicy", "RegisterScalableTarget")

ACTIONS_ON_SCALING: dict[Job, tuple[str, ...]] = {Job.CHECK: _SCALED, Job.ADOPT: _SCALING, Job.CREATE: _SCALING}
"""IAM's actions on auto-scaling. `Describe…` cannot be limited to a table."""

ACTIONS_ON_ALARMS: dict[Job, tuple[str, ...]] = {
    Job.CHECK: ("DescribeAlarms",),
    Job.ADOPT: ("DescribeAlarms",),
    Job.CREATE: ("DescribeAlarms", "PutMetricAlarm"),
}

_KEY_READ = ("DescribeKey", "GetKeyRotationStatus")

ACTIONS_ON_KEYS: dict[Job, tuple[str, ...]] = {
    Job.CHECK: _KEY_READ,
    Job.ADOPT: _KEY_READ,
    Job.CREATE: (*_KEY_READ, "CreateAlias", "CreateKey", "EnableKeyRotation", "TagResource"),
}
"""IAM's actions on keys, which have no names that would be known before."""

USE_OF_A_KEY: dict[Job, tuple[str, ...]] = {
    Job.SERVE: ("Decrypt",),
    Job.REBUILD: ("Decrypt",),
    Job.CREATE: ("CreateGrant", "Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey*", "ReEncrypt*"),
}
"""IAM's actions that DynamoDB takes in the name of the caller, if a customer's key encrypts a table."""


def policy(
    designs: Iterable[TableDesign],
    job: Job,
    *,
    prefix: str = "",
    environment: str = "dev",
    choices: TableChoices = AS_DESIGNED,
) -> str:
    """The policy as JSON, for the tables in any region of the account.

    Args:
        prefix: the prefix of each table's name.
        environment: the value of `{env}` in the names.
        choices: what is otherwise than designed.
    """
    tables = {
        choices.of(design): table_name(design, prefix=prefix, environment=environment)
        for design in dict.fromkeys(designs)
    }
    statements = list(_on_tables(tables, job))
    if job not in (Job.SERVE, Job.REBUILD):
        statements += _on_configuration(tables, job)
    customers = [design.encryption for design in tables if design.encryption != AWS_KEY]
    if customers and job in USE_OF_A_KEY:
        through = {"StringLike": {"kms:ViaService": "dynamodb.*.amazonaws.com"}}
        keys = sorted({key if key.startswith("arn:") else ANY_KEY for key in customers})
        statements.append(_allow(f"{job.title()}Key", "kms", USE_OF_A_KEY[job], keys) | {"Condition": through})
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, indent=2) + "\n"


ANY_KEY = "arn:aws:kms:*:*:key/*"


def _on_tables(tables: Mapping[TableDesign, str], job: Job) -> Iterator[Statement]:
    resources, streams = list[str](), list[str]()
    for design, name in tables.items():
        table = f"arn:aws:dynamodb:*:*:table/{name}"
        resources += [table, *(f"{table}/index/{index.name}" for index in design.indexes)]
        streams.append(f"{table}/stream/*")
    yield _allow(job.title(), "dynamodb", ACTIONS[job], resources)
    if job in ACTIONS_ON_THE_STREAM:
        yield _allow(f"{job.title()}Stream", "dynamodb", ACTIONS_ON_THE_STREAM[job], streams)


def _on_configuration(tables: Mapping[TableDesign, str], job: Job) -> Iterator[Statement]:
    """What the configuration of the tables needs, beyond DynamoDB."""
    yield _allow(f"{job.title()}Keys", "kms", ACTIONS_ON_KEYS[job], ["*"])
    yield _allow(f"{job.title()}Scaling", "application-autoscaling", ACTIONS_ON_SCALING[job], ["*"])
    if any(design.alarms for design in tables):
        yield _allow(f"{job.title()}Alarms", "cloudwatch", ACTIONS_ON_ALARMS[job], ["*"])
    if job is Job.CREATE and any(isinstance(design.billing, Provisioned) for design in tables):
        role = "arn:aws:iam::*:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/*"
        yield _allow("CreateRole", "iam", ("CreateServiceLinkedRole",), [role])


def _allow(sid: str, service: str, actions: tuple[str, ...], resources: list[str]) -> Statement:
    allowed = [f"{service}:{action}" for action in actions]
    return {"Sid": sid, "Effect": "Allow", "Action": allowed, "Resource": resources}
