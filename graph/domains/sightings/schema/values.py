"""Values of sightings: their category, their position, and how much they can be trusted."""

from typing import Any, NewType

import strawberry

from graph.api.fields import shows
from graph.api.record_type import record_type
from graph.api.scalars import describe_enum
from graph.api.schema import Scalars
from graph.domains.sightings import confidence as confidences
from graph.domains.sightings.categories import FORM, USUAL
from graph.domains.sightings.confidence import Freshness
from graph.domains.sightings.grid import KM10, Point
from graph.domains.sightings.tiers import THRESHOLDS, TrustTier

SightingCategory = NewType("SightingCategory", str)


def _parse_category(value: Any) -> str:
    if not isinstance(value, str) or not FORM.fullmatch(value):
        raise ValueError("it must be a name in capital letters, such as SHAKING")
    return value


SCALARS: Scalars = {
    SightingCategory: strawberry.scalar(
        name="SightingCategory",
        description="What a sighting is about: "
        + ", ".join(f"`{name}`" for name in USUAL)
        + ", or what else `sightingCategories` lists. An argument may be written with quotes or without.",
        serialize=str,
        parse_value=_parse_category,
    )
}

describe_enum(
    TrustTier,
    "How far a user's reports are trusted.",
    {
        each.tier: f"From {each.reports} reports and {each.confirmations} confirmations by others on."
        if each.reports
        else "Every user, at first."
        for each in THRESHOLDS
    }.__getitem__,
)
describe_enum(Freshness)


@strawberry.type(description="A rounded position: the middle of a cell.")
class RoundedPosition:
    lat: float = strawberry.field(description="Degrees north.")
    lon: float = strawberry.field(description="Degrees east.")
    precision_km: float = strawberry.field(description="The width of the cell, km. No finer position is known.")


def rounded(point: Point | None, precision_km: float = KM10.km) -> RoundedPosition | None:
    """The middle of a cell; None for none."""
    return point and RoundedPosition(lat=point.lat, lon=point.lon, precision_km=precision_km)


@record_type(
    confidences.Confidence, "How much a sighting can be trusted at a time. All parts are 0 once it has expired."
)
class Confidence:
    total: float = shows("The sum of the parts, at most 1.")
    lifetime: float = shows("By what is left of its time, 0 … 1: a 1,800th for each second.")
    confirmations: float = shows("By confirmations, 0 … 0.3: 0.1 for each.")
    trust: float = shows("By its reporter's tier: 0, 0.05 or 0.1.")
