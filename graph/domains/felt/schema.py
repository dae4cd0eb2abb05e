"""What people felt of an earthquake, and the earthquakes that they may have felt: fields of events and of sightings."""

from collections.abc import Mapping, Sequence

import strawberry

from graph.api.context import Context, Info
from graph.api.fields import field, shows
from graph.api.record_type import record_type
from graph.api.sizes import ListSize
from graph.api.values import value_type
from graph.domains.earthquakes import model as earthquakes
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.felt import cells
from graph.domains.felt import intensity as felt
from graph.domains.felt.candidates import MOST_CANDIDATES, EventCandidate, candidates_of
from graph.domains.felt.intensity import READ
from graph.domains.sightings import model
from graph.domains.sightings.collected_reports import CollectedReports, FeltAt
from graph.domains.sightings.schema.values import RoundedPosition, rounded
from graph.domains.sightings.scopes import SIGHTINGS_READ

USUAL_CELLS = 20  # for the price


@record_type(cells.FeltCell, "What the people in a cell felt.")
class FeltCell:
    reports: int = shows("The number of answered questionnaires.")
    intensity: float = shows("The community's intensity (CDI), 1 to 10.")
    expected: float = shows("The intensity that is expected at the cell's distance.")
    outlier: bool = shows(
        "Whether it is more than 2 above the expected one. It then does not count for the earthquake."
    )

    @field("The cell.", of=RoundedPosition)
    @staticmethod
    def position(cell: strawberry.Parent[cells.FeltCell]) -> RoundedPosition | None:
        return rounded(cell.centre, cell.precision_km)


@record_type(felt.FeltIntensity, "What people felt of an earthquake, as they have reported it here.")
class FeltIntensity:
    reports: int = shows("The number of answered questionnaires.")
    cdi: float | None = shows(
        "The greatest intensity of the cells, without outliers, by USGS's formula; null without reports."
    )
    usgs_cdi: float | None = shows("That of USGS's reports, as of the ingest.")
    difference: float | None = shows("By how much `cdi` is greater than `usgsCdi`.")
    complete: bool = shows(
        "Whether all reports were read. If not, the others would have come later.",
        resolver=lambda root: root.is_complete,
    )
    cells: list[FeltCell] = shows(
        "The cells that people reported from: 10 km wide, and 1 km where surely three people reported.",
        directives=[ListSize(assumed_size=USUAL_CELLS)],
    )


@strawberry.type
class FeltOfEvent:
    @field("What people felt, by the questionnaires of their sightings.", scope=SIGHTINGS_READ, cost=50, reads=READ)
    @staticmethod
    async def felt_intensity(event: strawberry.Parent[earthquakes.Event], info: Info) -> felt.FeltIntensity:
        context = info.context
        reports, catalogue = context.service(CollectedReports), context.service(Catalogue)
        return await felt.felt_intensity(event, reports, catalogue, context.clock)


value_type(EventCandidate, "Candidate")


@strawberry.type
class CandidatesOfSighting:
    @field(
        "The earthquakes of the last 30 minutes before it that it may be of, the most plausible first. "
        "Empty without a position.",
        cost=10,
        size=MOST_CANDIDATES,
        reads=["lat", "lon", "reportedAt"],
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
