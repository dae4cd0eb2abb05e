"""How the catalogue is kept up by a process that serves: what it does in the background, and tells of it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from graph.core.errors import DatabaseUnavailable
from graph.domain import Resources, Services
from graph.domains.earthquakes.demo import load_sample
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.poll_state import LEASE_MS
from graph.domains.earthquakes.ingest.polling import polling
from graph.domains.earthquakes.ingest.status import Upkeep, watched
from graph.domains.earthquakes.settings import EarthquakeSettings


async def prepare(services: Services) -> str | None:
    """Load the demo where it is wanted."""
    settings = services.of(Resources).settings.part(EarthquakeSettings)
    if settings.demo and (report := await load_sample(services)):
        return f"Loaded {report.upserted:,} real events of a week in 2023 as a demo."
    return None


async def poll(services: Services) -> None:
    """Poll USGS, where that is wanted."""
    resources = services.of(Resources)
    settings = resources.settings.part(EarthquakeSettings)
    if not settings.poll:
        return
    lease_ms = max(round(2000 * settings.usgs_timeout) + 60_000, LEASE_MS)  # to fetch, with redirects, and to store
    async with polling(services.of(Ingest), resources.table, settings.poll, resources.clock, lease_ms=lease_ms):
        await asyncio.Event().wait()


async def watch(services: Services) -> None:
    """Read again and again how polling goes."""
    async with watched(services.of(Upkeep)):
        await asyncio.Event().wait()


async def readiness(services: Services) -> Mapping[str, Any]:
    """How polling goes, for operators; times in epoch milliseconds."""
    with suppress(DatabaseUnavailable):  # It has just answered.
        status = await services.of(Upkeep).status()
        return {
            "polling": {
                "status": status.word,
                "last_success": status.last_success,
                "last_error": status.last_error,
                "last_error_at": status.last_error_at,
                "failures": status.failures,
                "next_attempt": status.next_attempt,
                "newest_event_lag_seconds": status.newest_event_lag_seconds,
            }
        }
    return {}
