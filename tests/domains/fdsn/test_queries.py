"""What parameters select, and in which order: on the real week, against the source's own features, in each format."""

import csv
from collections.abc import Callable
from io import StringIO
from math import acos, cos, degrees, radians, sin
from typing import Any

import pytest

from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.service import Service

ROOT = "/fdsnws/event/1"
Feature = dict[str, Any]
KNOWN = [feature for feature in week_features() if feature["properties"]["mag"] is not None]


def value(name: str) -> Callable[[Feature], Any]:
    return lambda feature: feature["properties"][name]


def at_least(name: str, least: float) -> Callable[[Feature], bool]:
    return lambda feature: feature["properties"][name] is not None and feature["properties"][name] >= least


def at_most(name: str, most: float) -> Callable[[Feature], bool]:
    return lambda feature: feature["properties"][name] is not None and feature["properties"][name] <= most


def lon(feature: Feature) -> float:
    return float(feature["geometry"]["coordinates"][0])


def lat(feature: Feature) -> float:
    return float(feature["geometry"]["coordinates"][1])


def depth(feature: Feature) -> float:
    return float(feature["geometry"]["coordinates"][2])


def degrees_from(north: float, east: float, feature: Feature) -> float:
    """The great-circle distance, by the cosine rule."""
    cosine = sin(radians(north)) * sin(radians(lat(feature))) + cos(radians(north)) * cos(radians(lat(feature))) * cos(
        radians(lon(feature) - east)
    )
    return degrees(acos(min(1.0, max(-1.0, cosine))))


SELECTED: dict[str, Callable[[Feature], bool]] = {
    "": lambda feature: True,
    "minmagnitude=2.45": at_least("mag", 2.45),
    "minmag=1&maxmag=1": lambda feature: value("mag")(feature) == 1,
    "start=2023-08-01T12:00:00&end=2023-08-02": lambda feature: (
        1_690_891_200_000 <= value("time")(feature) <= 1_690_934_400_000
    ),
    "starttime=2023-08-01T15:28:16.3501": lambda feature: value("time")(feature) > 1_690_903_696_350,
    "minlongitude=170&maxlongitude=-170": lambda feature: abs(lon(feature)) >= 170,
    "minlongitude=170&maxlongitude=190": lambda feature: abs(lon(feature)) >= 170,
    "minlongitude=-190&maxlongitude=-170": lambda feature: abs(lon(feature)) >= 170,
    "minlongitude=230&maxlongitude=250": lambda feature: -130 <= lon(feature) <= -110,
    "minlongitude=-360&maxlongitude=360&minlatitude=60": lambda feature: lat(feature) >= 60,
    "minlongitude=0&maxlongitude=360&minlatitude=60": lambda feature: lat(feature) >= 60,
    "maxlongitude=-150": lambda feature: lon(feature) <= -150,
    "minlat=30&maxlat=42&minlon=-125&maxlon=-114": lambda feature: (
        30 <= lat(feature) <= 42 and -125 <= lon(feature) <= -114
    ),
    "latitude=38.8&longitude=-122.8&maxradius=1": lambda feature: degrees_from(38.8, -122.8, feature) <= 1,
    "lat=38.8&lon=237.2&maxradiuskm=111.19508": lambda feature: degrees_from(38.8, -122.8, feature) <= 1,
    "latitude=38.8&longitude=-122.8&minradius=10&maxradius=20": lambda feature: (
        10 <= degrees_from(38.8, -122.8, feature) <= 20
    ),
    "latitude=-20&longitude=179&maxradius=180": lambda feature: True,
    "latitude=-20&longitude=179&minradius=170": lambda feature: degrees_from(-20, 179, feature) >= 170,
    "latitude=38.8&longitude=-122.8&maxradius=5&minlongitude=-122.8": lambda feature: (
        degrees_from(38.8, -122.8, feature) <= 5 and lon(feature) >= -122.8
    ),
    "mindepth=100&maxdepth=300": lambda feature: 100 <= depth(feature) <= 300,
    "maxdepth=-1": lambda feature: depth(feature) <= -1,
    "mindepth=-2&maxdepth=0": lambda feature: -2 <= depth(feature) <= 0,
    "mindepth=0&maxdepth=1": lambda feature: 0 <= depth(feature) <= 1,
    "magnitudetype=MWW,mb": lambda feature: value("magType")(feature) in ("mww", "mb"),
    "eventtype=Quarry_Blast": lambda feature: value("type")(feature) == "quarry blast",
    "eventtype=explosion,quarry%20blast": lambda feature: value("type")(feature) != "earthquake",
    "eventtype=other%20event": lambda feature: False,
    "contributor=NC,ak": lambda feature: value("net")(feature) in ("nc", "ak"),
    "catalog=usgs&minmagnitude=4": at_least("mag", 4),
    "catalog=ISC": lambda feature: False,
    "minfelt=2": at_least("felt", 2),
    "minsig=300&maxsig=500": lambda feature: 300 <= value("sig")(feature) <= 500,
    "mincdi=2.5&maxcdi=4": lambda feature: at_least("cdi", 2.5)(feature) and at_most("cdi", 4)(feature),
    "minmmi=4": at_least("mmi", 4),
    "mingap=200": at_least("gap", 200),
    "maxgap=40": at_most("gap", 40),
    "alertlevel=Green": lambda feature: value("alert")(feature) == "green",
    "producttype=ShakeMap": lambda feature: ",shakemap," in value("types")(feature),
    "producttype=shake": lambda feature: False,
    "starttime=2023-08-01%2000:00&endtime=2023-08-02T00:00:00+00:00&minmagnitude=4": lambda feature: (
        value("mag")(feature) >= 4 and 1690848000000 <= value("time")(feature) <= 1690934400000
    ),
    "minlongitude=170&maxlongitude=180": lambda feature: lon(feature) >= 170 or lon(feature) == -180,
    "reviewstatus=Automatic": lambda feature: value("status")(feature) == "automatic",
    "reviewstatus=all&minmagnitude=5": at_least("mag", 5),
    "updatedafter=2023-08-04": lambda feature: True,  # the catalogue has all of them since November
    "updatedafter=2024-08-04": lambda feature: False,
    "eventid=us6000kxp7,nc73919986,unknown1": lambda feature: feature["id"] in ("us6000kxp7", "nc73919986"),
    "eventid=quakeml:any.authority/event/us6000kxp7": lambda feature: feature["id"] == "us6000kxp7",
    "eventid=us6000kxp7,nc73919986&minmagnitude=5": lambda feature: feature["id"] == "us6000kxp7",
}


