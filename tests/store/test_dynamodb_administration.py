"""Creating a table in DynamoDB, or bringing one up to its declaration."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import botocore.session
import pytest

from graph.core.errors import DatabaseUnavailable
from graph.store.design import KeyAttribute
from tests.store.emulator import moto
from tests.store.engines import create_tables, open_samples
from tests.store.fault_proxy import Answer, FaultProxy, Forward
from tests.store.samples import BY_NAME, BY_TIME, READING, READINGS, SAMPLE, SAMPLES, keyed, sample, sks

NOT_OFFERED = "Point-in-time recovery was left out: this endpoint does not offer it."

STREAMING = "The stream of changes is now on (NEW_IMAGE)."


@pytest.fixture(scope="module")
def dynamodb_endpoint(administered_dynamodb: str) -> str:
    return administered_dynamodb


@pytest.fixture
def prefix(dynamodb_endpoint: str) -> str:
    return f"created-{uuid4().hex}-"


@pytest.fixture
def name(prefix: str) -> str:
    """The table of samples."""
    return f"{prefix}samples"


async def test_a_table_is_created_with_what_it_declares_and_not_changed_again(prefix: str, name: str) -> None:
    assert await create_tables([SAMPLE], prefix=prefix) == [
        f"Table {name} was created, billed by request.",
        "Index ByTime exists.",
        "Index ByName exists.",
        "Items now expire by `ttl`.",
        STREAMING,
        "Deletion protection is now on.",
        NOT_OFFERED,
    ]
    async with open_samples(prefix) as table:
        await table.put(sample(kept=True))

        assert await create_tables([SAMPLE], prefix=prefix) == [
            f"Table {name} exists.",
            "Index ByTime exists.",
            "Index ByName exists.",
            "Items expire by `ttl` already.",
            "The stream of changes is on already (NEW_IMAGE).",
            "Deletion protection is on already.",
            NOT_OFFERED,
        ]
        assert await table.get(("p", "s")) == sample(kept=True)
    assert await create_tables([READING], prefix=prefix) == [
        f"Table {prefix}readings was created, billed by request.",
        STREAMING,
        "Deletion protection is now on.",
        NOT_OFFERED,
    ]


async def test_a_stream_is_switched_on_where_it_is_wanted_and_not_changed(prefix: str, name: str) -> None:
    async def said(*, stream: bool = True) -> list[str]:
        return [line for line in await create_tables([SAMPLE], prefix=prefix, stream=stream) if "stream" in line]

    assert await said(stream=False) == []
    assert await said() == [STREAMING]
    assert await said(stream=False) == []
    assert await said() == ["The stream of changes is on already (NEW_IMAGE)."]
    await set_stream(name, StreamEnabled=False)
    assert await said() == [STREAMING]
    await set_stream(name, StreamEnabled=False)
    await set_stream(name, StreamEnabled=True, StreamViewType="KEYS_ONLY")
    assert await said() == ["The stream of changes is on already (KEYS_ONLY)."]


async def test_a_table_is_created_although_the_answer_is_lost(
    prefix: str, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def losing_the_first(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        answer = await forward(request)
        return None if operation == "CreateTable" and len(fault_proxy.of(operation)) == 1 else answer

    fault_proxy.rule = losing_the_first
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    assert STREAMING in await create_tables([SAMPLE], prefix=prefix)
    assert len(fault_proxy.of("CreateTable")) == 2


async def test_the_tables_of_all_entities_are_created_in_an_environment(prefix: str) -> None:
    later = keyed(replace(READINGS, name="later-{env}"))
    entities = [SAMPLE, READING, keyed(SAMPLES), later]

    done = await create_tables(entities, prefix=prefix, environment="test", stream=False)

    created = [line for line in done if line.endswith(" was created, billed by request.")]
    names = [f"{prefix}samples", f"{prefix}readings", f"{prefix}later-test"]
    assert created == [f"Table {name} was created, billed by request." for name in names]


async def test_a_table_with_other_keys_is_not_changed(prefix: str, name: str) -> None:
    await create_tables([SAMPLE], prefix=prefix)

    others = [
        (READINGS, "exists, but the keys are"),
        (replace(SAMPLES, sort_key=KeyAttribute("other", "S")), "exists, but the keys are"),
        (replace(SAMPLES, ttl="expires"), "exists, but the keys of the expiry are ttl, not expires"),
    ]
    for other, difference in others:
        with pytest.raises(DatabaseUnavailable) as raised:
            await create_tables([keyed(replace(other, name="samples"))], prefix=prefix)

        assert raised.value.detail.startswith(f"table {name} {difference}")
        assert (await create_tables([SAMPLE], prefix=prefix))[0] == f"Table {name} exists."


async def test_a_table_name_that_dynamodb_refuses_is_reported(dynamodb_endpoint: str) -> None:
    with pytest.raises(ValueError, match="name"):
        await create_tables([keyed(replace(SAMPLES, name="no"))])


async def set_stream(name: str, **specification: Any) -> None:
    def update() -> None:
        client: Any = botocore.session.get_session().create_client("dynamodb")
        client.update_table(TableName=name, StreamSpecification=specification)
        client.close()

    await asyncio.to_thread(update)


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (Answer.error("ValidationException"), "does not offer it (An error occurred (ValidationException) "),
        (Answer.error("UnknownOperationException"), "does not offer it (An error occurred (UnknownOperation"),
        (None, "does not offer it."),
    ],
    ids=["invalid", "unknown", "ignored"],
)
async def test_a_table_is_created_without_a_stream_if_the_endpoint_has_none(
    prefix: str, name: str, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch, refusal: Answer | None, said: str
) -> None:
    async def without_streams(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        if "StreamSpecification" not in request:
            return await forward(request)
        return refusal or await forward({"TableName": name, "DeletionProtectionEnabled": False})

    fault_proxy.rule = without_streams
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    done = await create_tables([SAMPLE], prefix=prefix)

    (told,) = [line for line in done if "stream" in line]
    assert told.startswith(f"The stream of changes was left out: this endpoint {said}")
    assert "Deletion protection is now on." in done


async def test_missing_indexes_and_point_in_time_recovery_are_added(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On moto, which offers recovery, and fills an index at once. DynamoDB Local may take minutes for it."""
    with moto() as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        await create_tables([keyed(replace(SAMPLES, indexes=(BY_TIME,), ttl=None))], prefix=prefix)
        async with open_samples(prefix) as table:
            await table.put(sample("p", "early", team="blue", name="ann"))
            done = await create_tables([SAMPLE], prefix=prefix)
            assert done[1:4] == ["Index ByTime exists.", "Index ByName was created.", "Items now expire by `ttl`."]
            assert sks((await table.query(BY_NAME, "blue")).items) == ["early"]

        fresh = await create_tables([SAMPLE], prefix=f"{prefix}2-")
        assert fresh[-1] == "Point-in-time recovery is now on."
        assert (await create_tables([SAMPLE], prefix=prefix))[-1] == "Point-in-time recovery is on already."
