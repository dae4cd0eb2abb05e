"""Areas: slugs of names, known areas of a file, areas of cells, and the list of those with active sightings."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.sightings.areas import NEAR_KM, KnownAreas, NamedArea, coordinates
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.model import LONGEST_NAME
from graph.domains.sightings.slugs import LONGEST_SLUG, slug_of
from graph.geography.areas import distance_km
from graph.settings import Misconfigured
from graph.store.ordering import PageRequest
from tests.domains.sightings.in_store import sightings

# Slugs


SLUGS = {
    "Downtown": "downtown",
    "São Paulo": "sao-paulo",
    "Tōkyō": "tokyo",
    "東京": "dongjing",
    "Ελλάδα": "ellada",
    "Санкт-Петербург": "sankt-peterburg",
    "  St. John's (west)  ": "st-john-s-west",
    "4th & Main": "4th-main",
    "a--b__c": "a-b-c",
    "x" * 65: "x" * 64,
    "x" * 63 + " y": "x" * 63,
    "!?": "",
    "—": "",
}


def test_a_slug_is_a_name_in_lower_case_ascii() -> None:
    assert {name: slug_of(name) for name in SLUGS} == SLUGS
    assert NamedArea.of_name("São Paulo") == NamedArea("sao-paulo", "São Paulo")  # the name is as it is written
    assert NamedArea.of_name("x" * LONGEST_NAME).slug == "x" * LONGEST_SLUG


@given(name=st.text(max_size=200))
def test_a_slug_is_its_own_slug_and_never_too_long(name: str) -> None:
    slug = slug_of(name)
    assert len(slug) <= LONGEST_SLUG
    assert slug_of(slug) == slug
    assert re.fullmatch("([a-z0-9]+(-[a-z0-9]+)*)?", slug)


# Known areas

RIDGECREST = "slug,name,lat,lon\nridgecrest,Ridgecrest,35.6225,-117.6709\n"
NADI = "nadi,Nadi,-17.8,177.42\ntaveuni,Taveuni,-16.85,-179.97\n"


def known(folder: Path, text: str | bytes) -> KnownAreas:
    """The areas of a file."""
    path = folder / "areas.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return KnownAreas.of_setting(path)


def test_a_position_belongs_to_the_nearest_known_area_within_25_kilometres(tmp_path: Path) -> None:
    areas = known(tmp_path, RIDGECREST + "inyokern,Inyokern,35.6469,-117.8126\n" + NADI)
    assert areas.at(35.62, -117.68).slug == "ridgecrest"
    assert areas.at(35.64, -117.75).slug == "inyokern"
    assert areas.at(-16.85, 179.9) == NamedArea("taveuni", "Taveuni", Point(-16.85, -179.97))
    for lat, lon in ((35.9, -117.6), (36.0, -117.67), (-17.8, 177.64), (-17.8, 177.67)):
        nearest = min(
            distance_km(*centre, {"lat": lat, "lon": lon}) for centre in ((35.6225, -117.6709), (-17.8, 177.42))
        )
        assert (areas.at(lat, lon).slug in ("ridgecrest", "nadi")) == (nearest <= NEAR_KM), (lat, lon)


def test_a_name_of_a_known_area_is_that_area_however_it_is_written(tmp_path: Path) -> None:
    areas = known(tmp_path, RIDGECREST)
    expected = NamedArea("ridgecrest", "Ridgecrest", Point(35.6225, -117.6709))
    assert areas.named("RIDGECREST") == areas.named("ridgecrest ") == expected
    assert areas.named("Trona") == NamedArea("trona", "Trona")


@given(
    lat=st.floats(-90, 90) | st.sampled_from([-90.0, 90.0, 0.0]),
    lon=st.floats(-180, 180) | st.sampled_from([-180.0, 180.0]),
)
def test_a_position_far_from_all_known_areas_is_in_the_area_of_its_cell(lat: float, lon: float) -> None:
    area = KnownAreas().at(lat, lon)
    cell = KM10.cell(lat, lon)
    centre = KM10.centre(cell)
    assert area == NamedArea(cell.replace(":", "-"), coordinates(centre), centre)
    assert slug_of(area.slug) == area.slug
    assert NamedArea.of_name(area.slug).slug == area.slug


def test_a_file_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    text = '﻿slug,name,lat,lon,notes\r\ntokyo,"Tōkyō, Japan",35.68,139.69,capital\r\n\r\n'
    assert known(tmp_path, text).named("tokyo") == NamedArea("tokyo", "Tōkyō, Japan", Point(35.68, 139.69))
    assert known(tmp_path, "slug,name,lat,lon\n").at(0, 0).slug == KM10.cell(0, 0).replace(":", "-")


NO_CSV = (
    *("", "slug;name;lat;lon\na;A;1;2\n", "slug,name,lat\na,A,1\n", "slug,name,lat,lon\na,A,north,2\n"),
    *("slug,name,lat,lon\na,A,1\n", b"slug,name,lat,lon\na,\xff,1,2\n", f"slug,name,lat,lon\na,{'x' * 140_000},1,2\n"),
)
WRONG_ROWS = {
    ",A,1,2": "'' is no slug such as `ridgecrest`",
    "São Paulo,A,1,2": "'São Paulo' is no slug such as `ridgecrest`",
    "a,,1,2": "'a' is no slug such as `ridgecrest`, or has no name",
    f"a,{'x' * 129},1,2": "or has no name",
    "a,A,90.1,2": "90.1, 2 is nowhere on the earth",
    "a,A,1,-181": "1, -181 is nowhere on the earth",
    "a,A,nan,2": "nan, 2 is nowhere on the earth",
    "a,A,1,inf": "1, inf is nowhere on the earth",
}


def test_a_wrong_file_or_none_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    short = [("lat,lon,slug,name\n1,2,a\n", "or has no name"), ("lat,lon,name,slug\n1,2,A\n", "no slug such as")]
    rows = [(f"slug,name,lat,lon\n{row}\n", message) for row, message in WRONG_ROWS.items()]
    for text, message in [(each, "no CSV file of slug,name,lat,lon") for each in NO_CSV] + short + rows:
        with pytest.raises(Misconfigured, match="GRAPH_SIGHTING_AREAS") as refused:
            known(tmp_path, text)
        assert message in str(refused.value), text[:100]
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(Misconfigured, match="GRAPH_SIGHTING_AREAS"):
            KnownAreas.of_setting(path)


def test_an_area_of_a_cell_is_named_by_its_coordinates() -> None:
    named = {(35.775, -117.606): "35.77°N 117.61°W", (-16.83, 179.95): "16.83°S 179.95°E", (0, 0): "0.00°N 0.00°E"}
    assert {point: coordinates(Point(*point)) for point in named} == named


async def test_a_known_area_is_listed_with_its_name_and_centre(engine: str, tmp_path: Path) -> None:
    async with sightings(engine, known=known(tmp_path, RIDGECREST)) as ours:
        await ours.new(lat=35.6, lon=-117.7)
        await ours.new(lat=10.0, lon=10.0)
        await ours.new(area="Trona")
        areas = (await ours.areas.page(PageRequest.of_first(10))).records
    found = {each.slug: (each.name, each.lat, each.lon) for each in areas}
    assert found == {
        "ridgecrest": ("Ridgecrest", 35.6225, -117.6709),
        "km10-1111-2078": ("10.04°N 9.96°E", *KM10.centre("km10:1111:2078")),
        "trona": ("Trona", None, None),
    }