def ids(service: Service, query: str) -> list[str]:
    answer = service.http.get(f"{ROOT}/query?format=text&{query}")
    assert answer.status_code in (200, 204), answer.text
    return [line.partition("|")[0] for line in answer.text.splitlines()[1:]]


def test_a_query_selects_the_events_that_match(week: Service) -> None:
    for query, matches in SELECTED.items():
        expected = [feature["id"] for feature in KNOWN if matches(feature)]

        assert sorted(ids(week, query)) == sorted(expected), query
        assert int(week.http.get(f"{ROOT}/count?{query}").text) == len(expected), query


def test_the_orders_are_those_of_time_and_magnitude(week: Service) -> None:
    times = {feature["id"]: value("time")(feature) for feature in KNOWN}
    magnitudes = {feature["id"]: value("mag")(feature) for feature in KNOWN}

    newest = ids(week, "orderby=time")
    assert [times[each] for each in newest] == sorted(times.values(), reverse=True)
    assert ids(week, "orderby=time-asc") == newest[::-1]
    largest = ids(week, "orderby=magnitude")
    assert [(magnitudes[each], times[each]) for each in largest] == sorted(
        ((magnitudes[each], times[each]) for each in times), reverse=True
    )
    assert ids(week, "orderby=magnitude-asc") == largest[::-1]


@pytest.mark.parametrize("order", ["time", "time-asc", "magnitude", "magnitude-asc"])
def test_parts_by_limit_and_offset_are_the_whole(week: Service, order: str) -> None:
    for others in ("&minmagnitude=3", "&eventtype=explosion", "&starttime=2023-08-03T12:00:00"):
        whole = ids(week, f"orderby={order}{others}")

        assert whole
        for size in (len(whole) // 3, len(whole) - 1):
            offsets = range(1, len(whole) + 1, size)
            parts = [ids(week, f"orderby={order}{others}&limit={size}&offset={offset}") for offset in offsets]
            assert [each for part in parts for each in part] == whole
        for offset in (len(whole), len(whole) + 1):
            assert ids(week, f"orderby={order}{others}&offset={offset}") == whole[offset - 1 :]


def test_the_text_the_csv_and_the_geojson_have_the_same_events(week: Service) -> None:
    features = {feature["id"]: feature for feature in KNOWN}
    text = week.http.get(f"{ROOT}/query?format=text").text.splitlines()
    rows = [line.split("|") for line in text[1:]]
    assert text[0].startswith("#EventID|Time|Latitude|Longitude|Depth/km|Author|")
    assert {len(row) for row in rows} == {14} == {len(text[0].split("|"))}
    assert len(rows) == len(features)
    for row in rows:
        feature = features[row[0]]
        place, size = (lat(feature), lon(feature), depth(feature)), (value("mag")(feature), value("type")(feature))
        assert (*map(float, row[2:5]), float(row[10]), row[13]) == (*place, *size)

    table = list(csv.DictReader(StringIO(week.http.get(f"{ROOT}/query?format=csv").text)))
    assert [(row["id"], row["time"][:-1], float(row["mag"]), row["type"]) for row in table] == [
        (row[0], row[1], float(row[10]), row[13]) for row in rows
    ]

    written = week.http.get(f"{ROOT}/query?format=geojson").json()
    assert written["metadata"]["count"] == len(rows)
    assert [(each["id"], *each["geometry"]["coordinates"]) for each in written["features"]] == [
        (row[0], *features[row[0]]["geometry"]["coordinates"]) for row in rows
    ]
    for each in written["features"]:
        for name in ("time", "mag"):
            assert each["properties"][name] == value(name)(features[each["id"]])
