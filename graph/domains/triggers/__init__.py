"""Triggers: events of users, their inbox, and signed webhooks."""

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from graph.domain import Domain, Resources, Task
from graph.domains.triggers.deliveries import Deliveries
from graph.domains.triggers.delivering import background
from graph.domains.triggers.delivering.commands import deliver
from graph.domains.triggers.delivering.deliverer import Deliverer, slots_beside
from graph.domains.triggers.delivering.disabling import disable
from graph.domains.triggers.delivering.metrics import DeliveryStatusReader, counting_attempts
from graph.domains.triggers.delivering.results import Results
from graph.domains.triggers.delivering.retry_policy import DeliveryRetryPolicy
from graph.domains.triggers.delivering.worker import Delivering
from graph.domains.triggers.endpoints import Endpoints
from graph.domains.triggers.entities import ADOPTION_STATE, ENTITIES, TRIGGER_EVENT
from graph.domains.triggers.entries import FOREIGN
from graph.domains.triggers.event_types import EVENT_TYPES, EventTypes
from graph.domains.triggers.following import Followers
from graph.domains.triggers.inbox import Inbox
from graph.domains.triggers.live import TriggerEventBroadcast
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.quotas import WatchQuota
from graph.domains.triggers.schema.deliveries import Delivery, DeliveryMutations, DeliveryQueries
from graph.domains.triggers.schema.endpoints import EndpointMutations, EndpointQueries, TriggerEndpoint
from graph.domains.triggers.schema.event_types import EventTypeQueries
from graph.domains.triggers.schema.events import (
    TriggerEvent,
    TriggerEventMutations,
    TriggerEventQueries,
    TriggerEventSubscriptions,
)
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from graph.domains.triggers.sending.destinations import Destinations
from graph.domains.triggers.sending.resolver import Resolver
from graph.domains.triggers.sending.sender import MessageSender
from graph.domains.triggers.settings import TriggerSettings
from graph.feed.adoption import Adoption, adopt_by


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the inbox, the outbox, endpoints and deliveries, and what delivers and follows feeds."""
    settings = resources.settings.part(TriggerSettings)
    database, clock = resources.database, resources.clock
    resolver = Resolver(Destinations(settings.webhook_networks, http=settings.webhook_http))
    resources.closing.push_async_callback(resolver.close)
    sender = await resources.closing.enter_async_context(
        MessageSender(resolver, timeout_s=settings.webhook_timeout, clock=clock)
    )
    inbox = Inbox(database)
    endpoints = Endpoints(database, resolver, clock, most=settings.max_endpoints)
    outbox = Outbox(database, endpoints, clock, quota=WatchQuota(clock, most=settings.max_watch_events))
    count = counting_attempts(resources.metrics)
    status = DeliveryStatusReader(database, clock, resources.metrics)
    shared = Delivering(
        database=database,
        sender=sender,
        results=Results(database),
        disable=partial(disable, endpoints, outbox),
        policy=DeliveryRetryPolicy(settings.webhook_retries, random.uniform),
        clock=clock,
        slots=slots_beside(resources.settings.max_connections),
        count=count,
    )
    broadcast = await resources.closing.enter_async_context(TriggerEventBroadcast(database, outbox.sequence))
    resources.endings.add(broadcast.end)
    deliveries = Deliveries(database, inbox, clock)
    return (
        *(inbox, outbox, endpoints, deliveries),
        *(broadcast, status, Deliverer(shared), Followers(), EventTypes(EVENT_TYPES)),
    )


DOMAIN = Domain(
    name="triggers",
    entities=ENTITIES,
    adoptions=(Adoption(TRIGGER_EVENT, ADOPTION_STATE, FOREIGN, adopt_by(Outbox, Outbox.adopt)),),
    scopes=(TRIGGERS_READ, TRIGGERS_WRITE),
    settings=TriggerSettings,
    open=open_services,
    queries=(TriggerEventQueries, EndpointQueries, DeliveryQueries, EventTypeQueries),
    mutations=(TriggerEventMutations, EndpointMutations, DeliveryMutations),
    subscriptions=(TriggerEventSubscriptions,),
    nodes=(TriggerEvent, TriggerEndpoint, Delivery),
    tasks=(
        Task("delivering webhooks", background.deliver_if_wanted),
        Task("reading what waits for endpoints", lambda services: services.of(DeliveryStatusReader).read_forever()),
    ),
    commands=(deliver,),
    examples=Path(__file__).parent / "examples",
    readiness=background.readiness,
)
