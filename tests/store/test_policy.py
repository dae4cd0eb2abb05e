"""The IAM policies allow the calls that are made, and no others: every call is recorded on its way to DynamoDB."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from graph.core.clock import now_ms
from graph.domain import Domain, Resources, tables_of
from graph.domains import DOMAINS
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.summaries import rebuild_summaries
from graph.opening import open_services
from graph.store.contract import Put
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
from tests.store.engines import create_tables
from tests.store.fault_proxy import FaultProxy
from tests.store.samples import READINGS

ADOPTING = Domain(name="foreign_notes", entities=foreign_notes.ENTITIES, adoptions=(foreign_notes.ADOPTION,))
"""A domain that adopts items of other programs."""

IN_A_TRANSACTION = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}


@pytest.fixture(scope="module")
def dynamodb_endpoint(administered_dynamodb: str) -> str:
    return administered_dynamodb


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
    prefix = f"policy-{uuid4().hex}-"
    await create_tables([*ENTITIES, *ADOPTING.entities], prefix=prefix)
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
            ids = f'ids: ["{first["id"]}"]'
            service.ask(f"mutation {{ acknowledgeTriggerEvents(input: {{{ids}}}) {{ acknowledged }} }}")
            service.ask(f"mutation {{ deleteEndpoint(input: {{{endpoint}}}) {{ endpointId }} }}")

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


async def test_creating_a_table_needs_what_its_policy_allows(
    fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB Local has no point-in-time recovery, which is asked about and then switched on elsewhere."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    await create_tables(ENTITIES, prefix=f"policy-{uuid4().hex}-")

    assert needed(fault_proxy) | {"UpdateContinuousBackups"} == allowed(Job.CREATE)
    assert needed(fault_proxy) < allowed(Job.CREATE)


def test_a_policy_names_all_tables_each_once_and_for_who_serves_their_streams() -> None:
    designs = [EARTHQUAKE_EVENTS, replace(READINGS, name="later-{env}"), EARTHQUAKE_EVENTS]
    for job in Job:
        on_table, *on_stream = json.loads(policy(designs, job, prefix="my-", environment="test"))["Statement"]

        events, later = (f"arn:aws:dynamodb:*:*:table/my-{name}" for name in ("earthquake-events", "later-test"))
        assert on_table["Resource"] == [events, f"{events}/index/TimeOrderedIndex", later]
        streams = [[f"{events}/stream/*", f"{later}/stream/*"]] if job is Job.SERVE else []
        assert [statement["Resource"] for statement in on_stream] == streams
        assert not any("*" in action for statement in (on_table, *on_stream) for action in statement["Action"])
        if job is Job.SERVE:
            assert [action for action in on_table["Action"] if "Stream" in action or "Record" in action] == []


def test_the_command_prints_the_policy_of_the_store() -> None:
    printed = quakegraph("tables", "policy", "--store", "dynamodb://my-", "--for", "rebuild")

    assert (printed.exit_code, printed.stdout) == (0, policy(tables_of(DOMAINS), Job.REBUILD, prefix="my-"))
