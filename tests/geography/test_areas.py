"""Boxes and circles hold what other formulas say, and their cells miss no event and claim none too many."""

from math import inf, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.geography.areas import EARTH_RADIUS_KM, Area, Box, Circle, azimuth
from graph.geography.cells import COLUMNS, LON_DEGREES, ROWS, cell_of, coarse_of
from graph.store.conditions import predicate
from tests.domains.earthquakes.builders import an_event
from tests.domains.earthquakes.oracle import distance_km, in_box
from tests.effort import rounds

DEGREE_KM = 111.19508372419142

latitudes = st.floats(-90, 90) | st.integers(-90, 90).map(float) | st.sampled_from([-90.0, 90.0])
longitudes = st.floats(-180, 180) | st.integers(-180, 180).map(float) | st.sampled_from([-180.0, 180.0])
radii = st.floats(0, 20_050) | st.floats(0, 300) | st.integers(0, 180).map(lambda degrees: degrees * DEGREE_KM)


def next_to(value: float, limit: float) -> st.SearchStrategy[float]:
    """The number, and those right below and above it, within the limit."""
    below, above = nextafter(value, -inf), nextafter(value, inf)
    return st.sampled_from([max(below, -limit), value, min(above, limit)])


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    south, north = sorted((draw(storable(latitudes, 90)), draw(storable(latitudes, 90))))
    return Box(south, north, draw(storable(longitudes, 180)), draw(storable(longitudes, 180)))


def storable(numbers: st.SearchStrategy[float], limit: float) -> st.SearchStrategy[float]:
    """The numbers and their neighbours, but none so small that stores refuse it."""
    return numbers.flatmap(lambda value: next_to(value, limit)).filter(lambda value: value == 0 or abs(value) > 1e-100)


def cells_agree(area: Area, lat: float, lon: float, inside: bool) -> bool:
    """Whether the cell of an event is touched if the event is inside, and not covered if it is outside."""
    cells, its = area.cells, cell_of(lat, lon)
    touched = any(its in run for run in cells.touched) and coarse_of(its) in cells.coarse
    return touched if inside else not any(its in run for run in cells.covered)


