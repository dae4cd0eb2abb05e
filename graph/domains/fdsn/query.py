"""A query: which events, in which order, how many, and in which form. It is made of checked parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import radians
from typing import Any, Self

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.revisions.views import PRESENT, Deleted, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.conditions import conditions_of
from graph.domains.fdsn.matching import Matching, Ring, keeps_types
from graph.domains.fdsn.public_ids import event_id_of
from graph.geography.areas import EARTH_RADIUS_KM, Box, Circle
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, HasText, Operator, SameText, all_of

DELETED = {"false": Deleted.EXCLUDE, "true": Deleted.INCLUDE, "only": Deleted.ONLY}
"""Value of `includedeleted` → which deleted events are selected."""

ONE_DEGREE_KM = radians(1) * EARTH_RADIUS_KM

_BOUNDS = {each.fdsn.name: name for name, each in conditions_of(Matching).items() if each.fdsn}
"""Parameter → field of the selection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FdsnQuery:
    """What a request asks for."""

    selection: Selection
    event_ids: tuple[str, ...] | None = None  # of these events alone
    by_magnitude: bool = False  # or else by time
    ascending: bool = False
    limit: int | None = None
    offset: int = 1  # the number of the first event, from 1
    all_origins: bool = False
    all_magnitudes: bool = False
    view: View = PRESENT

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The query of these parameters.

        Raises:
            BadUserInput: Two parameters contradict each other.
        """
        order = given.get("orderby", "time")
        ids = given.get("eventid")
        return cls(
            selection=_selection(given),
            event_ids=tuple(dict.fromkeys(map(event_id_of, ids))) if ids is not None else None,
            by_magnitude=order.startswith("magnitude"),
            ascending=order.endswith("-asc"),
            limit=given.get("limit"),
            offset=given.get("offset", 1),
            all_origins=given.get("includeallorigins", False),
            all_magnitudes=given.get("includeallmagnitudes", False),
            view=View(deleted=DELETED[given.get("includedeleted", "false")]),
        )


def _selection(given: Mapping[str, Any]) -> Selection:
    for least, greatest in (("mindepth", "maxdepth"), ("starttime", "endtime"), ("minmagnitude", "maxmagnitude")):
        if least in given and greatest in given and given[least] > given[greatest]:
            raise BadUserInput(f"`{least}` must not be greater than `{greatest}`.")
    circle, ring = _around(given)
    conditions: list[Condition | None] = []
    if "catalog" in given:
        conditions.append(SameText("source", given["catalog"]))
    if "producttype" in given:
        conditions.append(AnyOf(tuple(HasText("types", f",{each},") for each in given["producttype"])))
    keeps = [ring.keep] if ring else []
    if "eventtype" in given:
        keeps.append(keeps_types(given["eventtype"]))
    least_depth, greatest_depth = given.get("mindepth"), given.get("maxdepth")
    if least_depth is not None and least_depth <= 0:
        conditions.append(_signed_depth(">=", least_depth))
        least_depth = None
    if greatest_depth is not None and greatest_depth < 0:
        conditions.append(_signed_depth("<=", greatest_depth))
        greatest_depth = None
    return Matching(
        start_ms=given.get("starttime"),
        end_ms=given.get("endtime"),
        magnitudes=MagnitudeRange(given.get("minmagnitude"), given.get("maxmagnitude")),
        min_depth=least_depth,
        max_depth=greatest_depth,
        box=_box(given),
        circle=circle,
        networks=given.get("contributor"),
        mag_types=given.get("magnitudetype"),
        statuses=(status,) if (status := given.get("reviewstatus", "all")) != "all" else None,
        alerts=(given["alertlevel"],) if "alertlevel" in given else None,
        updated_since_ms=given.get("updatedafter"),
        more=all_of(*conditions),
        keeps=tuple(keeps),
        **{field: given[name] for name, field in _BOUNDS.items() if name in given},
    )


def _signed_depth(sign: Operator, depth: float) -> Condition:
    """A comparison with the depth as its source gives it. The catalogue's own is never negative."""
    stored = AllOf((Absent("sourceDepth"), Compare("depth", sign, depth)))  # by a version that kept no other
    return AnyOf((Compare("sourceDepth", sign, depth), stored))


def _box(given: Mapping[str, Any]) -> Box | None:
    """The rectangle. One that is 360 degrees wide or more has no edges in longitude."""
    south, north = given.get("minlatitude", -90.0), given.get("maxlatitude", 90.0)
    if south > north:
        raise BadUserInput("`minlatitude` must not be greater than `maxlatitude`.")
    west, east = given.get("minlongitude"), given.get("maxlongitude")
    if west is None or east is None:
        for name in ("minlongitude", "maxlongitude"):
            if abs(given.get(name, 0.0)) > 180:
                raise BadUserInput(f"`{name}` may lie beyond 180 degrees only if the other longitude is given too.")
    west, east = -180.0 if west is None else west, 180.0 if east is None else east
    if (south, north, west, east) == (-90.0, 90.0, -180.0, 180.0):
        return None
    if east - west >= 360:
        return Box(south, north, -180.0, 180.0)
    return Box(south, north, _within_180(west), _within_180(east))


def _around(given: Mapping[str, Any]) -> tuple[Circle | None, Ring | None]:
    """The circle, and the hole in it."""
    names = ("latitude", "longitude", "minradius", "maxradius", "maxradiuskm")
    if not any(name in given for name in names):
        return None, None
    if "latitude" not in given or "longitude" not in given:
        raise BadUserInput("A circle needs both `latitude` and `longitude`.")
    if "maxradius" in given and "maxradiuskm" in given:
        raise BadUserInput("Give `maxradius` in degrees or `maxradiuskm`, not both.")
    radius_km = given.get("maxradiuskm", given.get("maxradius", 180.0) * ONE_DEGREE_KM)
    least_km = given.get("minradius", 0.0) * ONE_DEGREE_KM
    if least_km > radius_km:
        raise BadUserInput("`minradius` must not be greater than the greatest radius.")
    north, east = given["latitude"], _within_180(given["longitude"])
    circle = Circle(north, east, radius_km) if radius_km < 180 * ONE_DEGREE_KM else None  # or else it is the earth
    return circle, Ring(north, east, least_km) if least_km else None


def _within_180(longitude: float) -> float:
    """The same meridian between -180 and 180 degrees, to a billionth of a degree if it lies beyond."""
    if -180 <= longitude <= 180:
        return longitude
    return round(longitude - 360 if longitude > 180 else longitude + 360, 9)
