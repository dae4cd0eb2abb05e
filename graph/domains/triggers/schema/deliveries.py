"""Deliveries: their type, their attempts, and their replay."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import strawberry
from strawberry import auto

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_own
from graph.api.fields import field, optional
from graph.api.mutations import MOST_CHANGED, changed, mutation
from graph.api.record_type import record_type
from graph.api.scalars import millis_ceil, millis_floor
from graph.api.selected import selected_attributes
from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.triggers import model
from graph.domains.triggers.deliveries import MOST_REPLAYED, Deliveries, DeliverySelection
from graph.domains.triggers.endpoints import Endpoints
from graph.domains.triggers.entities import OF_ENDPOINT
from graph.domains.triggers.model import DeliveryState
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.schema.endpoints import EndpointInput, TriggerEndpoint
from graph.domains.triggers.schema.events import TriggerEvent
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from graph.domains.triggers.sending.answers import Failure
from graph.store.ordering import PageRequest

USUAL_ATTEMPTS = 10  # for the price of a list of them

strawberry.enum(Failure, name="DeliveryFailure")


@record_type(model.Attempt)
class DeliveryAttempt:
    failure: Failure | None


@record_type(
    model.Delivery,
    load=load_own(Deliveries, Deliveries.by_key),
    scope=TRIGGERS_READ,
    pages="deliveries",
)
class Delivery(relay.Node):
    event_type: auto = strawberry.field(name="type")

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
        "The deliveries of one of the caller's endpoints, in order of their sequence numbers.",
        OF_ENDPOINT,
        scope=TRIGGERS_READ,
    )
    async def deliveries(
        self,
        info: Info,
        page: PageRequest,
        endpoint_id: Annotated[strawberry.ID, "The endpoint's global id, or its own id."],
        filter: Annotated[DeliveryFilter | None, "Which deliveries; by default all."] = None,
        after_sequence: Annotated[
            int | None, "Only the deliveries after this one. A receiver that misses some names the last one it has."
        ] = None,
    ) -> Page[model.Delivery]:
        user_id, own_id = info.context.user, relay.key_of(TriggerEndpoint, endpoint_id, "endpointId")
        await info.context.service(Endpoints).one(user_id, own_id)
        chosen = _selection(filter.states, filter.start_time, filter.end_time) if filter else DeliverySelection()
        return await info.context.service(Deliveries).page(user_id, own_id, chosen, _after(page, after_sequence))


def _after(page: PageRequest, sequence: int | None) -> PageRequest:
    """The page that begins after a cursor and after a sequence number, as far as they are given."""
    if sequence is None:
        return page
    if sequence < 0:
        raise BadUserInput("`afterSequence` must not be below 0.")
    after = max(sequence, page.paging.after["sequence"] if page.paging.after else 0)
    return replace(page, paging=replace(page.paging, after={"sequence": after}))


@strawberry.input(description="The deliveries to begin again.")
class ReplayDeliveriesInput(EndpointInput):
    start_time: datetime | None = optional("Earliest creation, inclusive.")
    end_time: datetime | None = optional("Latest creation, inclusive. A date includes that whole day.")
    states: list[DeliveryState] | None = optional("What has become of them; by default those that were given up.")


@strawberry.type(description="What was begun again.")
class ReplayDeliveriesPayload:
    replayed: int = strawberry.field(description=f"Number of deliveries, at most {MOST_REPLAYED:,} in one call.")
    has_more: bool = strawberry.field(description="Whether more are left: replay again for the rest.")
    keys: strawberry.Private[list[str]]

    @field(f"These deliveries, the oldest first; at most {MOST_CHANGED}.", cost=10, size=MOST_CHANGED)
    @staticmethod
    async def deliveries(payload: strawberry.Parent[Any], info: Info) -> list[model.Delivery]:
        return await changed(info, Delivery, payload.keys)


class DeliveryMutations:
    @mutation(
        "Deliver again what has ended, the newest if it is too much for one call. "
        "Sequence numbers and webhook ids stay the same.",
        scope=TRIGGERS_WRITE,
        cost=100,
    )
    async def replay_deliveries(self, info: Info, input: ReplayDeliveriesInput) -> ReplayDeliveriesPayload:
        user_id, endpoint_id = info.context.user, input.own_id
        await info.context.service(Endpoints).one(user_id, endpoint_id)
        states = [DeliveryState.FAILED] if input.states is None else input.states
        chosen = _selection(states, input.start_time, input.end_time)
        keys, has_more = await info.context.service(Deliveries).replay(user_id, endpoint_id, chosen)
        info.context.service(Outbox).tell([endpoint_id])
        return ReplayDeliveriesPayload(replayed=len(keys), has_more=has_more, keys=keys)
