"""`/metrics`, as Prometheus reads it: of this process, or of all that serve on the same socket.

It holds nothing secret, but nothing for the public either. So it answers who asks from an
address of a private network and not through a proxy; for all others there is no such path.
"""

import asyncio
import os
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from prometheus_client import CollectorRegistry, PlatformCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from graph.observability.metrics import Metrics

SAMPLE_EVERY_S = 5.0  # as old may be what a process tells of itself to one that is scraped
MARKS_OF_A_PROXY = ("Forwarded", "X-Forwarded-For")


class Scrape:
    """The route."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def answer(self, request: Request) -> Response:
        """The metrics in the format that is asked for."""
        if not _from_inside(request):
            raise HTTPException(404)
        encode, media_type = choose_encoder(request.headers.get("Accept", ""))
        self._metrics.sample()

        def text() -> bytes:
            folder = self._metrics.shared_folder
            return encode(_shared(folder) if folder else self._metrics.registry)

        return Response(await run_in_threadpool(text), media_type=media_type)


async def sample_forever(metrics: Metrics) -> None:
    """Where several processes serve, tell the others about this one again and again."""
    while metrics.shared_folder:
        metrics.sample()
        await asyncio.sleep(SAMPLE_EVERY_S)


def _from_inside(request: Request) -> bool:
    if any(name in request.headers for name in MARKS_OF_A_PROXY):
        return False
    if request.client is None:  # over a socket of this machine
        return True
    try:
        return not ip_address(request.client.host).is_global
    except ValueError:
        return False


def _shared(folder: str) -> CollectorRegistry:
    """What all processes have written. What one of them counted stays when it dies, what it is at goes with it."""
    for path in Path(folder).glob("gauge_live*.db"):
        process = int(path.stem.rpartition("_")[2])
        if not _runs(process):
            with suppress(FileNotFoundError):  # Another process does the same.
                mark_process_dead(process, folder)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)
    PlatformCollector(registry)
    return registry


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
