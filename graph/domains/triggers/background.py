"""The triggers' background work in a serving process, and its state for the readiness."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from graph.core.errors import DatabaseUnavailable
from graph.domain import Resources, Services
from graph.domains.triggers.delivering.deliverer import Deliverer
from graph.domains.triggers.entities import JOB
from graph.domains.triggers.metrics import DeliveryStatusReader
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.settings import TriggerSettings
from graph.domains.triggers.watching.watcher import Watcher
from graph.runtime.holding import hold_forever
from graph.runtime.lease import Lease, LeaseItem

DELIVERING, WATCHING = "delivering", "watching"


def lease(services: Services, job: str) -> Lease:
    """The lease of a job that goes on without end."""
    resources = services.of(Resources)
    lasts_ms = round(1000 * resources.settings.part(TriggerSettings).deliverer_lease)
    return Lease(resources.database, LeaseItem(JOB.key_for(job)), resources.clock, lasts_ms=lasts_ms)


async def deliver(services: Services) -> None:
    """Deliver webhooks, whenever no other process does."""
    deliverer = services.of(Deliverer)
    listeners = services.of(Outbox).listeners

    async def work() -> None:
        listeners.append(deliverer.wake)
        try:
            await deliverer.run()
        finally:
            listeners.remove(deliverer.wake)

    await hold_forever(lease(services, DELIVERING), work)


async def watch(services: Services) -> None:
    """Follow the catalogue for all watches, whenever no other process does."""
    await hold_forever(lease(services, WATCHING), services.of(Watcher).run)


async def deliver_if_wanted(services: Services) -> None:
    """Deliver webhooks, unless the setting leaves it to a process of its own."""
    if services.of(Resources).settings.part(TriggerSettings).deliver:
        await deliver(services)


async def watch_if_wanted(services: Services) -> None:
    """Follow the catalogue, unless the setting leaves it to a process of its own."""
    if services.of(Resources).settings.part(TriggerSettings).deliver:
        await watch(services)


async def deliver_and_watch(services: Services) -> None:
    """Do both, until this is cancelled."""
    async with asyncio.TaskGroup() as group:
        group.create_task(deliver(services))
        group.create_task(watch(services))


async def read_status(services: Services) -> None:
    """Read what waits for endpoints, again and again."""
    await services.of(DeliveryStatusReader).read_forever()


async def readiness(services: Services) -> Mapping[str, Any]:
    """What waits for endpoints, for operators."""
    with suppress(DatabaseUnavailable):  # it has just answered
        status = await services.of(DeliveryStatusReader).read()
        return {
            "deliveries": {
                "waiting": status.waiting,
                "due": status.due,
                "oldest_due_seconds": round(status.oldest_due_s, 3),
            }
        }
    return {}
