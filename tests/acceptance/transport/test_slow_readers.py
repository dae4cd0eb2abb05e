"""Subscribers that do not take what they are told: they learn what they missed, or are let go, and cost no memory."""

from collections.abc import Sequence
from itertools import count, islice
from pathlib import Path

from graph.domains.earthquakes.revisions.live import EventBroadcast
from graph.feed.subscriber import BACKLOG
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import settings
from tests.subscribers import LiveService, eventually, live_service
from tests.transport.subscribed import OVER_BOTH, Operation, Transport

PLACES = "".join(f" p{number}: place" for number in range(14))
LARGE = f"subscription ($after: String) {{ events(after: $after) {{ node {{ eventId{PLACES} }} cursor dropped }} }}"
LARGE_BYTES = 8 * 1024  # of a notice with it, at most
SMALL = "subscription ($after: String) { events(after: $after) { node { eventId } cursor dropped } }"
AT_ONCE = 250
MANY = 3000  # which is 22 MB, more than the buffers of two sockets and a queue
HIGH_WATER = 64 * 1024  # bytes that a transport takes before it asks for patience


def store_many(service: LiveService) -> list[str]:
    """Store more than a subscriber has room for; their ids in order."""
    ids = [f"us{number:04}" for number in range(MANY)]
    for first in range(0, MANY, AT_ONCE):
        service.store(*ids[first : first + AT_ONCE], place="x" * 512)
    return ids


async def all_are_sent_or_dropped(service: LiveService, number: int = MANY) -> None:
    live: EventBroadcast = service.process.services.of(EventBroadcast)
    await eventually(lambda: live.sent + live.dropped == number)


async def receive_until(reader: Operation, last: str) -> list[str]:
    """The ids of the events until that one, of which none was lost."""
    ids: list[str] = []
    while not ids or ids[-1] != last:
        notice = (await reader.next_data())["events"]
        assert notice["dropped"] == 0
        ids.append(notice["node"]["eventId"])
    return ids


def unsent_bytes(service: LiveService) -> Sequence[int]:
    """The bytes that wait for each client in the transports."""
    return [one.transport.get_write_buffer_size() for one in list(service.server.server_state.connections)]


@OVER_BOTH
async def test_a_slow_reader_learns_how_much_was_lost_and_can_resume(
    tmp_path: Path, usgs: UsgsServer, begun: Transport
) -> None:
    with live_service(settings(tmp_path / "live.db", usgs, request_timeout=600)) as service:
        async with begun(service, LARGE) as reader:
            await service.has_subscriptions(1)
            ids = store_many(service)
            await all_are_sent_or_dropped(service)
            assert max(unsent_bytes(service)) <= HIGH_WATER + LARGE_BYTES

            received: list[str] = []
            gaps: list[tuple[int, str]] = []  # how many were received before, and where to go on
            lost = 0
            expected = list(ids)
            while len(received) + lost < MANY:
                notice = (await reader.next_data())["events"]
                if notice["dropped"]:
                    assert notice["node"] is None
                    gaps.append((len(received), notice["cursor"]))
                    lost += notice["dropped"]
                    del expected[len(received) : len(received) + notice["dropped"]]  # those that would have come here
                else:
                    received.append(notice["node"]["eventId"])

            assert received == expected
            before, cursor = gaps[0]
            assert before >= BACKLOG
            service.store("nc1")
            assert await receive_until(reader, "nc1") == ["nc1"]
        async with begun(service, SMALL, after=cursor) as reader:
            assert await receive_until(reader, "nc1") == [*ids[before:], "nc1"]
            service.store("nc2")
            assert await receive_until(reader, "nc2") == ["nc2"]
        await service.has_subscriptions(0)


@OVER_BOTH
async def test_a_client_that_stops_reading_is_disconnected(tmp_path: Path, usgs: UsgsServer, begun: Transport) -> None:
    with live_service(settings(tmp_path / "live.db", usgs, request_timeout=0.5)) as service:
        async with begun(service, LARGE):
            await service.has_subscriptions(1)
            live: EventBroadcast = service.process.services.of(EventBroadcast)
            ids = (f"us{number}" for number in count())
            while live.subscriptions:
                service.store(*islice(ids, AT_ONCE), place="x" * 512)
            await service.has_no_socket()


@OVER_BOTH
async def test_a_slow_reader_delays_no_other_subscriber(tmp_path: Path, usgs: UsgsServer, begun: Transport) -> None:
    with live_service(settings(tmp_path / "live.db", usgs, request_timeout=600)) as service:
        async with begun(service, LARGE), begun(service, SMALL) as other:
            await service.has_subscriptions(2)
            ids = []
            for number in range(MANY // 200):
                some = [f"us{number}-{each}" for each in range(200)]  # for which there is room
                service.store(*some, place="x" * 512)
                assert await receive_until(other, some[-1]) == some
                ids += some
            live: EventBroadcast = service.process.services.of(EventBroadcast)
            await eventually(lambda: live.sent + live.dropped == 2 * len(ids))
            assert live.dropped > 0
        await service.has_subscriptions(0)
