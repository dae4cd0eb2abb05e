"""A report is listed in the cells in which `near` looks for its rounded position, at the poles as well."""

from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.earthquakes.areas import Circle
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.selection import GRIDS, lists_of_position
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.sightings.in_store import sightings
from tests.effort import rounds

centres = st.builds(
    Point,
    st.floats(-90, 90) | st.sampled_from([-90.0, -89.99, -89.5, 0.0, 35.77, 89.95, 90.0]),
    st.floats(-180, 180) | st.sampled_from([-180.0, -179.97, 0.0, 179.97, 180.0]),
)


@settings(A_FEW, max_examples=rounds(30))
@given(point=centres)
async def test_reports_are_listed_where_near_looks_for_their_rounded_positions(engine: str, point: Point) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(lat=point.lat, lon=point.lon)
        at = sighting.position
        assert at == KM10.centre(KM10.cell(*point))
        cells = [grid.cells_around(Circle(*at, 0.0), 64) for grid in GRIDS]
        assert set(lists_of_position(*at)) == set(sighting.item["lists"]) - {"user:anna"}
        assert set(lists_of_position(*at)) <= set(chain.from_iterable(each or () for each in cells))
        for radius_km in (0.0, 40.0, 400.0, 4000.0):
            assert await ours.ids(near=Circle(*at, radius_km)) == [sighting.sighting_id]
