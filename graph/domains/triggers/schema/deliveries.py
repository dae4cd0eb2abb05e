"""Deliveries: their type, their attempts, and their replay."""

from datetime import datetime
from typing import Annotated

import strawberry
from strawberry import auto

from graph.api import relay
from graph.api.connection_field import NUMBERED, connection_field
from graph.api.context import Info, load_own
from graph.api.fields import field, optional, shows
from graph.api.record_type import record_type
from graph.api.scalars import millis_ceil, millis_floor
from graph.api.selected import selected_attributes
from graph.core.paging import Page
from graph.domains.triggers import model
from graph.domains.triggers.deliveries import MOST_REPLAYED, OF_ENDPOINT, Deliveries, DeliverySelection
from graph.domains.triggers.endpoints import Endpoints
from graph.domains.triggers.model import DeliveryState
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.schema.events import TriggerEvent
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from graph.domains.triggers.sending.answers import Failure
from graph.store.ordering import PageRequest

USUAL_ATTEMPTS = 10  # for the price of a list of them

strawberry.enum(Failure, name="DeliveryFailure")


@record_type(model.Attempt, "One HTTP request of a delivery.")
class DeliveryAttempt:
    number: auto
    time: auto
    status: auto
    failure: Failure | None
    latency_ms: auto
    answer: auto


@record_type(
    model.Delivery,
    "An event on its way to one endpoint.",
    load=load_own(Deliveries, Deliveries.by_key),
    scope=TRIGGERS_READ,
    pages="deliveries",
    counted=True,
)
class Delivery(relay.Node):
    endpoint_id: strawberry.ID
    sequence: auto
    webhook_id: auto
    event_type: auto = strawberry.field(name="type")
    state: auto
    attempt_count: auto
    next_attempt: auto
    created_at: auto
    ended_at: auto
    expires_at: auto

    @field("Its event; null once it is deleted.", cost=5, reads=["user_id", "event_timestamp", "event_id"])
    @staticmethod
    async def event(delivery: strawberry.Parent[model.Delivery], info: Info) -> model.TriggerEvent | None:
        attributes = selected_attributes(info, model.TriggerEvent)
        return await info.context.loader(TriggerEvent.found_by.load, attributes).load(delivery.event_key)

    @field("Its attempts, the last one first; the latest 100.", cost=5, size=USUAL_ATTEMPTS, reads=["user_id"])
    @staticmethod
    async def attempts(delivery: strawberry.Parent[model.Delivery], info: Info) -> list[model.Attempt]:
        return await info.context.service(Deliveries).attempts(delivery)


@strawberry.input(description="The selected deliveries: those that fulfil all given conditions.")
class DeliveryFilter:
    states: list[DeliveryState] | None = optional("What has become of them.")
    start_time: datetime | None = optional("Earliest creation, inclusive.")
    end_time: datetime | None = optional("Latest creation, inclusive. A date includes that whole day.")


def _selection(states: list[DeliveryState] | None, start: datetime | None, end: datetime | None) -> DeliverySelection:
    return DeliverySelection(
        None if states is None else tuple(states),
        millis_ceil(start) if start else None,
        millis_floor(end) if end else None,
    )


class DeliveryQueries:
    @connection_field(
        "The deliveries of one of the caller's endpoints, in order of their sequence numbers, which are "
        "the cursors. A receiver that misses numbers asks for the deliveries after the last one it has.",
        OF_ENDPOINT,
        scope=TRIGGERS_READ,
        arguments=NUMBERED,
    )
    async def deliveries(
        self,
        info: Info,
        page: PageRequest,
        endpoint_id: Annotated[strawberry.ID, "The endpoint's own id."],
        filter: Annotated[DeliveryFilter | None, "Which deliveries; by default all."] = None,
    ) -> Page[model.Delivery]:
        user_id = info.context.user
        await info.context.service(Endpoints).one(user_id, endpoint_id)
        chosen = _selection(filter.states, filter.start_time, filter.end_time) if filter else DeliverySelection()
        return await info.context.service(Deliveries).page(user_id, endpoint_id, chosen, page)


@strawberry.input(description="Deliveries to begin again.")
class ReplayDeliveriesInput:
    endpoint_id: strawberry.ID = shows("The endpoint's own id.")
    since: datetime | None = optional("Earliest creation, inclusive.")
    until: datetime | None = optional("Latest creation, inclusive. A date includes that whole day.")
    states: list[DeliveryState] | None = optional("What has become of them; by default those that were given up.")


@strawberry.type(description="What was begun again.")
class ReplayPayload:
    replayed: int = strawberry.field(description=f"Number of deliveries, at most {MOST_REPLAYED:,} in one call.")
    has_more: bool = strawberry.field(description="Whether more are left: replay again for the rest.")


class DeliveryMutations:
    @field(
        "Deliver again what has ended, the newest if it is too much for one call. "
        "Sequence numbers and webhook ids stay the same.",
        scope=TRIGGERS_WRITE,
        cost=100,
    )
    async def replay_deliveries(
        self,
        info: Info,
        input: Annotated[ReplayDeliveriesInput, "The deliveries."],
    ) -> ReplayPayload:
        user_id = info.context.user
        await info.context.service(Endpoints).one(user_id, input.endpoint_id)
        states = [DeliveryState.FAILED] if input.states is None else input.states
        chosen = _selection(states, input.since, input.until)
        replayed, has_more = await info.context.service(Deliveries).replay(user_id, input.endpoint_id, chosen)
        info.context.service(Outbox).tell([input.endpoint_id])
        return ReplayPayload(replayed=replayed, has_more=has_more)
