"""`near` finds exactly the sightings whose rounded positions lie in the circle, over the dateline and at the poles."""

from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.core.paging import Paging
from graph.domains.earthquakes.areas import Circle, distance_km
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.selection import GRIDS, SightingSelection, lists_of_position
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.sightings.built import a_sighting, ids, ids_of, newest_first, page_of, readable
from tests.domains.sightings.in_store import sightings
from tests.domains.sightings.test_grid import away
from tests.effort import rounds

RADII_KM = (0.1, 1.0, 7.0, 15.0, 32.0, 60.0, 256.0, 500.0, 2048.0, 5000.0, 10_000.0, 20_000.0)
centres = st.builds(
    Point,
    st.floats(-90, 90) | st.sampled_from([-90.0, -89.99, -89.5, 0.0, 35.77, 89.95, 90.0]),
    st.floats(-180, 180) | st.sampled_from([-180.0, -179.97, 0.0, 179.97, 180.0]),
)
radii = st.sampled_from(RADII_KM) | st.floats(-1, 4.3).map(lambda power: 10.0**power)


@settings(A_FEW, max_examples=rounds(100))
@given(
    centre=centres,
    radius_km=radii,
    around=st.lists(st.tuples(st.floats(0, 2), st.floats(-3.15, 3.15)), max_size=8),
    elsewhere=st.lists(centres, max_size=4),
)
async def test_near_finds_what_the_distance_of_every_sighting_tells(
    engine: str, centre: Point, radius_km: float, around: list[tuple[float, float]], elsewhere: list[Point]
) -> None:
    close = [away(centre, min(share * radius_km, 20_000), bearing) for share, bearing in around]
    some = [a_sighting(n, lat=lat, lon=lon) for n, (lat, lon) in enumerate([centre, *close, *elsewhere])]
    circle = Circle(*centre, radius_km)
    expected = [item for item in some if distance_km(*centre, item) <= radius_km]
    async with readable(engine, [*some, a_sighting(99)]) as (_, ours):
        page = await page_of(ours, SightingSelection(near=circle), Paging(50))
    assert ids(page) == ids_of(newest_first(expected))


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
