"""What people felt of an earthquake, and the earthquakes that they may have felt: fields of events and of sightings."""

from collections.abc import Mapping, Sequence

import strawberry

from graph.api.context import Context, Info
from graph.api.fields import field
from graph.api.record_type import value_type
from graph.domains.earthquakes import model as earthquakes
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.felt import intensity as felt
from graph.domains.felt.candidates import MOST_CANDIDATES, EventCandidate, candidates_of
from graph.domains.felt.cells import FeltCell
from graph.domains.felt.intensity import READ
from graph.domains.sightings import model
from graph.domains.sightings.collected_reports import CollectedReports, FeltAt
from graph.domains.sightings.scopes import SIGHTINGS_READ

USUAL_CELLS = 20  # for the price


value_type(FeltCell, computed=["outlier", "position"])
value_type(
    felt.FeltIntensity,
    computed=["cdi", "difference"],
    is_complete={"name": "complete"},
    cells={"size": USUAL_CELLS},
)


class FeltOfEvent:
    @field("What people felt, by the questionnaires of their sightings.", scope=SIGHTINGS_READ, cost=50, reads=READ)
    @staticmethod
    async def felt_intensity(event: strawberry.Parent[earthquakes.Event], info: Info) -> felt.FeltIntensity:
        context = info.context
        reports, catalogue = context.service(CollectedReports), context.service(Catalogue)
        return await felt.felt_intensity(event, reports, catalogue, context.clock)


class CandidatesOfSighting:
    @field(
        "The earthquakes of the last 30 minutes before it that it may be of, the most plausible first. "
        "Empty without a position.",
        cost=10,
        size=MOST_CANDIDATES,
        reads=["cell", "lat", "lon", "reportedAt"],
    )
    @staticmethod
    async def candidates(sighting: strawberry.Parent[model.Sighting], info: Info) -> list[EventCandidate]:
        if sighting.position is None:
            return []
        at = FeltAt(*sighting.position, sighting.reported_at.timestamp())
        return await info.context.loader(_candidates, None).load(at) or []


async def _candidates(context: Context, felt: Sequence[FeltAt], _: None) -> Mapping[FeltAt, list[EventCandidate]]:
    """The candidates of sightings."""
    return dict(zip(felt, await candidates_of(context.service(Catalogue), felt), strict=True))
