"""The broadcast of logs: their sequence, and their subscribers."""

from collections.abc import AsyncGenerator

from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.entities import BY_TIME
from graph.domains.service_logs.model import ServiceLog, node_key
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.feed.broadcast import Broadcast, Charge, FeedRecords, SubscriberMessage, free_of_charge
from graph.feed.sequence import ChangeSequence


class ServiceLogBroadcast(Broadcast[ServiceLog]):
    """Sends logs as any process stores them."""

    def __init__(self, sequence: ChangeSequence, logs: ServiceLogs) -> None:
        super().__init__(
            sequence,
            FeedRecords(
                load=logs.by_key,
                key_of_cursor=lambda cursor: node_key(**BY_TIME.place_of(cursor, "after")),
                awaits_numbers=True,  # as logs of other programs do
            ),
        )

    async def logs(
        self, selection: ServiceLogSelection, after: str | None = None, charge: Charge = free_of_charge
    ) -> AsyncGenerator[SubscriberMessage[ServiceLog], None]:
        """Subscribe to the selected logs, see `subscribe`."""
        admits = selection.admits
        return await self.subscribe(lambda log: admits(log.item), after, charge)
