"""The IAM policies allow the calls that are made, and no others: every call is recorded on its way to DynamoDB."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiobotocore.client import AioBaseClient

from graph.core.clock import now_ms
from graph.domain import Domain, Resources, tables_of
from graph.domains import DOMAINS
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.summaries import rebuild_summaries
from graph.domains.service_logs.entities import LOGS, SERVICE_LOG
from graph.opening import open_services
from graph.store.choices import TableChoices
from graph.store.contract import Put
from graph.store.design import Index
from graph.store.policy import Job, policy
from tests.domains.earthquakes.builders import NOON, an_event, as_given
from tests.domains.earthquakes.ingest.ingests import unlogged_ingest
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.domains.entities import ENTITIES
from tests.domains.triggers.receiver_program import gateway
from tests.domains.triggers.sending.receivers import LOOPBACK
from tests.feed import foreign_notes
from tests.processes import quakegraph
from tests.service import Service, running
from tests.settings import Settings
from tests.store.emulator import moto
from tests.store.engines import administer, create_tables, make_tables
from tests.store.fault_proxy import FaultProxy
from tests.store.samples import READINGS

ADOPTING = Domain(name="foreign_notes", entities=foreign_notes.ENTITIES, adoptions=(foreign_notes.ADOPTION,))
"""A domain that adopts items of other programs."""

KEY = "arn:aws:kms:us-east-1:123456789012:key/1"

IN_A_TRANSACTION = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}


def needed(fault_proxy: FaultProxy) -> set[str]:
    """The actions of IAM that the recorded calls need."""
    actions = set()
    for operation, request in fault_proxy.requests:
        if operation == "TransactWriteItems":
            actions |= {IN_A_TRANSACTION[kind] for action in request["TransactItems"] for kind in action}
        else:
            actions.add(operation)
    return actions


def allowed(job: Job) -> set[str]:
    statements = json.loads(policy([EARTHQUAKE_EVENTS], job))["Statement"]
    assert all(statement["Effect"] == "Allow" for statement in statements)
    return {action.removeprefix("dynamodb:") for statement in statements for action in statement["Action"]}


@pytest.fixture
async def settings(fault_proxy: FaultProxy, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Those of a service on empty tables, which it reaches through the proxy."""
    prefix = make_tables([*ENTITIES, *ADOPTING.entities], stream=True)
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    return Settings(store=f"dynamodb://{prefix}", usgs_url="http://127.0.0.1:9")


async def test_serving_needs_what_its_policy_allows(
    settings: Settings, fault_proxy: FaultProxy, usgs: UsgsServer
) -> None:
    usgs.hold(week_features()[:2])  # the whole week would fill the table's stream, which slows the emulator down

    def ingest(service: Service, event_id: str) -> None:
        event = f'{{eventId: "{event_id}", eventTsMs: 0, mag: 1, lat: 0, lon: 0}}'
        service.ask(f"mutation {{ ingestEvents(input: {{events: [{event}]}}) {{ requestId }} }}")

    def ask() -> None:
        others = {"usgs_url": usgs.url, "poll": 3600.0, "webhook_networks": LOOPBACK, "webhook_http": True}
        with running(settings.model_copy(update=others), domains=(*DOMAINS, ADOPTING)) as service:
            service.ask("mutation { ingestRecent(input: {feed: ALL_WEEK}) { requestId } }")
            ingest(service, "us1")
            logged = service.ask("{ requestLogs(first: 1) { nodes { id } } }")["requestLogs"]["nodes"][0]["id"]
            service.ask(f'{{ node(id: "{logged}") {{ id }} event(eventId: "us1") {{ id }} }}')
            service.ask("{ events { totalCount nodes { id } } popularFilters { totalRequests } }")
            service.ask("{ events(filter: {minDepth: 10}) { totalCount } }")
            assert service.http.get("/readyz").status_code == 200
            deliver(service)

    def deliver(service: Service) -> None:
        """Make and delete what the triggers have, with a delivery that succeeds."""
        with gateway() as receiver:
            receiver.status = 204
            url = f'{{url: "{receiver.url}"}}'
            made = service.ask(f"mutation {{ createEndpoint(input: {url}) {{ endpoint {{ endpointId }} }} }}")
            endpoint = f'endpointId: "{made["createEndpoint"]["endpoint"]["endpointId"]}"'
            service.ask(f'mutation {{ createWatch(input: {{name: "all", {endpoint}}}) {{ watch {{ id }} }} }}')
            ingest(service, "us2")
            key = 'idempotencyKey: "1"'
            service.ask(
                f'mutation {{ createTriggerEvent(input: {{type: "a", payload: {{}}, {key}}}) {{ duplicate }} }}'
            )
            query = f"{{ deliveries({endpoint}) {{ nodes {{ state attempts {{ number }} }} }} }}"
            while [each["state"] for each in service.ask(query)["deliveries"]["nodes"]] != ["DELIVERED"] * 2:
                pass
            states = "states: [DELIVERED]"
            service.ask(f"mutation {{ replayDeliveries(input: {{{endpoint}, {states}}}) {{ replayed }} }}")
            (first, _) = service.ask("{ triggerEvents { nodes { id } } }")["triggerEvents"]["nodes"]
            ids = f'eventIds: ["{first["id"]}"]'
            service.ask(f"mutation {{ acknowledgeTriggerEvents(input: {{{ids}}}) {{ acknowledged }} }}")
            service.ask(f"mutation {{ deleteEndpoint(input: {{{endpoint}}}) {{ deletedId }} }}")

    await asyncio.to_thread(ask)
    async with (
        open_services(settings, DOMAINS) as services,
        aclosing(services.of(Resources).database.changes()) as rings,
    ):
        await anext(rings)

    assert needed(fault_proxy) == allowed(Job.SERVE)


