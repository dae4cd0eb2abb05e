"""What people felt of an earthquake, as fields of events."""

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.selected import needs
from graph.api.sizes import Cost, ListSize
from graph.core.paging import Page
from graph.domains.earthquakes import model as earthquakes
from graph.domains.felt import cells
from graph.domains.felt import intensity as felt
from graph.domains.felt.intensity import READ, FeltIntensities
from graph.domains.sightings import model
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.schema.sightings import SightingConnection
from graph.domains.sightings.schema.values import RoundedPosition, rounded
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.domains.sightings.selection import SightingSelection
from graph.store.ordering import PageRequest

USUAL_CELLS = 20  # for the price


@strawberry.type(description="What the people in a cell felt.")
class FeltCell:
    reports: int = strawberry.field(description="The number of answered questionnaires.")
    intensity: float = strawberry.field(description="The community's intensity (CDI), 1 to 10.")
    expected: float = strawberry.field(description="The intensity that is expected at the cell's distance.")
    outlier: bool = strawberry.field(
        description="Whether it is more than 2 above the expected one. It then does not count for the earthquake."
    )

    @strawberry.field(description="The cell.", graphql_type=RoundedPosition)
    @staticmethod
    def position(cell: strawberry.Parent[cells.FeltCell]) -> RoundedPosition | None:
        return rounded(cell.centre, cell.precision_km)


@strawberry.type(description="What people felt of an earthquake, as they have reported it here.")
class FeltIntensity:
    reports: int = strawberry.field(description="The number of answered questionnaires.")
    cdi: float | None = strawberry.field(
        description="The greatest intensity of the cells, without outliers, by USGS's formula; null without reports."
    )
    usgs_cdi: float | None = strawberry.field(description="That of USGS's reports, as of the ingest.")
    difference: float | None = strawberry.field(description="By how much `cdi` is greater than `usgsCdi`.")
    complete: bool = strawberry.field(
        description="Whether all reports were read. If not, the others would have come later.",
        resolver=lambda root: root.is_complete,
    )
    cells: list[FeltCell] = strawberry.field(
        description="The cells that people reported from: 10 km wide, and 1 km where surely three people reported.",
        directives=[ListSize(assumed_size=USUAL_CELLS)],
    )


@strawberry.type
class SightingsOfEvent:
    @connection_field(
        SightingConnection,
        model.SightingOrder(),
        model.Sighting,
        description="The active sightings whose reporters name this earthquake, newest first.",
        directives=[RequiresScope(scope=SIGHTINGS_READ), relay.PAGE_SIZE, Cost(weight="10")],
        metadata=needs("ids", "preferredId"),
    )
    @staticmethod
    async def sightings(
        event: strawberry.Parent[earthquakes.Event], info: Info[Context, None], page: PageRequest
    ) -> Page[model.Sighting]:
        return await info.context.service(Sightings).page(SightingSelection(event_ids=tuple(event.aliases)), page)

    @strawberry.field(
        description="What people felt, by the questionnaires of their sightings.",
        graphql_type=FeltIntensity,
        directives=[RequiresScope(scope=SIGHTINGS_READ), Cost(weight="50")],
        metadata=needs(*READ),
    )
    @staticmethod
    async def felt_intensity(
        event: strawberry.Parent[earthquakes.Event], info: Info[Context, None]
    ) -> felt.FeltIntensity:
        return await info.context.service(FeltIntensities).of(event)
