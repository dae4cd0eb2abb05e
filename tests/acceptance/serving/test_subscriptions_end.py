"""SIGTERM while clients subscribe: each subscription is completed, then the connection ends, then the process."""

import asyncio
import re
import signal
from contextlib import AsyncExitStack
from pathlib import Path

from tests import forking
from tests.processes import Server, serving
from tests.subscribers import (
    EVENTS,
    Socket,
    event_stream,
    eventually,
    has_subscriptions,
    ingested_elsewhere,
    initialised,
    socket_to,
)

HEART_BEAT = b":"
INGEST = """mutation { ingestEvents(input: {events: [
    {eventId: "us1", eventTsMs: 1700000000000, mag: 4.5, lat: 35, lon: -117}]}) { upserted } }"""
EACH = 6  # subscribers of a kind, so that all workers have some


def root(server: Server) -> str:
    return server.url.removesuffix("/graphql")


def without_heart_beats(stream: bytes) -> bytes:
    return re.sub(rb"(?m)^:\n\n", b"", stream)


async def process_ends(server: Server) -> int:
    """The exit status."""
    await eventually(lambda: server.process.poll() is not None)
    status = server.process.poll()
    assert status is not None
    return status


async def events(client: Socket, number: int) -> list[str]:
    """The ids of the next events. A client that waits for them answers pings too, however long they take."""
    return [await client.event("1") for _ in range(number)]


async def test_subscribers_of_all_workers_receive_events_of_another_process_and_are_completed_before_the_end(
    tmp_path: Path,
) -> None:
    """None of them is logged. Connections without a subscription end too."""
    with serving("--workers", "2", folder=tmp_path) as server:
        await asyncio.to_thread(server.wait_for_output, "Application startup complete", times=2)
        async with AsyncExitStack() as stack:
            sockets = [await stack.enter_async_context(initialised(root(server))) for _ in range(2 * EACH)]
            streams = [await stack.enter_async_context(event_stream(root(server))) for _ in range(EACH)]
            for one in sockets:
                await one.ask("1", EVENTS)
            await has_subscriptions(server, 3 * EACH)
            async with asyncio.TaskGroup() as hearing:
                heard = [hearing.create_task(events(one, 2)) for one in sockets]
                await ingested_elsewhere(tmp_path, "us1", "us2")
            assert [task.result() for task in heard] == [["us1", "us2"]] * len(sockets)
            silent = await stack.enter_async_context(socket_to(root(server), path="/graphql?token=swordfish"))
            idle = await stack.enter_async_context(initialised(root(server)))
            await idle.quiet()

            server.process.send_signal(signal.SIGTERM)

            for one in sockets:
                assert await one.next_message() == {"type": "complete", "id": "1"}
                assert (await one.end())[0] == 1012  # service restart, after which a client comes again
            for client in (silent, idle):
                assert (await client.end())[0] == 1012
            for stream in streams:
                *told, end = without_heart_beats(await stream.end()).removesuffix(b"\n\n").split(b"\n\n")
                assert [block.startswith(b"event: next") for block in told] == [True, True]
                assert end == b"event: complete\ndata:"
            assert await process_ends(server) == 0
        server.read_to_end()

    assert [line for line in server.output[1:] if line.split()[1] in ("warning", "error")] == []
    assert [line for line in server.output if "swordfish" in line or "connection" in line.lower()] == []


async def test_subscriptions_go_on_while_the_service_drains(tmp_path: Path) -> None:
    with forking.serving(folder=tmp_path, settings={"GRAPH_DRAIN": "60"}) as server:
        async with initialised(root(server)) as client, event_stream(root(server)) as stream:
            await client.ask("1", EVENTS)
            await has_subscriptions(server, 2)
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(server.wait_for_output, "Draining")
            async with asyncio.TaskGroup() as hearing:
                heard = hearing.create_task(events(client, 1))
                assert (await asyncio.to_thread(server.ask, INGEST)).json() == {
                    "data": {"ingestEvents": {"upserted": 1}}
                }
            assert heard.result() == ["us1"]
            while (block := await stream.block()) == HEART_BEAT:
                pass
            assert b'"eventId":"us1"' in block

            server.process.send_signal(signal.SIGINT)

            assert await client.next_message() == {"type": "complete", "id": "1"}
            assert (await client.end())[0] == 1012
            assert without_heart_beats(await stream.end()) == b"event: complete\ndata:\n\n"
            assert await process_ends(server) == 0
