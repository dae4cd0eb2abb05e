"""A polygon holds what exact fractions say, and its cells miss no event and claim none too many."""

from fractions import Fraction
from itertools import pairwise
from math import cos, pi, sin

from hypothesis import assume, given
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.geography.areas import Circle
from graph.geography.cells import COLUMNS, LON_DEGREES, cell_of
from graph.geography.polygon import MOST_POINTS, ON_EDGE, Polygon
from graph.store.conditions import predicate
from tests.domains.earthquakes.oracle import encloses, squared_distance
from tests.geography.test_areas import cells_agree, covered_cells, in_order, touched_cells

Point = tuple[float, float]

# Of whole degrees, tenths and thousandths: vertices share longitudes and latitudes, and edges lie on those of cells.
steps = st.sampled_from([1, 10, 1000])
latitudes = st.builds(lambda lat, step: round(lat * step) / step, st.floats(-90, 90), steps)
longitudes = st.builds(lambda lon, step: round(lon * step) / step, st.floats(-180, 180), steps)
around_the_dateline = longitudes.map(lambda lon: lon / 10 + 180 if lon <= 0 else lon / 10 - 180)
points = st.tuples(latitudes, longitudes) | st.tuples(latitudes, around_the_dateline)
near_points = st.tuples(st.integers(33, 37), st.integers(-120, -116)).map(lambda point: (point[0] / 1, point[1] / 1))


@st.composite
def polygons(draw: st.DrawFn) -> Polygon:
    """Of any form; most of them intersect themselves."""
    drawn = draw(st.lists(draw(st.sampled_from([points, near_points])), min_size=3, max_size=12))
    assume(len(set(drawn)) >= 3)
    try:
        return Polygon(tuple(drawn))
    except BadUserInput:  # it goes around a pole
        assume(False)
        raise


@st.composite
def points_of(draw: st.DrawFn, polygon: Polygon) -> Point:
    """A point anywhere, at a vertex, on an edge as nearly as a number may be, or beside one."""
    if draw(st.booleans()):
        return draw(points | near_points)
    (lat, lon), (to_lat, to_lon) = draw(st.sampled_from(list(pairwise((*polygon.points, polygon.points[0])))))
    to_lon += 360 if to_lon - lon < -180 else -360 if to_lon - lon > 180 else 0
    part = draw(st.sampled_from([0.0, 0.0, 0.5, 1 / 3, 0.7]))
    beside = st.sampled_from([0.0, 0.0, 1e-10, -1e-10, 1e-8, -1e-8])
    at_lat = lat + part * (to_lat - lat) + draw(beside)
    at_lon = lon + part * (to_lon - lon) + draw(beside)
    at_lon += 360 if at_lon < -180 else -360 if at_lon > 180 else 0
    return min(max(at_lat, -90.0), 90.0), min(max(at_lon, -180.0), 180.0)


@given(polygons(), st.data())
def test_a_polygon_holds_its_edges_and_what_they_enclose(polygon: Polygon, data: st.DataObject) -> None:
    lat, lon = data.draw(points_of(polygon))
    distance, tolerance = squared_distance(polygon, lat, lon), Fraction(ON_EDGE) ** 2
    holds = polygon.holds({"lat": lat, "lon": lon})

    if distance <= tolerance / 4:
        assert holds
    elif distance >= tolerance * 4:
        assert holds == encloses(polygon, lat, lon)
    if holds and (condition := polygon.condition) is not None:
        assert predicate(condition)({"lat": lat, "lon": lon})
    assert in_order(polygon)
    assert cells_agree(polygon, lat, lon, holds)