def in_order(area: Area) -> bool:
    """Whether the runs are disjoint, each within a row, and a touched cell is either covered or crossed."""
    cells = area.cells
    runs = (cells.touched, cells.covered, cells.crossed)
    touched, covered, crossed = ([cell for run in some for cell in run] for some in runs)
    return (
        touched == sorted(set(touched))
        and covered == sorted(set(covered))
        and set(covered) <= set(touched) <= set(range(ROWS * COLUMNS))
        and crossed == sorted(set(touched) - set(covered))
        and all(run[0] // COLUMNS == run[-1] // COLUMNS for some in runs for run in some)
    )


def touched_cells(area: Area) -> int:
    return sum(map(len, area.cells.touched))


def covered_cells(area: Area) -> int:
    return sum(map(len, area.cells.covered))


def test_a_cell_has_its_southern_and_western_edge_and_a_coarse_one_is_ten_degrees_by_ten() -> None:
    for lat, lon, row, column in (
        (-90.0, -180.0, 0, 0),
        (90.0, 180.0, 179, 0),
        (90.0, nextafter(180, 0), 179, COLUMNS - 1),
        (0.0, 0.0, 90, COLUMNS // 2),
        (-1e-20, -1e-20, 89, COLUMNS // 2 - 1),
        (nextafter(36, 0), nextafter(-118, -inf), 125, 62 // LON_DEGREES - 1),
        (36.0, -118.0, 126, 62 // LON_DEGREES),
    ):
        assert cell_of(lat, lon) == row * COLUMNS + column
    coarse = [coarse_of(cell_of(lat, lon)) for lat, lon in ((-90, -180), (-80.5, -170.5), (-80, -170), (90, 179))]
    assert coarse == [0, 0, 37, 18 * 36 - 1]
    assert Box(35, 41, -120, -110.5).cells.coarse == {12 * 36 + 6, 13 * 36 + 6}


@given(boxes(), st.data())
def test_the_cells_of_a_box_are_exact_at_its_edges(box: Box, data: st.DataObject) -> None:
    lat = data.draw(storable(latitudes | st.sampled_from([box.min_lat, box.max_lat]), 90))
    lon = data.draw(storable(longitudes | st.sampled_from([box.min_lon, box.max_lon]), 180))
    inside = in_box(box, an_event(lat=lat, lon=lon))

    assert box.condition is not None
    assert predicate(box.condition)({"lat": lat, "lon": lon}) == inside
    assert in_order(box)
    assert cells_agree(box, lat, lon, inside)


@pytest.mark.parametrize("lon", [180.0, -180.0])
def test_the_180th_meridian_and_a_pole_are_one_place_however_they_are_written(lon: float) -> None:
    """In a box that ends there, or consists of it alone, and in a circle of radius 0."""
    event = {"lat": -17.5, "lon": lon}
    for west, east in ((-180, -170), (170, 180), (180, 180), (-180, -180), (180, -180), (170, -180), (180, -170)):
        box = Box(-20, -10, west, east)
        condition = box.condition
        assert condition is not None
        assert cells_agree(box, event["lat"], lon, inside=True)
        assert [predicate(condition)(each) for each in (event, event | {"lon": 0.0})] == [True, False], (west, east)
    for circle, there in (
        *((Circle(-17.5, meridian, 0), event) for meridian in (180, -180)),
        *((Circle(pole, east, 0), {"lat": pole, "lon": lon}) for pole in (90.0, -90.0) for east in (12.3, -180, 180)),
    ):
        assert circle.holds(there), circle
        assert predicate(circle.condition)(there) if circle.condition else False
        assert cells_agree(circle, there["lat"], there["lon"], inside=True)


def test_a_box_of_whole_cells_covers_them_all() -> None:
    whole = Box(-90, 90, -180, 180).cells
    assert whole.touched == whole.covered == tuple(range(row * COLUMNS, (row + 1) * COLUMNS) for row in range(ROWS))

    japan = Box(30, 46, 128, 146)
    assert covered_cells(japan) == 16 * 18 // LON_DEGREES
    assert touched_cells(japan) == 17 * (18 // LON_DEGREES + 1)  # events on its northern and eastern edge belong to it

    fiji = Box(-26, -14, 170, -170)
    assert covered_cells(fiji) == 12 * 20 // LON_DEGREES
    assert touched_cells(fiji) == 13 * (20 // LON_DEGREES + 1)


@given(
    st.builds(Circle, latitudes, longitudes, radii), latitudes, longitudes, st.sampled_from([None, -1e-9, 0.0, 1e-9])
)
def test_a_circle_holds_what_is_near_enough_and_its_cells_touch_that_and_cover_nothing_else(
    circle: Circle, lat: float, lon: float, further_km: float | None
) -> None:
    """For an event anywhere, or on the edge: then the radius is its distance, or a little more or less."""
    distance = distance_km(circle, an_event(lat=lat, lon=lon))
    if further_km is not None:
        circle = Circle(circle.lat, circle.lon, max(distance + further_km, 0.0))
    holds = circle.holds({"lat": lat, "lon": lon})

    if abs(distance - circle.radius_km) > 1e-3:  # the haversine loses digits near the opposite point
        assert holds == (distance <= circle.radius_km)
    assert in_order(circle)
    assert cells_agree(circle, lat, lon, holds)
    assert circle.condition is not None
    if holds:
        assert predicate(circle.condition)({"lat": lat, "lon": lon})


@pytest.mark.repeated
def test_the_cells_of_a_circle_are_right_at_their_corners() -> None:
    """For circles near the poles, of about a quarter and a half of the earth, and on whole degrees."""
    centres = [(90.0, 0.0), (89.3, 20.0), (60.0, 179.5), (0.0, -180.0), (-33.3, -71.7), (-90.0, 5.0)]
    reaches = [0.0, 0.4, 1.0, 29.9, 30.0, 89.9, 90.0, 90.1, 150.0, 179.5, 180.0]
    for lat, lon in centres[: rounds(len(centres))]:
        for reach in reaches:
            circle = Circle(lat, lon, reach * EARTH_RADIUS_KM * 0.017453292519943295)
            touched = {cell for run in circle.cells.touched for cell in run}
            covered = {cell for run in circle.cells.covered for cell in run}
            for south in range(-90, 91, 3):
                for west in range(-180, 181, 4):
                    cell = cell_of(south, west)
                    inside = circle.holds({"lat": float(south), "lon": float(west)})
                    assert cell in touched if inside else cell not in covered, (circle, south, west)


def test_a_circle_touches_and_covers_hardly_another_area_than_its_own() -> None:
    """A circle of 1,000 km has 254 squares of one degree at the equator; its edge has 72 degrees of length or so."""
    assert 254 < touched_cells(Circle(0.5, 0.5, 1000)) * LON_DEGREES < 254 + 72 * LON_DEGREES
    assert 254 > covered_cells(Circle(0.5, 0.5, 1000)) * LON_DEGREES > 254 - 72 * LON_DEGREES
    assert touched_cells(Circle(0.5, 0.5, 50)) == 1
    assert touched_cells(Circle(35.5, -117.5, 100)) <= 9
    assert touched_cells(Circle(60.5, 10.5, 95)) <= 11  # of 15 in the box around it
    for earth in (Circle(0.5, 0.3, 20_016), Circle(-67.8, 12.3, 40_100), Circle(90, 0, 20_100)):
        assert covered_cells(earth) == ROWS * COLUMNS


def test_a_circle_around_a_pole_has_whole_parallels() -> None:
    assert [touched_cells(Circle(90, 0, radius_km)) for radius_km in (100, 112)] == [COLUMNS, 2 * COLUMNS]
    assert covered_cells(Circle(90, 0, 10.01 * DEGREE_KM)) == 10 * COLUMNS
    assert covered_cells(Circle(-90, 77.7, 10.01 * DEGREE_KM)) == 10 * COLUMNS
    assert touched_cells(Circle(-90, 77.7, 9.99 * DEGREE_KM)) == 10 * COLUMNS


AZIMUTHS = [
    ((0, 0), (1, 0), 0),
    ((0, 0), (0, 1), 90),
    ((0, 0), (-1, 0), 180),
    ((0, 0), (0, -1), 270),
    ((0, 179), (0, -179), 90),
    ((35.6, -117.6), (35.6, -117.6), 0),
    ((0, 180), (0, -180), 0),
    ((90, 20), (35, 77), 180),
    ((-90, 20), (35, 77), 0),
    ((35, 77), (90, 20), 0),
    ((35, 77), (-90, 20), 180),
    ((40, 0), (50, 30), 54.53),  # by the angles of the triangle with the pole
]


@pytest.mark.parametrize(("start", "end", "degrees"), AZIMUTHS)
def test_an_azimuth_is_the_direction_along_the_great_circle(
    start: tuple[float, float], end: tuple[float, float], degrees: float
) -> None:
    assert azimuth(*start, {"lat": end[0], "lon": end[1]}) == pytest.approx(degrees, abs=0.005)
