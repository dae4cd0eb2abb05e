"""The catalogue's background work in a serving process, its state for the readiness, and its demo."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any

from graph.core.errors import DatabaseUnavailable
from graph.domain import Resources, Services
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.changes import follow_forever
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.polling import LEASE_MS, poll_forever
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.status import IngestStatusReader
from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.earthquakes.summaries import SummaryStatusReader, check_forever

FOLLOWS_AFTER_S = 60.0  # so that a new catalogue is filled by one feed, and not by two fetches at once


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


async def follow_changes(services: Services) -> None:
    """Ask USGS for changes, if polling is switched on; the first poll comes before."""
    resources = services.of(Resources)
    if resources.settings.part(EarthquakeSettings).poll:
        await asyncio.sleep(FOLLOWS_AFTER_S)
        await follow_forever(services.of(Ingest), resources.database, resources.clock)


async def check_summaries(services: Services) -> None:
    """Check the summaries, if that is switched on."""
    resources = services.of(Resources)
    every_s = resources.settings.part(EarthquakeSettings).check_summaries
    if every_s:
        await check_forever(resources.database, services.of(Ingest).intake.adopt, every_s, resources.clock)


async def readiness(services: Services) -> Mapping[str, Any]:
    """The state of polling and of the summaries for operators; times in epoch milliseconds."""
    with suppress(DatabaseUnavailable):  # it has just answered
        status = await services.of(IngestStatusReader).status()
        summaries = await services.of(SummaryStatusReader).status()
        return {
            "polling": {
                "status": status.state,
                "last_success": status.last_success_at,
                "last_error": status.last_error,
                "last_error_at": status.last_error_at,
                "failures": status.failures,
                "next_attempt": status.next_attempt_at,
                "last_changes": status.last_changes_at,
                "changes_failures": status.changes_failures,
                "newest_event_lag_seconds": status.newest_event_lag_seconds,
            },
            "summaries": {
                "status": summaries.state,
                "last_check": summaries.last_check,
                "days": [day.isoformat() for day in summaries.wrong_days],
                "remedy": "quakegraph rebuild-summaries" if summaries.wrong_days else None,
            },
        }
    return {}


SAMPLE = files("graph.domains.earthquakes") / "sample" / "usgs_all_week_2023-08-03.geojson.gz"


async def load_sample(services: Services) -> IngestReport | None:
    """Store the packaged week of real events, if the catalogue is empty."""
    if not await services.of(Catalogue).is_empty():
        return None
    with SAMPLE.open("rb") as stream:
        return await services.of(Ingest).file(stream)
