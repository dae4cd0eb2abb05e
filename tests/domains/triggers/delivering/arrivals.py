"""What goes wrong on the way of deliveries, and what is true of them at the end whatever did."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from graph.domains.triggers.model import Delivery, Endpoint, TriggerEvent
from graph.domains.triggers.statuses import EventProgress, TriggerEventStatus
from graph.store.entity import Item
from tests.domains.triggers.delivering.workshop import Workshop
from tests.domains.triggers.in_store import sequences
from tests.domains.triggers.sending.receivers import OK, Reply, saying, status, then_close

FAILURES = (
    *(status(500), status(404), status(302, "location: http://169.254.169.254/"), then_close(saying(b""))),
    *(then_close(saying(b"HTTP/1.1 200 OK\r\ncontent-le")), saying(b"?\r\n\r\n")),
)


@dataclass
class Trouble:
    """A receiver that fails with a share of the deliveries, a few times each before it takes them."""

    chosen: random.Random
    share: float
    most: int  # failures of a delivery
    failures: Sequence[Reply]
    arrived: Counter[str] = field(default_factory=Counter)

    def __call__(self, body: Item) -> Reply:
        what = repr(body["data"])
        self.arrived[what] += 1
        fails = self.arrived[what] <= self.most and self.chosen.random() < self.share
        return self.chosen.choice(self.failures) if fails else OK


async def assert_all_arrived(shop: Workshop, *endpoints: Endpoint) -> None:
    """Each event arrived at its user's endpoints at least once, always the same, and every state is right."""
    for user in {endpoint.user_id for endpoint in endpoints}:
        events = {event.event_id: event for event in await shop.events(user)}
        retries = Counter[str]()
        for endpoint in endpoints:
            if endpoint.user_id == user:
                deliveries = await shop.of_endpoint(endpoint)
                assert sequences(deliveries) == list(range(1, len(events) + 1))
                assert await shop.states(endpoint) == ["delivered"] * len(events)
                assert await shop.is_at_rest(endpoint)
                attempts = Counter(attempt.item["sequence"] for attempt in await shop.attempts(endpoint))
                assert attempts == {each.sequence: each.attempt_count for each in deliveries}
                retries.update({each.event_id: each.attempt_count - 1 for each in deliveries})
                _check_requests(shop, endpoint, deliveries, events)
        assert {event_id: event.progress for event_id, event in events.items()} == {
            event_id: EventProgress(TriggerEventStatus.DELIVERED, 0, 0, number) for event_id, number in retries.items()
        }


def _check_requests(
    shop: Workshop, endpoint: Endpoint, deliveries: Sequence[Delivery], events: dict[str, TriggerEvent]
) -> None:
    url = urlsplit(endpoint.url)
    arrived = [
        (body, request)
        for body, request in zip(shop.hook.bodies, shop.hook.requests, strict=True)
        if request.line == f"POST {url.path}?{url.query} HTTP/1.1"
    ]
    assert {(body["sequence"], request.headers["webhook-id"]) for body, request in arrived} == {
        (each.sequence, each.event_id) for each in deliveries
    }
    assert all(body["data"] == events[request.headers["webhook-id"]].payload for body, request in arrived)
    assert len({request.body for _, request in arrived}) == len(deliveries)
    if endpoint.ordered:
        first = list(dict.fromkeys(body["sequence"] for body, _ in arrived))
        assert first == sorted(first)
