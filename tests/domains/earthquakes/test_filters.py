"""What each filter means on a stored event, at its edges: on both engines, since each translates it its own way."""

from collections.abc import Mapping
from math import pi
from typing import Any

from graph.core.paging import Paging
from graph.domains.earthquakes.areas import EARTH_RADIUS_KM, Box, Circle
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import Selection
from tests.domains.earthquakes.builders import NOON, an_event, catalogue_of, stored

HALF_TURN_KM = EARTH_RADIUS_KM * pi

PLACES: Mapping[str, tuple[float, float]] = {
    "north pole": (90.0, 0.0),
    "near the pole": (89.5, 135.0),
    "across the pole": (89.5, -45.0),
    "south pole": (-90.0, 77.0),
    "Fiji": (-17.8, 178.1),
    "Tonga": (-21.2, -175.2),
    "Niue": (-19.0, -169.9),
    "dateline east": (-20.0, 180.0),
    "dateline west": (-20.0, -180.0),
    "Null Island": (0.0, 0.0),
    "Ridgecrest": (35.62, -117.67),
}
ARCTIC = {"north pole", "near the pole", "across the pole"}
DATELINE = {"dateline east", "dateline west"}


async def agree(engine: str, events: Mapping[str, Mapping[str, Any]], expected: Mapping[Selection, set[str]]) -> None:
    """Each selection holds just the named ones of the events, of which only what makes them special is given."""
    async with stored(engine, [an_event(name, NOON, **special) for name, special in events.items()]) as database:
        catalogue = catalogue_of(database)
        found = {}
        for selection in expected:
            page = await catalogue.page(selection, Paging(100))
            assert await page.total() == len(page.records), selection
            found[selection] = {event.event_id for event in page.records}
        assert found == expected


async def agree_on_places(engine: str, expected: Mapping[Selection, set[str]]) -> None:
    await agree(engine, {name: {"lat": lat, "lon": lon} for name, (lat, lon) in PLACES.items()}, expected)


async def test_a_box_holds_its_edges_and_may_cross_the_dateline(engine: str) -> None:
    expected = {
        Box(-90, 90, -180, 180): set(PLACES),
        Box(-25, -15, 170, 180): {"Fiji", "dateline east"},
        Box(-25, -15, -180, -170): {"Tonga", "dateline west"},
        Box(-25, -15, 178.1, -169.9): {"Fiji", "Tonga", "Niue"} | DATELINE,
        Box(-25, -15, 178.2, -170): {"Tonga"} | DATELINE,
        Box(0, 0, 0, 0): {"Null Island"},
        Box(35.62, 35.62, -117.67, -117.67): {"Ridgecrest"},
        Box(35.621, 36, -118, -117): set(),
        Box(89.5, 90, -180, 180): ARCTIC,
    }
    await agree_on_places(engine, {Selection(box=box): places for box, places in expected.items()})


async def test_a_circle_is_right_at_the_poles_and_the_dateline(engine: str) -> None:
    expected = {
        Circle(90, 0, 56): ARCTIC,
        Circle(90, -120, 55): {"north pole"},
        Circle(89.5, 135, 112): ARCTIC,
        Circle(89.5, 135, 111): {"north pole", "near the pole"},
        Circle(-90, 0, 1): {"south pole"},
        Circle(-20, 180, 1): DATELINE,
        Circle(-20, -180, 1): DATELINE,
        Circle(-20, 179.9, 11): DATELINE,
        Circle(-20, 179.9, 10): set(),
        Circle(-20, 179.9, 1075): {"Fiji", "Tonga", "Niue"} | DATELINE,  # Niue is 1,074.7 km away
        Circle(-20, 179.9, 1074): {"Fiji", "Tonga"} | DATELINE,
        Circle(35.62, -117.67, 0): {"Ridgecrest"},
        Circle(0, 0, HALF_TURN_KM / 2 + 1): {"north pole", "across the pole", "south pole", "Null Island"},
        Circle(0, 0, HALF_TURN_KM + 1): set(PLACES),
    }
    await agree_on_places(engine, {Selection(circle=circle): places for circle, places in expected.items()})


async def test_a_box_and_a_circle_together_select_what_lies_in_both(engine: str) -> None:
    both = Selection(box=Box(-25, -15, 178, -170), circle=Circle(-20, 179.9, 500))
    await agree_on_places(engine, {both: {"Fiji"} | DATELINE})


async def test_an_event_without_a_depth_lies_within_no_bound_of_it(engine: str) -> None:
    depths = {"surface": 0.0, "shallow": 8.0, "deep": 700.0, "unknown": None}
    expected: dict[tuple[float | None, float | None], set[str]] = {
        (None, None): set(depths),
        (0.0, None): {"surface", "shallow", "deep"},
        (None, 700.0): {"surface", "shallow", "deep"},
        (8.0, 8.0): {"shallow"},
        (8.01, 699.9): set(),
        (None, 0.0): {"surface"},
    }
    await agree(
        engine,
        {name: {"depth": depth} for name, depth in depths.items()},
        {Selection(min_depth=least, max_depth=greatest): names for (least, greatest), names in expected.items()},
    )


async def test_a_magnitude_on_a_bound_is_selected(engine: str) -> None:
    expected = {
        MagnitudeRange(4.5): {"4.5", "4.55", "4.6", "10.0"},
        MagnitudeRange(4.55, 4.6): {"4.55", "4.6"},
        MagnitudeRange(4.6, 4.6): {"4.6"},
        MagnitudeRange(None, 0.3): {"-2.0", "-0.1", "0.3"},
        MagnitudeRange(-0.1, -0.1): {"-0.1"},
        MagnitudeRange(0.31, 4.49): set(),
        MagnitudeRange(None, -2.0): {"-2.0"},
        MagnitudeRange(10.0, 11.0): {"10.0"},
    }
    await agree(
        engine,
        {str(mag): {"mag": mag} for mag in (-2.0, -0.1, 0.3, 4.5, 4.55, 4.6, 10.0)},
        {Selection(magnitudes=magnitudes): names for magnitudes, names in expected.items()},
    )


async def test_types_match_in_any_case_and_an_empty_list_selects_nothing(engine: str) -> None:
    expected = {
        None: {"quake", "blast", "untyped"},
        ("earthquake",): {"quake"},
        ("quarry blast", "earthquake", "ice quake"): {"quake", "blast"},
        ("Earthquake", "quake", ""): {"quake"},
        ("QUARRY_BLAST",): {"blast"},
        ("quake", ""): set(),
        (): set(),
    }
    await agree(
        engine,
        {"quake": {"type": "earthquake"}, "blast": {"type": "quarry blast"}, "untyped": {"type": None}},
        {Selection(types=types): names for types, names in expected.items()},
    )