async def test_rebuilding_needs_what_its_policy_allows(settings: Settings, fault_proxy: FaultProxy) -> None:
    async with open_services(settings, DOMAINS) as services:
        database, event = services.of(Resources).database, an_event("us1", NOON, 4.5)
        other_process = unlogged_ingest(database, now_ms)
        for mag in (4.5, 4.6):
            await other_process.events([{**as_given(event), "mag": mag, "updated": round(10 * mag)}])
        await database.put(Put(EVENT, event.item))  # as another program, in place of the second version
        fault_proxy.requests.clear()

        assert await services.of(Ingest).intake.adopt_all() == 1
        assert (await rebuild_summaries(database)).corrected == 2

    assert needed(fault_proxy) == allowed(Job.REBUILD)


WITHOUT_A_CALL = {
    "dynamodb:TagResource",  # of `CreateTable` with tags
    "kms:TagResource",  # of `CreateKey` with tags
    "iam:CreateServiceLinkedRole",  # of the first `RegisterScalableTarget` in an account
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """IAM's actions for the calls of botocore, by the names of their services."""
    made, send = set[str](), vars(AioBaseClient)["_make_api_call"]

    async def record(self: Any, operation: str, parameters: Any) -> Any:
        made.add(f"{self.meta.service_model.service_name}:{operation}")
        return await send(self, operation, parameters)

    monkeypatch.setattr(AioBaseClient, "_make_api_call", record)
    return made


async def test_creating_checking_and_adopting_tables_need_what_their_policies_allow(
    dynamodb_endpoint: str, calls: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On moto, which offers everything that the tables' configuration needs."""
    prefix = f"policy-{uuid4().hex}-"
    later = Index("LaterIndex", LOGS.primary.partition_key, LOGS.primary.sort_key)
    log = replace(SERVICE_LOG, table=replace(LOGS, indexes=(*LOGS.indexes, later)))

    def taken() -> set[str]:
        actions = set(calls)
        calls.clear()
        return actions

    with moto() as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        without_expiry = replace(SERVICE_LOG, table=replace(LOGS, ttl=None))
        await create_tables([without_expiry], prefix=prefix, choices=TableChoices(stream=False))
        created = taken()
        assert (await administer([log], Job.ADOPT, prefix=prefix))[0]
        adopted = taken()
        assert (await administer([log], Job.CHECK, prefix=prefix))[0]
        checked = taken()
        await create_tables([log], prefix=f"{prefix}2-")

    assert created | taken() | WITHOUT_A_CALL == allowed_everywhere(Job.CREATE)
    assert adopted == allowed_everywhere(Job.ADOPT)
    assert checked == allowed_everywhere(Job.CHECK)


def allowed_everywhere(job: Job) -> set[str]:
    """The actions that a policy allows a process itself, and not DynamoDB in its name."""
    statements = json.loads(policy(tables_of(DOMAINS), job))["Statement"]
    return {action for statement in statements if "Condition" not in statement for action in statement["Action"]}


@pytest.mark.parametrize(
    ("encryption", "key"),
    [
        ("documented", "arn:aws:kms:*:*:key/*"),
        ("aws-managed", None),
        (KEY, KEY),
        ("alias/ours", "arn:aws:kms:*:*:key/*"),
    ],
)
def test_a_process_may_use_a_customers_key_through_dynamodb_alone(encryption: str, key: str | None) -> None:
    choices = TableChoices(encryption=encryption)
    for job, action in ((Job.SERVE, "kms:Decrypt"), (Job.REBUILD, "kms:Decrypt"), (Job.CREATE, "kms:CreateGrant")):
        statements = json.loads(policy([LOGS], job, choices=choices))["Statement"]

        used = [each for each in statements if each["Sid"] == f"{job.title()}Key"]
        assert [each["Resource"] for each in used] == ([[key]] if key else [])
        for each in used:
            assert action in each["Action"]
            assert each["Condition"] == {"StringLike": {"kms:ViaService": "dynamodb.*.amazonaws.com"}}


def test_a_policy_names_all_tables_each_once_and_for_who_serves_their_streams() -> None:
    designs = [EARTHQUAKE_EVENTS, replace(READINGS, name="later-{env}"), EARTHQUAKE_EVENTS]
    for job in Job:
        written = json.loads(policy(designs, job, choices=TableChoices(prefix="my-", environment="test")))["Statement"]
        on_table, *on_stream = [each for each in written if each["Action"][0].startswith("dynamodb:")]

        events, later = (f"arn:aws:dynamodb:*:*:table/my-{name}" for name in ("earthquake-events", "later-test"))
        assert on_table["Resource"] == [events, f"{events}/index/TimeOrderedIndex", later]
        streams = [[f"{events}/stream/*", f"{later}/stream/*"]] if job is Job.SERVE else []
        assert [statement["Resource"] for statement in on_stream] == streams
        assert not any("*" in action for statement in (on_table, *on_stream) for action in statement["Action"])
        if job is Job.SERVE:
            assert [action for action in on_table["Action"] if "Stream" in action or "Record" in action] == []


def test_the_command_prints_the_policy_of_the_store() -> None:
    printed = quakegraph("tables", "policy", "--store", "dynamodb://my-", "--for", "rebuild")

    assert (printed.exit_code, printed.stdout) == (
        0,
        policy(tables_of(DOMAINS), Job.REBUILD, choices=TableChoices(prefix="my-")),
    )
