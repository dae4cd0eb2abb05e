"""Endpoints: their type, their queues, and all that their users do with them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import strawberry

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context, Info, load_own
from graph.api.fields import field, optional, shows
from graph.api.mutations import Deleted, deleted, mutation
from graph.api.record_type import record_type
from graph.core.days import datetime_of
from graph.core.described import described, value
from graph.core.errors import BadUserInput, NotThere
from graph.core.paging import Page
from graph.domains.triggers import model
from graph.domains.triggers.deliveries import Deliveries
from graph.domains.triggers.endpoints import OLDEST_FIRST, EndpointChanges, Endpoints, WithSecret
from graph.domains.triggers.event_types import TEST, payload_of_test
from graph.domains.triggers.model import API_VERSION, NewTriggerEvent
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.queues import Queue
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from graph.store.ordering import PageRequest

MOST_OVERLAP_SECONDS = 604_800  # a week


@record_type(Queue, "What waits for an endpoint, and how the endpoint does.")
class EndpointQueue:
    sequence: int = shows("The sequence number of the last delivery; 0 before the first.")
    waiting: int = shows("Number of deliveries that wait.")
    failures: int = shows("Number of failed attempts since the last success.")

    @field("When the first of these failures was; null without one.")
    @staticmethod
    def first_failure_at(queue: strawberry.Parent[Queue]) -> datetime | None:
        return datetime_of(queue.failing_since) if queue.failing_since else None

    @field("When sending begins again, after several failures in a row; null if nothing holds it up.")
    @staticmethod
    def reopens_at(queue: strawberry.Parent[Queue], info: Info) -> datetime | None:
        return datetime_of(queue.open_until) if queue.open_until > info.context.clock() else None


@record_type(
    model.Endpoint,
    load=load_own(Endpoints, Endpoints.by_id),
    scope=TRIGGERS_READ,
    key="endpoint_id",
    pages="endpoints",
)
class TriggerEndpoint(relay.Node):
    types: list[str] | None

    @field("What waits for it.", cost=2, reads=["endpoint_id"])
    @staticmethod
    async def queue(endpoint: strawberry.Parent[model.Endpoint], info: Info) -> Queue:
        return await info.context.loader(_queues, None).load(endpoint.endpoint_id) or Queue()


async def _queues(context: Context, endpoint_ids: Sequence[str], _: None) -> Mapping[str, Queue]:
    """The queues of endpoints; none of an endpoint that was deleted just now."""
    return await context.service(Endpoints).queues(endpoint_ids)


class EndpointQueries:
    @connection_field("The caller's endpoints, oldest first.", OLDEST_FIRST, scope=TRIGGERS_READ)
    async def trigger_endpoints(self, info: Info, page: PageRequest) -> Page[model.Endpoint]:
        return await info.context.service(Endpoints).page(info.context.user, page)


_TYPES = "Only events of these types, at most 100; all by default."


@strawberry.input(description="The endpoint to create.")
class CreateEndpointInput:
    url: str = shows("Where webhooks are sent: `https://…`, at a public address.")
    types: list[str] | None = optional(_TYPES)
    description: str | None = optional("For people, at most 512 characters.")
    ordered: bool | None = optional("Whether a delivery is sent only when the one before has ended; by default not.")


@strawberry.input(description="One of the caller's endpoints.")
class EndpointInput:
    endpoint_id: strawberry.ID = shows("The endpoint's global id, or its own id.")

    @property
    def own_id(self) -> str:
        """The endpoint's own id."""
        return relay.key_of(TriggerEndpoint, self.endpoint_id, "endpointId")


@strawberry.input(description="The endpoint to change. What is left out stays as it is.")
class UpdateEndpointInput(EndpointInput):
    url: str | None = optional("Where webhooks are sent.")
    types: list[str] | None = optional("Only events of these types, at most 100.")
    all_types: bool | None = optional("Whether it wants events of all types again.")
    description: str | None = optional("For people, at most 512 characters.")
    ordered: bool | None = optional("Whether a delivery is sent only when the one before has ended.")


@strawberry.input(description="The endpoint whose secret is replaced.")
class RotateEndpointSecretInput(EndpointInput):
    overlap_seconds: float = shows(
        f"For how many seconds the old secret signs, too, 0 … {MOST_OVERLAP_SECONDS:,}.", default=86_400.0
    )


