"""How strongly an earthquake was felt, by those who name it, and by those whose reports it explains best."""

import asyncio
from collections.abc import Sequence

from graph.core.clock import Clock
from graph.core.days import FIRST_MS, LAST_MS
from graph.core.described import described, value
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.model import Event
from graph.domains.felt.attenuation import EARLIEST_S, LATEST_S, expected_intensity, felt_radius_km, hypocentral_km
from graph.domains.felt.candidates import candidates_of
from graph.domains.felt.cells import FeltCell, felt_cells
from graph.domains.sightings.collected_reports import Collected, CollectedReports, Found
from graph.domains.sightings.grid import KM1000, Point
from graph.geography.areas import Circle, distance_km

MOST_REGIONS = 100  # more than the largest earthquake is felt in; at a pole they are 27
READ = frozenset({"eventId", "eventTsMs", "mag", "lat", "lon", "depth", "cdi", "ids", "preferredId"})
"""The attributes that an event must have been read with."""


@value
class FeltIntensity:
    """What people felt of an earthquake, as they have reported it here."""

    reports: int = described("The number of answered questionnaires.")
    usgs_cdi: float | None = described("That of USGS's reports, as of the ingest.")
    is_complete: bool = described("Whether all reports were read. If not, the others would have come later.")
    cells: Sequence[FeltCell] = described(
        "The cells that people reported from: 10 km wide, and 1 km where at least three people reported."
    )

    @property
    def cdi(self) -> float | None:
        """The greatest intensity of the cells, without outliers, by USGS's formula; null without reports."""
        return max((cell.intensity for cell in self.cells if not cell.outlier), default=None)

    @property
    def difference(self) -> float | None:
        """By how much `cdi` is greater than `usgsCdi`."""
        return None if self.cdi is None or self.usgs_cdi is None else round(self.cdi - self.usgs_cdi, 2)


async def felt_intensity(
    event: Event, collected: CollectedReports, catalogue: Catalogue, clock: Clock
) -> FeltIntensity:
    """How strongly an event was felt; it must have been read with `READ`.

    Raises:
        QueryTooComplex: The operation in progress may not read so many reports or events.
    """
    named, unnamed = await asyncio.gather(collected.naming(event.aliases), _perhaps_of(event, collected))
    reports = [*named.reports, *await _best_explained_by(event, unnamed.reports, catalogue)]
    return FeltIntensity(
        reports=sum(each.community.reports for each in reports),
        cells=await felt_cells(reports, clock() / 1000, lambda point: _expected(event, point)),
        usgs_cdi=event.cdi,
        is_complete=named.is_complete and unnamed.is_complete,
    )


async def _perhaps_of(event: Event, collected: CollectedReports) -> Found:
    """The reports that name no earthquake, and were made where and when this one can have been felt."""
    radius_km = felt_radius_km(event.mag, event.depth)
    if not radius_km:
        return Found((), is_complete=True)
    cells = KM1000.cells_around(Circle(event.lat, event.lon, radius_km), MOST_REGIONS) or ()
    first_ms, last_ms = event.event_ts_ms + 1000 * EARLIEST_S, event.event_ts_ms + 1000 * LATEST_S
    return await collected.naming_none(cells, max(first_ms, FIRST_MS), min(last_ms, LAST_MS))


async def _best_explained_by(event: Event, reports: Sequence[Collected], catalogue: Catalogue) -> list[Collected]:
    """Those of the reports of which the event is the most plausible candidate."""
    if not reports:
        return []
    candidates = await candidates_of(catalogue, [each.felt_at for each in reports], frozenset())
    return [
        each
        for each, found in zip(reports, candidates, strict=True)
        if found and found[0].event.event_id == event.event_id
    ]


def _expected(event: Event, point: Point) -> float:
    return expected_intensity(event.mag, hypocentral_km(distance_km(*point, event.item), event.depth))
