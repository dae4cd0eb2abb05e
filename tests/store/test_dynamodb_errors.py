"""Every error of botocore's and of DynamoDB's has a rule, and the operator learns what to do."""

import asyncio
import socket
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import botocore.session
import pytest
from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError

from graph.core.errors import DatabaseUnavailable
from graph.store.dynamodb.errors import (
    CODES,
    CONFIGURATION,
    CREDENTIALS,
    NETWORK,
    OUTAGE,
    OVERLOAD,
    PERMISSION,
    SOFTWARE,
    UNKNOWN,
    Invalid,
    advice_on,
    translated,
)
from graph.store.values import InvalidItem
from tests.processes import TIMEOUT_S
from tests.store.engines import UNHURRIED, make_tables, open_dynamodb, open_samples
from tests.store.fault_proxy import Answer, FaultProxy, always
from tests.store.samples import BY_TIME, READING, READINGS, SAMPLE, SAMPLES, keyed, sample

OPERATIONS = (
    *("GetItem", "BatchGetItem", "PutItem", "BatchWriteItem", "TransactWriteItems", "Query", "Scan"),
    *("CreateTable", "DescribeTable", "UpdateTable", "DescribeTimeToLive", "UpdateTimeToLive"),
    *("DescribeContinuousBackups", "UpdateContinuousBackups"),
)
STREAM_OPERATIONS = ("DescribeStream", "GetShardIterator", "GetRecords")
ONCE = replace(UNHURRIED, attempts=1, rounds=1)


def test_every_error_of_the_operations_in_use_has_a_rule() -> None:
    session = botocore.session.get_session()
    named = {
        shape.name
        for service, operations in (("dynamodb", OPERATIONS), ("dynamodbstreams", STREAM_OPERATIONS))
        for operation in operations
        for shape in session.get_service_model(service).operation_model(operation).error_shapes
    }

    assert len(named) > 15
    assert named - CODES.keys() == set()


def answered(code: str, message: str = "as told", status: int = 400) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "Query")


NO_INDEX = "The table does not have the specified index: ByTime"


def test_errors_have_advice_unless_the_caller_caused_them() -> None:
    advised: list[tuple[Exception, str]] = [
        (answered("ThrottlingException"), OVERLOAD),
        (answered("ProvisionedThroughputExceededException"), OVERLOAD),
        (answered("InternalServerError", status=500), OUTAGE),
        (answered("503", status=503), OUTAGE),
        (answered("ResourceNotFoundException"), "does not exist: run `quakegraph tables create`"),
        (answered("ValidationException", NO_INDEX), "differs from its declaration: run `quakegraph tables check`"),
        (answered("AccessDeniedException"), PERMISSION),
        (answered("Teapot", status=418), UNKNOWN),
        (exceptions.NoRegionError(), CONFIGURATION),
        (exceptions.NoCredentialsError(), CREDENTIALS),
        (exceptions.ReadTimeoutError(endpoint_url="http://x"), NETWORK),
        (ConnectionResetError(), NETWORK),
        (BotoCoreError(), SOFTWARE),
    ]
    for error, advice in advised:
        for tables, named in ((("events",), "table events"), (("logs", "events"), "one of the tables events, logs")):
            ours = translated(error, *tables)
            assert isinstance(ours, DatabaseUnavailable)
            assert ours.detail.startswith(f"{named} {advice} (")
    of_the_caller = [
        *map(answered, ("ValidationException", "SerializationException", "ItemCollectionSizeLimitExceededException")),
        exceptions.ParamValidationError(report="no"),
    ]
    for error in of_the_caller:
        assert advice_on(error) is Invalid
        assert isinstance(translated(error, "events"), InvalidItem)


