"""How strongly earthquakes were felt, by the questionnaires of sightings, and of which ones a sighting may be."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from graph.domain import Contribution, Domain, Resources
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.schema.events import Event
from graph.domains.felt.candidates import Candidates
from graph.domains.felt.intensity import FeltIntensities
from graph.domains.felt.schema import CandidatesOfSighting, FeltOfEvent
from graph.domains.sightings.collected_reports import CollectedReports
from graph.domains.sightings.schema.sightings import Sighting


@asynccontextmanager
async def open_services(resources: Resources) -> AsyncIterator[Sequence[object]]:
    """Open what relates sightings to earthquakes."""
    candidates = Candidates(resources.services.of(Catalogue))
    yield candidates, FeltIntensities(resources.services.of(CollectedReports), candidates, resources.clock)


DOMAIN = Domain(
    name="felt",
    requires=("earthquakes",),
    part_of="sightings",
    open=open_services,
    contributions=(Contribution(Event, FeltOfEvent), Contribution(Sighting, CandidatesOfSighting)),
    examples=Path(__file__).parent / "examples",
)
