"""Cells cover the earth: every point lies in one cell of a grid, and every circle in the cells around it."""

from math import asin, atan2, cos, degrees, inf, nextafter, pi, radians, sin

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph.domains.sightings.grid import KM1, KM10, KM100, KM1000, CellGrid, Point
from graph.geography.areas import EARTH_RADIUS_KM, Circle, distance_km
from tests.effort import rounds

HEIGHTS_KM = {KM1000: 1000.0, KM100: 100.0, KM10: 10.0, KM1: 1.0}
GRIDS = tuple(HEIGHTS_KM)
ALL_AROUND = 10**9

grids = st.sampled_from(GRIDS)
latitudes = st.floats(-90, 90) | st.sampled_from([-90.0, -89.999, -9.0, -0.0, 0.0, 0.09, 35.91, 89.9999, 90.0])
longitudes = st.floats(-180, 180) | st.sampled_from([-180.0, -179.999, -0.0, 0.0, 120.0, 179.9999, 180.0])
points = st.builds(Point, latitudes, longitudes)


def a_little_off(value: float, steps: int) -> float:
    """A number that is so many steps of floating point greater."""
    for _ in range(abs(steps)):
        value = nextafter(value, inf if steps > 0 else -inf)
    return value


def on_an_edge(row: int, column: int, steps: tuple[int, int]) -> Point:
    """A corner of a cell of 10 km, or a position next to it."""
    lat, lon = 0.09 * row - 90, 360 * (column % 4000) / 4000 - 180
    return Point(
        min(max(a_little_off(lat, steps[0]), -90.0), 90.0), min(max(a_little_off(lon, steps[1]), -180.0), 180.0)
    )


corners = st.builds(
    on_an_edge, st.integers(0, 2000), st.integers(0, 4000), st.tuples(st.integers(-2, 2), st.integers(-2, 2))
)


def away(point: Point, km: float, bearing: float) -> Point:
    """The position that is so far from a point, in a direction in radians."""
    lat, angle = radians(point.lat), km / EARTH_RADIUS_KM
    north = asin(max(-1.0, min(1.0, sin(lat) * cos(angle) + cos(lat) * sin(angle) * cos(bearing))))
    east = atan2(sin(bearing) * sin(angle) * cos(lat), cos(angle) - sin(lat) * sin(north))
    return Point(degrees(north), (point.lon + degrees(east) + 180) % 360 - 180)


def parts(cell: str) -> tuple[int, int]:
    _, row, column = cell.split(":")
    return int(row), int(column)


@given(grid=grids, point=points | corners)
def test_a_point_is_near_the_centre_of_its_cell(grid: CellGrid, point: Point) -> None:
    centre = grid.centre(grid.cell(*point))
    assert distance_km(*point, centre._asdict()) < 1.2 * HEIGHTS_KM[grid]


@given(grid=grids, point=points | corners)
@example(KM10, Point(90.0, 180.0))
@example(KM1, Point(-90.0, -180.0))
def test_the_centre_of_a_cell_lies_in_that_cell(grid: CellGrid, point: Point) -> None:
    cell = grid.cell(*point)
    assert grid.cell(*grid.centre(cell)) == cell


@settings(max_examples=rounds(500))
@given(point=points | corners)
@example(Point(-15.39, -1.4467202488981175))
@example(Point(63.44999999999999, 47.939698492462306))
def test_a_cell_of_one_kilometre_lies_in_the_cell_of_ten_that_its_points_lie_in(point: Point) -> None:
    fine = KM1.cell(*point)
    assert KM1.parent_of(fine) == KM10.cell(*point) == KM10.cell(*KM1.centre(fine))
    assert parts(KM1.parent_of(fine)) == tuple(each // 10 for each in parts(fine))


def test_rows_reach_from_pole_to_pole_and_columns_around_the_earth() -> None:
    for grid in GRIDS:
        for lat, row in ((-90.0, 0), (90.0, grid.rows - 1), (0.0, grid.rows // 2)):
            assert parts(grid.cell(lat, -180.0)) == (row, 0)
            assert parts(grid.cell(lat, 180.0)) == (row, 0)
            assert parts(grid.cell(lat, 179.999999)) == (row, grid._columns(row) - 1)
        middle = grid.rows // 2
        assert (grid._columns(0), grid._columns(middle)) == ({KM1: 30}.get(grid, 3), 2 * grid.rows)


@settings(max_examples=rounds(1000))
@given(
    grid=grids,
    centre=points | corners,
    size=st.sampled_from([0.0, 0.01, 0.5, 1.0, 3.0]) | st.floats(0, 20),
    share=st.sampled_from([0.0, 1.0]) | st.floats(0, 1),
    bearing=st.sampled_from([0.0, pi / 2, pi]) | st.floats(-pi, pi),
)
def test_the_cells_around_a_circle_cover_every_point_of_it(
    grid: CellGrid, centre: Point, size: float, share: float, bearing: float
) -> None:
    circle = Circle(*centre, size * HEIGHTS_KM[grid])
    point = away(centre, share * circle.radius_km, bearing)
    cells = grid.cells_around(circle, ALL_AROUND)
    assert cells is not None
    assert len(cells) == len(set(cells))
    if circle.holds(point._asdict()):
        assert grid.cell(*point) in cells


@given(centre=points, radius_km=st.sampled_from([20_016.0, 20_100.0, 40_100.0]))
def test_the_cells_around_a_circle_as_large_as_the_earth_are_all_cells(centre: Point, radius_km: float) -> None:
    cells = KM1000.cells_around(Circle(*centre, radius_km), ALL_AROUND)
    assert cells is not None
    assert len(cells) == sum(KM1000._columns(row) for row in range(20)) == len(set(cells))


def test_a_small_circle_touches_the_cells_on_both_sides_of_an_edge() -> None:
    for lat, lon, *cells in (
        (0.045, 0.045, "1000:2000"),
        (0.0, 0.045, "999:2000", "1000:2000"),
        (0.045, 180.0, "1000:0", "1000:3999"),
        (0.045, -180.0, "1000:0", "1000:3999"),
        (90.0, 0.0, "1999:0", "1999:1", "1999:2"),
        (-90.0, 77.0, "0:0", "0:1", "0:2"),
    ):
        found = KM10.cells_around(Circle(lat, lon, 1), 4)
        assert found is not None
        assert set(found) == {f"km10:{cell}" for cell in cells}


@given(grid=grids, centre=points, size=st.floats(0, 10))
def test_too_many_cells_are_none(grid: CellGrid, centre: Point, size: float) -> None:
    circle = Circle(*centre, size * HEIGHTS_KM[grid])
    cells = grid.cells_around(circle, ALL_AROUND)
    assert cells is not None
    assert grid.cells_around(circle, len(cells)) == cells
    assert grid.cells_around(circle, len(cells) - 1) is None
