"""How strongly earthquakes were felt, by the questionnaires of sightings, and of which ones a sighting may be."""

from pathlib import Path

from graph.domain import Contribution, Domain
from graph.domains.earthquakes.schema.events import Event
from graph.domains.felt.schema import CandidatesOfSighting, FeltOfEvent
from graph.domains.sightings.schema.sightings import Sighting

DOMAIN = Domain(
    name="felt",
    requires=("earthquakes",),
    part_of="sightings",
    contributions=(Contribution(Event, FeltOfEvent), Contribution(Sighting, CandidatesOfSighting)),
    examples=Path(__file__).parent / "examples",
)