async def test_a_table_that_is_missing_or_another_is_named_with_what_to_do(dynamodb_endpoint: str) -> None:
    missing = "does not exist: run `quakegraph tables create`"
    differs = "differs from its declaration: run `quakegraph tables check`"
    others = SAMPLE, keyed(replace(SAMPLES, indexes=())), keyed(replace(READINGS, name="samples"))
    prefixes = [f"nowhere-{uuid4().hex}-", *(make_tables([entity]) for entity in others)]
    nowhere, partly, without_index, other_keys = prefixes

    async def check(asking: Awaitable[object], said: str) -> None:
        with pytest.raises(DatabaseUnavailable) as raised:
            await asking
        assert raised.value.detail.startswith(said)
        assert not any(prefix in str(raised.value) for prefix in prefixes)

    async with open_samples(nowhere, retry_policy=ONCE) as table:
        for asking in (table.ping(), table.get(("p", "s")), table.put(sample()), table.count(BY_TIME, ["mon"])):
            await check(asking, f"table {nowhere}samples {missing}")
    async with open_dynamodb([SAMPLE, READING], prefix=partly, retry_policy=ONCE) as database:
        await check(database.ping(), f"table {partly}readings {missing}")
    async with open_samples(without_index, retry_policy=ONCE) as table:
        await table.ping()
        await check(table.query(BY_TIME, "mon"), f"table {without_index}samples {differs}")
    async with open_samples(other_keys, retry_policy=ONCE) as table:
        await check(table.ping(), f"table {other_keys}samples differs from its declaration")


async def test_an_answer_that_refuses_to_serve_makes_the_store_unavailable(
    fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_samples("any-", retry_policy=ONCE) as table:
        for code, status, advice in (
            ("AccessDeniedException", 400, PERMISSION),
            ("ThrottlingException", 400, OVERLOAD),
            ("InternalServerError", 500, OUTAGE),
            ("UnrecognizedClientException", 400, CREDENTIALS),
        ):
            fault_proxy.rule = always(Answer.error(code, status))
            writes = (table.put(sample()), table.put(sample(), if_absent=True), table.put_many([sample()]))
            for asking in (*writes, table.ping(), table.query(BY_TIME, "mon"), table.get_many([("p", "s")])):
                with pytest.raises(DatabaseUnavailable) as raised:
                    await asking
                assert raised.value.detail.startswith(f"table any-samples {advice} (")


@pytest.mark.parametrize(
    ("listens", "said"),
    [(True, "ReadTimeoutError"), (False, "does not answer: check the network and AWS_ENDPOINT_URL")],
    ids=["silent", "refusing"],
)
async def test_an_endpoint_without_an_answer_makes_the_store_unavailable(
    dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch, listens: bool, said: str
) -> None:
    with socket.socket() as endpoint:
        endpoint.bind(("127.0.0.1", 0))
        if listens:
            endpoint.listen()  # connections wait in its queue for ever
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{endpoint.getsockname()[1]}")
        hurried = replace(ONCE, read_seconds=0.3)
        async with open_samples("any-", retry_policy=hurried) as table, asyncio.timeout(TIMEOUT_S):
            with pytest.raises(DatabaseUnavailable) as raised:
                await table.put(sample(), if_absent=True)

    assert said in raised.value.detail


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("AWS_ENDPOINT_URL", "nonsense", "cannot be found"),
        ("AWS_PROFILE", "missing", "cannot be used without valid credentials"),
        ("AWS_SECRET_ACCESS_KEY", None, "cannot be used without valid credentials"),
    ],
)
async def test_a_broken_configuration_makes_the_store_unavailable(
    dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, advice: str
) -> None:
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)

    with pytest.raises(DatabaseUnavailable) as raised:
        async with open_samples("any-", retry_policy=ONCE) as table:
            await table.ping()

    assert raised.value.detail.startswith(f"table any-samples {advice}")


async def test_errors_of_the_calling_code_pass_unchanged(dynamodb_endpoint: str) -> None:
    with pytest.raises(OSError, match="mine"):
        async with open_samples("any-", retry_policy=ONCE):
            raise OSError("mine")