@record_type(WithSecret, "The endpoint, with its secret.")
class EndpointSecretPayload:
    endpoint: TriggerEndpoint = shows("The endpoint.")
    secret: str = shows("The secret that signs its webhooks, `whsec_…`. It is shown only here: keep it safe.")


@value
class SentTest:
    """The test, which is sent once. Ask for the delivery again to see what came of it."""

    trigger_event: model.TriggerEvent = described("The event, of the type `endpoint.test`.")
    delivery: model.Delivery = described("Its delivery.")


class EndpointMutations:
    @mutation(
        "Create an endpoint. Its address is checked now, and again at each attempt.", scope=TRIGGERS_WRITE, cost=10
    )
    async def create_endpoint(self, info: Info, input: CreateEndpointInput) -> WithSecret:
        given = EndpointChanges(types=input.types, description=input.description, ordered=input.ordered)
        return await info.context.service(Endpoints).create(info.context.user, input.url, given)

    @mutation("Change an endpoint.", carries="endpoint", scope=TRIGGERS_WRITE, cost=10)
    async def update_endpoint(self, info: Info, input: UpdateEndpointInput) -> model.Endpoint:
        given = EndpointChanges(input.url, input.types, input.description, input.ordered, bool(input.all_types))
        return await info.context.service(Endpoints).update(info.context.user, input.own_id, given)

    @mutation("Let deliveries wait, until the endpoint is resumed.", carries="endpoint", scope=TRIGGERS_WRITE)
    async def pause_endpoint(self, info: Info, input: EndpointInput) -> model.Endpoint:
        return await info.context.service(Endpoints).pause(info.context.user, input.own_id)

    @mutation(
        "Go on with what waits, after a pause, or after the service disabled the endpoint.",
        carries="endpoint",
        scope=TRIGGERS_WRITE,
    )
    async def resume_endpoint(self, info: Info, input: EndpointInput) -> model.Endpoint:
        endpoint = await info.context.service(Endpoints).resume(info.context.user, input.own_id)
        info.context.service(Outbox).tell([endpoint.endpoint_id])
        return endpoint

    @mutation("Replace the secret. For a while, webhooks are signed with both.", scope=TRIGGERS_WRITE)
    async def rotate_endpoint_secret(self, info: Info, input: RotateEndpointSecretInput) -> WithSecret:
        if not 0 <= input.overlap_seconds <= MOST_OVERLAP_SECONDS:
            raise BadUserInput(f"`overlapSeconds` must lie between 0 and {MOST_OVERLAP_SECONDS:,}.")
        overlap_ms = round(input.overlap_seconds * 1000)
        return await info.context.service(Endpoints).rotate_secret(info.context.user, input.own_id, overlap_ms)

    @mutation("Send a test to an endpoint, whatever types it wants. It is not repeated.", scope=TRIGGERS_WRITE, cost=10)
    async def test_endpoint(self, info: Info, input: EndpointInput) -> SentTest:
        context, user_id = info.context, info.context.user
        endpoint = await context.service(Endpoints).enabled(user_id, input.own_id)
        created = await context.service(Outbox).create(
            NewTriggerEvent(
                user_id,
                TEST,
                payload_of_test(endpoint.endpoint_id),
                {"api_version": API_VERSION},
                endpoint_ids=(endpoint.endpoint_id,),
            )
        )
        deliveries = await context.service(Deliveries).by_key(user_id, created.trigger_event.delivery_keys)
        if not deliveries:  # it was deleted or disabled just now
            raise NotThere("endpointId", "endpoint")
        return SentTest(created.trigger_event, next(iter(deliveries.values())))

    @mutation("Delete an endpoint, with its watches. What waits for it is given up.", scope=TRIGGERS_WRITE, cost=10)
    async def delete_endpoint(self, info: Info, input: EndpointInput) -> Deleted:
        context, endpoint_id = info.context, input.own_id
        await context.service(Endpoints).delete(context.user, endpoint_id)
        context.service(Outbox).tell([endpoint_id])
        return deleted(TriggerEndpoint, endpoint_id)
