"""The demo: a real week of events from the package."""

from importlib.resources import files

from graph.domain import Services
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.report import IngestReport

SAMPLE = files("graph.domains.earthquakes") / "sample" / "usgs_all_week_2023-08-03.geojson.gz"


async def load_sample(services: Services) -> IngestReport | None:
    """Store the packaged week of real events, if the catalogue is empty."""
    if not await services.of(Catalogue).is_empty():
        return None
    with SAMPLE.open("rb") as stream:
        return await services.of(Ingest).file(stream)
