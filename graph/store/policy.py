"""The least permissions of a process on AWS: an IAM policy for each of its jobs.

Tests record the calls of each job, and compare them with these actions.
"""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum

from graph.store.choices import AS_DESIGNED, TableChoices
from graph.store.configuration import AWS_KEY, Provisioned
from graph.store.design import TableDesign

Json = dict[str, object]


class Job(StrEnum):
    """The job of a process that uses the tables."""

    SERVE = "serve"  # answer, ingest, poll, deliver webhooks, write request logs
    REBUILD = "rebuild"  # take up what other programs wrote, and recompute the summaries
    CHECK = "check"  # compare the tables with their designs
    ADOPT = "adopt"  # add what the service needs to existing tables
    CREATE = "create"  # make the tables, or bring them up to their designs


_TABLE_READ = "DescribeContinuousBackups DescribeTable DescribeTimeToLive ListTagsOfResource"
_KEYS_READ = "DescribeKey GetKeyRotationStatus"
_SCALING = "DescribeScalableTargets PutScalingPolicy RegisterScalableTarget"

ACTIONS: dict[Job, dict[str, str]] = {
    Job.SERVE: {
        "": "BatchGetItem BatchWriteItem DeleteItem DescribeTable GetItem PutItem Query Scan UpdateItem",
        "Stream": "DescribeStream GetRecords GetShardIterator",
        "Key": "Decrypt",
    },
    Job.REBUILD: {"": "BatchGetItem GetItem PutItem Query Scan UpdateItem", "Key": "Decrypt"},
    Job.CHECK: {"": _TABLE_READ, "Keys": _KEYS_READ, "Scaling": "DescribeScalableTargets", "Alarms": "DescribeAlarms"},
    Job.ADOPT: {
        "": f"{_TABLE_READ} UpdateTable UpdateTimeToLive",
        "Keys": _KEYS_READ,
        "Scaling": _SCALING,
        "Alarms": "DescribeAlarms",
    },
    Job.CREATE: {
        "": f"CreateTable {_TABLE_READ} TagResource UpdateContinuousBackups UpdateTable UpdateTimeToLive",
        "Keys": f"{_KEYS_READ} CreateAlias CreateKey EnableKeyRotation TagResource",
        "Scaling": _SCALING,
        "Alarms": "DescribeAlarms PutMetricAlarm",
        "Role": "CreateServiceLinkedRole",
        "Key": "CreateGrant Decrypt DescribeKey Encrypt GenerateDataKey* ReEncrypt*",
    },
}
"""IAM's actions of each job: on tables and their indexes, and on what `_resources` tells apart.

A transaction needs the permissions of its actions. `Key` has those that DynamoDB takes in the name of the caller, if a
customer's key encrypts a table.
"""

SERVICES = {"Key": "kms", "Keys": "kms", "Scaling": "application-autoscaling", "Alarms": "cloudwatch", "Role": "iam"}


def policy(designs: Iterable[TableDesign], job: Job, *, choices: TableChoices = AS_DESIGNED) -> str:
    """The policy as JSON, for the tables in any region of the account."""
    resources = _resources(choices.tables(designs))
    statements = list[Json]()
    for kind, actions in ACTIONS[job].items():
        if resources[kind]:
            allowed = [f"{SERVICES.get(kind, 'dynamodb')}:{action}" for action in actions.split()]
            sid = f"{job.title()}{kind}"
            statement: Json = {"Sid": sid, "Effect": "Allow", "Action": allowed, "Resource": resources[kind]}
            if kind == "Key":
                statement["Condition"] = {"StringLike": {"kms:ViaService": "dynamodb.*.amazonaws.com"}}
            statements.append(statement)
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, indent=2) + "\n"


def _resources(tables: Mapping[TableDesign, str]) -> Mapping[str, list[str]]:
    """The resources that each kind of actions is on; none if the tables do not need them."""
    arns = {f"arn:aws:dynamodb:*:*:table/{name}": design for design, name in tables.items()}
    keys = [design.encryption for design in tables if design.encryption != AWS_KEY]
    role = "arn:aws:iam::*:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/*"
    return {
        "": [each for arn, of in arns.items() for each in (arn, *(f"{arn}/index/{i.name}" for i in of.indexes))],
        "Stream": [f"{arn}/stream/*" for arn in arns],  # its name is the time at which it was switched on
        "Keys": ["*"],  # they have no names that would be known before
        "Scaling": ["*"],  # `Describe…` cannot be limited to a table
        "Alarms": ["*"] if any(design.alarms for design in tables) else [],
        "Role": [role] if any(isinstance(design.billing, Provisioned) for design in tables) else [],
        "Key": sorted({key if key.startswith("arn:") else "arn:aws:kms:*:*:key/*" for key in keys}),
    }
