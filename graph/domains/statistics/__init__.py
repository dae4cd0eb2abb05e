"""Counts by magnitude and time, and what seismology makes of them: a part of the catalogue."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Domain, Resources
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.statistics.reader import StatisticsReader
from graph.domains.statistics.schema.statistics import StatisticsQueries
from graph.domains.statistics.settings import StatisticsSettings


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the statistics."""
    most_events = resources.settings.part(StatisticsSettings).max_statistics_events
    return [StatisticsReader(resources.database, resources.services.of(Catalogue), most_events=most_events)]


DOMAIN = Domain(
    name="statistics",
    part_of="earthquakes",
    settings=StatisticsSettings,
    open=open_services,
    queries=(StatisticsQueries,),
    examples=Path(__file__).parent / "examples",
)