def test_every_cell_that_no_edge_touches_is_covered_or_free() -> None:
    """A rectangle of 10 by 20 degrees: a polygon leaves out the cells along its edges, on both sides of them."""
    polygon = Polygon(((30, 130), (30, 150), (40, 150), (40, 130)))
    assert covered_cells(polygon) == 8 * (20 // LON_DEGREES - 2)
    assert touched_cells(polygon) == 12 * (20 // LON_DEGREES + 2)
    within = Polygon(((30.5, 130.5), (30.5, 149.5), (39.5, 149.5), (39.5, 130.5)))
    assert touched_cells(within) == 10 * 20 // LON_DEGREES
    slanted = Polygon(((0.2, 0.1), (59.3, 59.2), (59.4, 59.2), (0.3, 0.1)))
    assert (touched_cells(slanted) < 4 * 60, covered_cells(slanted)) == (True, 0), "not the cells of its box"


WITHIN: list[tuple[tuple[Point, ...], list[Point], list[Point]]] = [
    # A square, and the same across the dateline
    (((0, 0), (0, 10), (10, 10), (10, 0)), [(0, 0), (5, 10), (10, 3), (5, 5)], [(5, 10.1), (-0.1, 5)]),
    (((0, 175), (0, -175), (10, -175), (10, 175)), [(5, 180), (5, -180), (0, -175), (10, 175)], [(5, 0), (5, 174)]),
    # An edge on the dateline is one line, whichever way it is written
    (((0, 170), (0, 180), (10, 180), (10, 170)), [(5, 180), (5, -180), (5, 179)], [(5, -179.9)]),
    # A bow tie and a pentagram, whose middle is outside by the even-odd rule
    (((0, 0), (10, 10), (10, 0), (0, 10)), [(5, 5), (9, 5), (1, 5)], [(5, 1), (5, 9)]),
    (((10, 0), (-8, 6), (3, -10), (3, 10), (-8, -6)), [(8, 0), (3, 9), (10, 0)], [(0, 0), (-8, 0)]),
    # A band around the whole earth, and a cap that is closed along the pole
    (((-1, -180), (-1, 0), (-1, 180), (1, 180), (1, 0), (1, -180)), [(0, 180), (0, -180), (0.9, 50)], [(1.1, 0)]),
    (((60, -180), (60, 0), (60, 180), (90, 180), (90, 0), (90, -180)), [(90, 5), (89, -180), (60, 7)], [(59, 0)]),
    # Decimal fractions on a slanted edge
    (((35, -117), (36, -118), (36, -117)), [(35.1, -117.1), (35.7, -117.7)], [(35.1, -117.1001)]),
    # An edge whose slope exceeds all numbers
    (((0, 0), (5e-324, 10), (10, 5)), [(0, 5), (0, 10), (5, 5)], [(-0.1, 5), (0, 10.1), (0, -0.1)]),
    # Three points on one line
    (((0, 0), (1, 1), (2, 2)), [(0.5, 0.5), (1.7, 1.7)], [(1, 1.1)]),
]
"""Points, places inside, places outside."""


def test_places_in_and_beside_a_polygon() -> None:
    for points, inside, outside in WITHIN:
        polygon = Polygon(points)
        assert Polygon((*points, points[0])).cells == polygon.cells, "a ring may be closed"
        for lat, lon in inside + outside:
            holds = polygon.holds({"lat": lat, "lon": lon})
            assert holds == ((lat, lon) in inside), (points, lat, lon)
            assert cells_agree(polygon, lat, lon, holds)


def test_the_box_around_an_area_is_small_also_across_the_dateline() -> None:
    fiji = Polygon(((-20, 178), (-16, 178), (-18, -177)))
    for area, inside, outside in (
        (Circle(60, 10, 111.195), [(60.99, 11.99)], [(61.01, 10), (60, 12.01), (60, -10)]),
        (fiji, [(-18.0, 180.0), (-18.0, -180.0)], [(-18.0, 177.9), (-18.0, -176.9), (-15.9, 179.0)]),
    ):
        assert area.condition is not None
        holds = predicate(area.condition)
        for lat, lon in inside + outside:
            assert holds({"lat": lat, "lon": lon}) == ((lat, lon) in inside)


def test_a_ring_that_overlaps_itself_around_the_earth_cancels_out_where_it_does() -> None:
    """A band one and a half times around the earth: twice inside is outside."""
    south = [(0.0, float(lon)) for lon in (0, 120, -120, 0, 120, -180)]
    polygon = Polygon((*south, *((5.0, lon) for _, lon in reversed(south))))
    holds = polygon.holds
    assert not holds({"lat": 2.0, "lon": 60.0})
    assert holds({"lat": 2.0, "lon": -60.0})
    assert cell_of(2, 60.5) not in {cell for run in polygon.cells.touched for cell in run}
    assert cell_of(2, -60.5) in {cell for run in polygon.cells.covered for cell in run}


def test_the_greatest_polygons_have_bounded_cells() -> None:
    """Edges from pole to pole and back, all around the earth."""
    zigzag = [((-89.5, 89.5)[number % 2], number * 3.59 - 179.5) for number in range(MOST_POINTS - 3)]
    polygon = Polygon((*zigzag, (90.0, 165.0), (90.0, 0.0), (90.0, -179.5)))
    cells = polygon.cells
    assert len(cells.touched) + len(cells.covered) <= 180 * COLUMNS
    assert touched_cells(polygon) <= 180 * COLUMNS

    circle = Polygon(tuple((50 * sin(n * pi / 50), 50 * cos(n * pi / 50)) for n in range(MOST_POINTS)))
    area = pi * 50**2 / LON_DEGREES
    assert area - 2 * 400 / LON_DEGREES < covered_cells(circle) < area < touched_cells(circle) < area + 2 * 400
