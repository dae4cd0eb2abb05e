"""The catalogue's background work in a serving process, and its state for the readiness."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from graph.core.errors import DatabaseUnavailable
from graph.domain import Resources, Services
from graph.domains.earthquakes.demo import load_sample
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.poll_state import LEASE_MS
from graph.domains.earthquakes.ingest.polling import poll_forever
from graph.domains.earthquakes.ingest.status import IngestStatusReader
from graph.domains.earthquakes.settings import EarthquakeSettings


async def prepare(services: Services) -> str | None:
    """Load the demo, if it is switched on."""
    settings = services.of(Resources).settings.part(EarthquakeSettings)
    if settings.demo and (report := await load_sample(services)):
        return f"Loaded {report.upserted:,} real events of a week in 2023 as a demo."
    return None


async def poll(services: Services) -> None:
    """Poll USGS, if polling is switched on."""
    resources = services.of(Resources)
    settings = resources.settings.part(EarthquakeSettings)
    if not settings.poll:
        return
    lease_ms = max(round(2000 * settings.usgs_timeout) + 60_000, LEASE_MS)  # to fetch, with redirects, and to store
    await poll_forever(services.of(Ingest), resources.database, settings.poll, resources.clock, lease_ms=lease_ms)


async def read_status(services: Services) -> None:
    """Read the ingest status again and again."""
    await services.of(IngestStatusReader).read_forever()


async def readiness(services: Services) -> Mapping[str, Any]:
    """The state of polling for operators; times in epoch milliseconds."""
    with suppress(DatabaseUnavailable):  # it has just answered
        status = await services.of(IngestStatusReader).status()
        return {
            "polling": {
                "status": status.state,
                "last_success": status.last_success,
                "last_error": status.last_error,
                "last_error_at": status.last_error_at,
                "failures": status.failures,
                "next_attempt": status.next_attempt,
                "newest_event_lag_seconds": status.newest_event_lag_seconds,
            }
        }
    return {}
