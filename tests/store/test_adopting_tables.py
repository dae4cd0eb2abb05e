"""Checking a table that another program made, and adopting it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.domains.triggers.entities import EVENTS, STATUS_INDEX, TRIGGER_EVENT
from graph.store.choices import TableChoices
from graph.store.configuration import Provisioned
from graph.store.dynamodb.declaration import table_properties
from graph.store.dynamodb.description import Description, Keys
from graph.store.dynamodb.differences import differences
from graph.store.policy import Job
from tests.documents.markdown import document
from tests.held_time import Pauses
from tests.other_programs import client
from tests.store.emulator import moto
from tests.store.engines import UNHURRIED, administer, open_dynamodb
from tests.store.fault_proxy import Answer, FaultProxy, Forward, proxying
from tests.store.samples import BY_TIME, SAMPLE, SAMPLES, keyed

PAGE = document("docs/dynamodb.md")
UNITS = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}
OF_ITEMS = (
    "The index EventTypeIndex is missing. What is read through it fails: TRIGGER_EVENT.",
    "The index StatusIndex is missing. What is read through it fails: TRIGGER_EVENT.",
    "Items do not expire by `ttl`. The service leaves out what has expired, but it is stored, billed and read over for "
    "ever.",
    "It has no stream of changes. Each process looks for changes once a second, and finds by hourly scans what other "
    "programs write.",
)
OF_BILLING = (
    "It is provisioned (7 read and 8 write units), not billed on demand. What is beyond is throttled: it waits, and "
    "then fails with DATABASE_UNAVAILABLE."
)
UNPROTECTED = (
    "It is not protected from deletion. The service works as well; one call of DeleteTable removes everything."
)
ADDED = [
    "The index EventTypeIndex was created.",
    "The index StatusIndex was created.",
    "Items now expire by `ttl`.",
    "The stream of changes is now on (NEW_IMAGE).",
]


@pytest.fixture
def dynamodb_endpoint(new_dynamodb: str) -> str:
    return new_dynamodb


@pytest.fixture(scope="module")
def aws(_dynamodb: str) -> Iterator[str]:
    with moto() as url:
        yield url


@pytest.fixture(params=["new_dynamodb", "aws"])
def prefix(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The prefix of a table on an endpoint, on which it exists with its primary key and its items alone."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", request.getfixturevalue(request.param))
    return of_another_program()


def of_another_program() -> str:
    """Make a provisioned table of events with one item, as another program would. Returns the prefix of its name."""
    prefix = f"another-{uuid4().hex}-"
    design = replace(EVENTS, indexes=(), tags=())
    properties = table_properties(design, f"{prefix}zapier-triggers-api-dev-events")
    del properties["Tags"]
    client().create_table(**{**properties, "BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS})
    client().put_item(
        TableName=properties["TableName"],
        Item={
            "user_id": {"S": "user-123"},
            "timestamp#event_id": {"S": "2025-11-11T10:00:00Z#evt-123"},
            "status#timestamp": {"S": "received#2025-11-11T10:00:00Z"},
        },
    )
    return prefix


async def test_a_table_of_another_program_is_checked_adopted_and_found_complete(prefix: str) -> None:
    name = f"{prefix}zapier-triggers-api-dev-events"

    can_run, said = await administer([TRIGGER_EVENT], Job.CHECK, prefix=prefix)
    assert (can_run, said[:7]) == (False, [f"Table {name} exists.", *OF_ITEMS, OF_BILLING, UNPROTECTED])
    documented = [
        block.text.splitlines() for block in PAGE.blocks if block.test == "tests/store/test_adopting_tables.py"
    ]
    assert documented[0] == [line.replace(prefix, "") for line in said[:7]]
    before = client().describe_table(TableName=name)["Table"]

    can_run, adopted = await administer([TRIGGER_EVENT], Job.ADOPT, prefix=prefix)
    assert (can_run, adopted[:7]) == (True, [f"Table {name} exists.", *ADDED, OF_BILLING, UNPROTECTED])
    assert documented[1] == [line.replace(prefix, "") for line in adopted[:7]]
    assert adopted[7:] == said[7:], "what the owner chose otherwise, or the endpoint does not offer"

    can_run, checked = await administer([TRIGGER_EVENT], Job.CHECK, prefix=prefix)
    assert (can_run, checked) == (True, [f"Table {name} exists.", OF_BILLING, UNPROTECTED, *said[7:]])
    after = client().describe_table(TableName=name)["Table"]
    for index in after["GlobalSecondaryIndexes"]:
        assert {unit: index["ProvisionedThroughput"][unit] for unit in UNITS} == UNITS
    for kept in ("ProvisionedThroughput", "SSEDescription", "KeySchema"):
        assert after.get(kept) == before.get(kept)
    found = client().query(
        TableName=name,
        IndexName=STATUS_INDEX.name,
        KeyConditionExpression="user_id = :user",
        ExpressionAttributeValues={":user": {"S": "user-123"}},
    )
    assert [item["timestamp#event_id"]["S"] for item in found["Items"]] == ["2025-11-11T10:00:00Z#evt-123"]


@pytest.mark.parametrize("prefix", ["aws"], indirect=True)
async def test_creating_tables_adds_no_more_to_a_table_of_another_program_than_adopting_it(prefix: str) -> None:
    can_run, said = await administer([TRIGGER_EVENT], Job.CREATE, prefix=prefix)

    name = f"{prefix}zapier-triggers-api-dev-events"
    assert (can_run, said[:7]) == (True, [f"Table {name} exists.", *ADDED, OF_BILLING, UNPROTECTED])
    assert [line.partition(". ")[0] for line in said[7:9]] == [
        "It has no point-in-time recovery",
        "It has no tag application=quakegraph",
    ]
    assert not client().describe_table(TableName=name)["Table"].get("DeletionProtectionEnabled")


@pytest.mark.parametrize("prefix", ["aws"], indirect=True)
async def test_a_new_index_scales_as_its_table_does(prefix: str) -> None:
    name = f"{prefix}zapier-triggers-api-dev-events"
    target = {"ServiceNamespace": "dynamodb", "ResourceId": f"table/{name}", "MinCapacity": 7, "MaxCapacity": 70}
    scaling = client("application-autoscaling")
    scaling.register_scalable_target(**target, ScalableDimension="dynamodb:table:WriteCapacityUnits")

    await administer([TRIGGER_EVENT], Job.ADOPT, prefix=prefix)

    places = [f"table/{name}/index/{index.name}" for index in EVENTS.indexes]
    found = scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=places)["ScalableTargets"]
    assert sorted(
        (each["ResourceId"], each["ScalableDimension"], each["MinCapacity"], each["MaxCapacity"]) for each in found
    ) == [(place, "dynamodb:index:WriteCapacityUnits", 7, 70) for place in sorted(places)]


@pytest.mark.usefixtures("_dynamodb")
async def test_a_missing_table_is_not_made_by_checking_or_adopting() -> None:
    prefix = f"nowhere-{uuid4().hex}-"
    for job in (Job.CHECK, Job.ADOPT):
        assert await administer([SAMPLE], job, prefix=prefix) == (
            False,
            [
                f"Table {prefix}samples does not exist: run `quakegraph tables create`. Nothing can be stored in it or "
                "read."
            ],
        )
    async with open_dynamodb([SAMPLE], prefix=prefix) as database:
        with pytest.raises(DatabaseUnavailable):
            await database.ping()


async def test_adopting_waits_for_an_index_and_says_so(
    dynamodb_endpoint: str, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = f"filling-{uuid4().hex}-"
    await administer([keyed(replace(SAMPLES, indexes=(BY_TIME,)))], Job.CREATE, prefix=prefix)
    pauses = Pauses()
    shown: list[str] = []

    async def filling(operation: str, request: dict[str, Any], forward: Forward) -> Answer:
        answer = await forward(request)
        if operation == "DescribeTable" and fault_proxy.of("UpdateTable") and len(pauses) < 3:
            answer.body["Table"]["GlobalSecondaryIndexes"][-1]["IndexStatus"] = "CREATING"
        return answer

    fault_proxy.rule = filling
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    policy = replace(UNHURRIED, sleep=pauses.sleep)
    can_run, said = await administer([SAMPLE], Job.ADOPT, prefix=prefix, retry_policy=policy, progress=shown.append)

    assert can_run
    assert "The index ByName was created." in said
    assert shown[:3] == [f"Waiting for the index ByName of {prefix}samples: {seconds} s" for seconds in range(3)]
    assert set(pauses) == {1.0}


@pytest.mark.parametrize("job", [Job.ADOPT, Job.CREATE])
async def test_of_two_processes_that_change_a_table_the_slower_one_sees_what_the_other_has_added(
    dynamodb_endpoint: str, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch, job: Job
) -> None:
    prefix = f"twice-{uuid4().hex}-"
    bare = replace(SAMPLES, indexes=(BY_TIME,), ttl=None)
    await administer([keyed(bare)], Job.CREATE, prefix=prefix, choices=TableChoices(stream=False))
    changes = {"UpdateTable", "UpdateTimeToLive"}

    async def twice(operation: str, request: dict[str, Any], forward: Forward) -> Answer:
        if operation in changes:
            await forward(request)
        return await forward(request)

    fault_proxy.rule = twice
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    can_run, said = await administer([SAMPLE], job, prefix=prefix)

    assert can_run
    assert said[1:4] == [
        "The index ByName is missing. Another process has added it meanwhile.",
        "Items do not expire by `ttl`. Another process has added it meanwhile.",
        "The stream of changes is now on (NEW_IMAGE).",
    ]


async def test_a_new_table_is_waited_for_and_so_are_its_backups(aws: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix, pauses = f"new-{uuid4().hex}-", Pauses()

    async def not_yet(operation: str, request: dict[str, Any], forward: Forward) -> Answer:
        if operation == "DescribeTable" and len(pauses) < 2:
            return Answer.error("ResourceNotFoundException")
        if operation == "UpdateContinuousBackups" and len(pauses) < 5:
            return Answer.error("ContinuousBackupsUnavailableException")
        return await forward(request)

    async with proxying(aws) as proxy:
        proxy.rule = not_yet
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        policy = replace(UNHURRIED, sleep=pauses.sleep)
        can_run, said = await administer([SAMPLE], Job.CREATE, prefix=prefix, retry_policy=policy)

    assert can_run
    assert "Point-in-time recovery is now on." in said
    assert pauses == [1.0] * 5


def a_description(**others: Any) -> Description:
    """The table of samples as it is declared, but for something."""
    table = {
        "TableStatus": "ACTIVE",
        "DeletionProtectionEnabled": True,
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
        **table_properties(SAMPLES, "samples"),
    }
    at = {key: value for key, value in others.items() if key in Description.__slots__}
    table |= {key: value for key, value in others.items() if key not in at}
    keys = Keys("arn:aws", "arn:aws", is_of_aws=True, rotates=True)
    described: dict[str, Any] = {"expiry": "ttl", "recovery": True, "tags": dict(SAMPLES.tags), "keys": keys}
    return Description(**{"table": table, "scaling": None, "alarms": None, **described, **at})


PROPERTIES = table_properties(SAMPLES, "samples")
INDEXES = PROPERTIES["GlobalSecondaryIndexes"]
TYPES = [{"AttributeName": each["AttributeName"], "AttributeType": "S"} for each in PROPERTIES["AttributeDefinitions"]]

CASES: dict[str, tuple[dict[str, Any], str, bool]] = {
    "archived": ({"TableStatus": "ARCHIVED"}, "Its status is ARCHIVED.", True),
    "some attributes": (
        {"GlobalSecondaryIndexes": [INDEXES[0] | {"Projection": {"ProjectionType": "KEYS_ONLY"}}, INDEXES[1]]},
        "The index ByTime has some attributes (KEYS_ONLY), not ALL.",
        True,
    ),
    "being filled": (
        {"GlobalSecondaryIndexes": [INDEXES[0] | {"IndexStatus": "CREATING"}, INDEXES[1]]},
        "The index ByTime is not filled yet (CREATING).",
        True,
    ),
    "types of others": (
        {"GlobalSecondaryIndexes": [INDEXES[1]], "AttributeDefinitions": TYPES},
        "The index ByTime is missing, and at (S) is a key of another.",
        True,
    ),
    "key of AWS": (
        {"keys": Keys(None, "arn:aws", is_of_aws=True, rotates=True)},
        "It is encrypted with a key that AWS owns, not with the one that is aws-managed.",
        False,
    ),
}


def test_a_table_as_declared_has_no_differences() -> None:
    assert list(differences(SAMPLES, "samples", a_description(), [SAMPLE])) == []
    local = a_description(GlobalSecondaryIndexes=[INDEXES[0]], LocalSecondaryIndexes=[INDEXES[1]])
    assert list(differences(SAMPLES, "samples", local, [SAMPLE])) == [], "a local index can be queried as well"


@pytest.mark.parametrize("case", CASES)
def test_a_difference_is_said_with_whether_the_service_can_run(case: str) -> None:
    others, said, breaks = CASES[case]

    (difference,) = differences(SAMPLES, "samples", a_description(**others), [SAMPLE])

    assert str(difference).startswith(f"{said} ")
    assert (difference.breaks, difference.is_missing) == (breaks, False)


def test_bounds_of_scaling_that_the_owner_chose_are_said() -> None:
    provisioned = replace(SAMPLES, billing=Provisioned(5, 100), indexes=())
    bounds = {("table/samples", f"dynamodb:table:{unit}CapacityUnits"): (1, 10) for unit in ("Read", "Write")}
    found = a_description(BillingModeSummary={"BillingMode": "PROVISIONED"}, scaling=bounds)

    (difference,) = differences(provisioned, "samples", found, [SAMPLE])

    assert difference.said == "The capacity scales from 1 to 10 units, not from 5 to 100: the table."
    assert (difference.breaks, difference.is_missing) == (False, False)
