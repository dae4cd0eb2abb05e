"""`/metrics` in Prometheus's format: of this process, or of all processes that share its socket.

The metrics hold no secrets, but are not for the public. So the path exists only for clients with an
address of a private network that do not come through a proxy; others get 404.
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

SAMPLE_EVERY_S = 5.0  # the greatest age of a process's values when another process is scraped
MARKS_OF_A_PROXY = ("Forwarded", "X-Forwarded-For")


class Scrape:
    """The route."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def answer(self, request: Request) -> Response:
        """The metrics in the format that the client accepts."""
        if not _from_inside(request):
            raise HTTPException(404)
        encode, media_type = choose_encoder(request.headers.get("Accept", ""))
        self._metrics.sample()

        def text() -> bytes:
            folder = self._metrics.shared_folder
            return encode(_shared(folder) if folder else self._metrics.registry)

        return Response(await run_in_threadpool(text), media_type=media_type)


async def sample_forever(metrics: Metrics) -> None:
    """Where several processes serve, write this one's values for the others, again and again."""
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
    """The metrics of all processes. When a process dies, its counters stay and its gauges go."""
    for path in Path(folder).glob("gauge_live*.db"):
        process = int(path.stem.rpartition("_")[2])
        if not _runs(process):
            with suppress(FileNotFoundError):  # another process does the same
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
