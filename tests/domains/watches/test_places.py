"""A selection waits in few places, and what it admits comes by at exactly one of them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.watches.places import MOST_CELLS, places_of, places_of_event
from graph.geography.areas import Area, Box, Circle
from graph.geography.polygon import Polygon
from tests.domains.earthquakes.builders import an_event
from tests.domains.earthquakes.strategies import polygons, selections, values
from tests.effort import rounds
from tests.geography.test_areas import boxes, latitudes, longitudes

radii = st.floats(0, 20_100) | st.floats(0, 400)
areas: st.SearchStrategy[Area] = boxes() | polygons() | st.builds(Circle, latitudes, longitudes, radii)


def in_area(area: Area) -> Selection:
    match area:
        case Box():
            return Selection(box=area)
        case Circle():
            return Selection(circle=area)
        case Polygon():
            return Selection(polygon=area)
    raise TypeError(area)


centres = st.builds(Circle, latitudes, longitudes, radii).map(
    lambda circle: (in_area(circle), an_event("us000", lat=circle.lat, lon=circle.lon))
)
pairs = centres | st.tuples(
    areas.map(in_area) | selections,
    st.builds(lambda row: an_event("us000", **row), st.fixed_dictionaries(values)),
)


@settings(max_examples=rounds(500), deadline=None)
@given(pairs)
def test_what_a_selection_admits_comes_by_at_one_of_the_few_places_where_it_waits(
    pair: tuple[Selection, Event],
) -> None:
    selection, event = pair
    waits = places_of(selection)
    comes_by = [place for place in places_of_event(event.item) if place in waits]

    assert len(waits) <= max(MOST_CELLS, len(selection.ids or ()))
    assert len(comes_by) <= 1
    assert comes_by or not selection.admits(event.item)


def test_an_area_waits_in_the_finest_cells_of_which_few_are_enough() -> None:
    kinds = {
        radius_km: {kind for kind, *_ in places_of(Selection(circle=Circle(35.6, -117.6, radius_km)))}
        for radius_km in (0, 300, 1000, 3000, 10_000, 20_100)
    }

    assert kinds == {
        0: {"cell"},
        300: {"cell"},
        1000: {"coarse cell"},
        3000: {"coarse cell"},
        10_000: {"earth"},
        20_100: {"earth"},
    }


def test_the_smallest_of_several_areas_decides() -> None:
    near, wide = Circle(35.6, -117.6, 10), Box(-90, 90, -180, 180)

    assert set(places_of(Selection(circle=near, box=wide))) == set(places_of(Selection(circle=near)))


def test_a_selection_of_ids_waits_for_these_events_wherever_they_are() -> None:
    assert set(places_of(Selection(ids=("us1", "us2", "us1"), box=Box(0, 1, 0, 1)))) == {("id", "us1"), ("id", "us2")}
    assert not places_of(Selection(ids=()))
    assert set(places_of(Selection(place="japan"))) == {("earth",)}
