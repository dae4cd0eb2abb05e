"""What parameters select: on the real week, against the source's own features, on each engine."""

from collections.abc import Callable
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
    "minmagnitude=1&maxmagnitude=1": lambda feature: value("mag")(feature) == 1,
    "starttime=2023-08-01T12:00:00&endtime=2023-08-02": lambda feature: (
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
    "latitude=38.8&longitude=237.2&maxradiuskm=111.19508": lambda feature: degrees_from(38.8, -122.8, feature) <= 1,
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
    "contributor=nc,ak": lambda feature: value("net")(feature) in ("nc", "ak"),
    "catalog=USGS&minmagnitude=4": at_least("mag", 4),
    "catalog=ISC": lambda feature: False,
    "minfelt=2": at_least("felt", 2),
    "minsig=300&maxsig=500": lambda feature: 300 <= value("sig")(feature) <= 500,
    "mincdi=2.5&maxcdi=4": lambda feature: at_least("cdi", 2.5)(feature) and at_most("cdi", 4)(feature),
    "minmmi=4": at_least("mmi", 4),
    "mingap=200": at_least("gap", 200),
    "maxgap=40": at_most("gap", 40),
    "alertlevel=green": lambda feature: value("alert")(feature) == "green",
    "reviewstatus=automatic": lambda feature: value("status")(feature) == "automatic",
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


ON_EACH_ENGINE = [
    "minmagnitude=2.45",
    "minlongitude=170&maxlongitude=190",
    "mindepth=-2&maxdepth=0",
    "latitude=38.8&longitude=-122.8&maxradius=5&minlongitude=-122.8",
    "eventtype=explosion,quarry%20blast",
    "contributor=nc,ak",
    "eventid=us6000kxp7,nc73919986&minmagnitude=5",
]
"""Queries with each kind of condition. A store translates them into its own language."""


@pytest.mark.parametrize("query", SELECTED)
def test_a_query_selects_the_events_that_match(week: Service, query: str) -> None:
    check(week, query)


@pytest.mark.parametrize("query", ON_EACH_ENGINE)
def test_each_engine_selects_the_events_that_match(any_week: Service, query: str) -> None:
    check(any_week, query)


def check(service: Service, query: str) -> None:
    expected = [feature["id"] for feature in sorted(KNOWN, key=value("time"), reverse=True) if SELECTED[query](feature)]

    selected = ids(service, query)
    assert sorted(selected) == sorted(expected)
    assert int(service.http.get(f"{ROOT}/count?{query}").text) == len(expected)


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
@pytest.mark.parametrize("others", ["", "&minmagnitude=0", "&eventtype=earthquake", "&starttime=2023-07-30T06:00:00"])
def test_parts_by_limit_and_offset_are_the_whole(week: Service, order: str, others: str) -> None:
    whole = ids(week, f"orderby={order}{others}")

    for size in (len(whole) // 3, 1501):
        parts = [
            ids(week, f"orderby={order}{others}&limit={size}&offset={first + 1}")
            for first in range(0, len(whole), size)
        ]
        assert [each for part in parts for each in part] == whole
    for offset in (len(whole), len(whole) + 1):
        assert ids(week, f"orderby={order}{others}&offset={offset}") == whole[offset - 1 :]


def test_the_largest_of_many_are_found_without_sorting_them_all(week: Service) -> None:
    assert ids(week, "orderby=magnitude&limit=5") == ids(week, "orderby=magnitude")[:5]
    assert ids(week, "orderby=magnitude-asc&limit=5&offset=3") == ids(week, "orderby=magnitude-asc")[2:7]
    assert (
        ids(week, "orderby=magnitude&limit=3&minmagnitude=1&maxmagnitude=4")
        == ids(week, "orderby=magnitude&minmagnitude=1&maxmagnitude=4")[:3]
    )
