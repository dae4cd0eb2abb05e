"""The triggers' background work in a serving process, and its state for the readiness.

One process of many delivers and follows feeds. It does both, so that what it finds is delivered at once.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from graph.core.errors import DatabaseUnavailable
from graph.domain import Resources, Services
from graph.domains.triggers.delivering.deliverer import Deliverer
from graph.domains.triggers.delivering.metrics import DeliveryStatusReader
from graph.domains.triggers.entities import JOB
from graph.domains.triggers.following import Followers
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.settings import TriggerSettings
from graph.observability.logs import get_logger
from graph.runtime.holding import hold_forever
from graph.runtime.lease import Lease, LeaseItem

logger = get_logger(__name__)


async def deliver(services: Services) -> None:
    """Deliver webhooks and follow feeds for watches, whenever no other process does."""
    resources = services.of(Resources)
    lasts_ms = round(1000 * resources.settings.part(TriggerSettings).deliverer_lease)
    lease = Lease(resources.database, LeaseItem(JOB.key_for("deliver")), resources.clock, lasts_ms=lasts_ms)
    deliverer, followers, listeners = services.of(Deliverer), services.of(Followers), services.of(Outbox).listeners

    async def work() -> None:
        logger.info("This process delivers webhooks from now on")
        listeners.append(deliverer.wake)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(deliverer.run())
                for follower in followers:
                    group.create_task(follower.run())
        finally:
            listeners.remove(deliverer.wake)
            logger.info("This process delivers no webhooks any more")

    await hold_forever(lease, work)


async def deliver_if_wanted(services: Services) -> None:
    """Deliver, unless the setting leaves it to a process of its own."""
    if services.of(Resources).settings.part(TriggerSettings).deliver:
        await deliver(services)


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
