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
from graph.domains.sightings import model
from graph.domains.sightings.felt import intensity
from graph.domains.sightings.felt.intensity import FeltIntensities
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
    def position(cell: strawberry.Parent[intensity.FeltCell]) -> RoundedPosition | None:
        return rounded(cell.centre, cell.precision_km)
