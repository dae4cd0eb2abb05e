"""Creating a table in DynamoDB, or bringing one up to its declaration."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from graph.store.choices import TableChoices
from graph.store.design import KeyAttribute
from graph.store.policy import Job
from tests.other_programs import client
from tests.store.engines import administer, create_tables, open_samples
from tests.store.fault_proxy import Answer, FaultProxy, Forward
from tests.store.samples import BY_NAME, BY_TIME, READING, READINGS, SAMPLE, SAMPLES, keyed, sample

NOT_OFFERED = (
    "Left out, since this endpoint does not offer it: encryption with a key in KMS, point-in-time recovery, tags."
)

PROTECTED = "Deletion protection is now on."
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
        f"Table {name} was created (on demand).",
        "Items now expire by `ttl`.",
        STREAMING,
        PROTECTED,
        NOT_OFFERED,
    ]
    async with open_samples(prefix) as table:
        await table.put(sample(kept=True))

        assert await create_tables([SAMPLE], prefix=prefix) == [f"Table {name} is as declared.", NOT_OFFERED]
        assert await table.get(("p", "s")) == sample(kept=True)
    assert await create_tables([READING], prefix=prefix) == [
        f"Table {prefix}readings was created (on demand).",
        STREAMING,
        PROTECTED,
        NOT_OFFERED,
    ]


async def test_a_stream_is_switched_on_where_it_is_wanted_and_not_changed(prefix: str, name: str) -> None:
    async def said(*, stream: bool = True) -> list[str]:
        choices = TableChoices(stream=stream)
        return [line for line in await create_tables([SAMPLE], prefix=prefix, choices=choices) if "stream" in line]

    assert await said(stream=False) == []
    assert await said() == [STREAMING]
    assert await said(stream=False) == []
    assert await said() == []
    await set_stream(name, StreamEnabled=False)
    assert await said() == [STREAMING]
    await set_stream(name, StreamEnabled=False)
    await set_stream(name, StreamEnabled=True, StreamViewType="KEYS_ONLY")
    assert await said() == [
        "Its stream holds KEYS_ONLY, not NEW_IMAGE. The service works as well; other readers of the stream miss the "
        "new items."
    ]


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

    done = await create_tables(entities, prefix=prefix, choices=TableChoices(environment="test"))

    created = [line for line in done if "created" in line]
    names = [f"{prefix}samples", f"{prefix}readings", f"{prefix}later-test"]
    assert created == [f"Table {name} was created (on demand)." for name in names]


async def test_a_table_with_other_keys_is_not_changed(prefix: str, name: str) -> None:
    await create_tables([SAMPLE], prefix=prefix)
    others = {
        READINGS: "Its primary key is pk (S) and sk (S), not station (N) and number (N). ",
        replace(SAMPLES, sort_key=KeyAttribute("other", "S")): "Its primary key is pk (S) and sk (S), not pk (S) and ",
    }

    for other, difference in others.items():
        entity = keyed(replace(other, name="samples"))
        can_run, said = await administer([entity], Job.CREATE, prefix=prefix)

        assert (can_run, said[0], len(said)) == (False, f"Table {name} exists.", 3)
        assert said[1].startswith(difference)
        assert (await create_tables([SAMPLE], prefix=prefix))[0] == f"Table {name} is as declared."


@pytest.mark.parametrize("is_read", [True, False])
async def test_an_index_with_other_keys_is_not_changed(prefix: str, name: str, is_read: bool) -> None:
    await create_tables([SAMPLE], prefix=prefix)
    other = replace(BY_NAME, sort_key=BY_TIME.sort_key)
    design = replace(SAMPLES, indexes=(other,))
    entity = replace(SAMPLE, table=design, indexes={other: ("{team}", "{at}")}) if is_read else keyed(design)

    can_run, said = await administer([entity], Job.CREATE, prefix=prefix)

    cost = "What is read through it fails: SAMPLE." if is_read else "Nothing reads through it."
    keys = "team (S) and name (S), not team (S) and at (N)"
    assert (can_run, said[0]) == (not is_read, f"Table {name} exists.")
    assert said[1] == f"The keys of the index ByName are {keys}. {cost} Delete it, and adopt the table again."


async def test_the_expiry_that_the_owner_chose_stays(prefix: str, name: str) -> None:
    await create_tables([SAMPLE], prefix=prefix)

    for ttl, cost in (("expires", "What has expired by `expires` is left out, but"), (None, "Items that have this")):
        can_run, said = await administer([keyed(replace(SAMPLES, ttl=ttl))], Job.ADOPT, prefix=prefix)

        assert can_run
        assert said[1].startswith("Items expire by `ttl`, not ")
        assert cost in said[1]


async def test_a_table_name_that_dynamodb_refuses_is_reported(dynamodb_endpoint: str) -> None:
    with pytest.raises(ValueError, match="name"):
        await create_tables([keyed(replace(SAMPLES, name="no"))])


async def set_stream(name: str, **specification: Any) -> None:
    await asyncio.to_thread(client().update_table, TableName=name, StreamSpecification=specification)


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
    assert PROTECTED in done
