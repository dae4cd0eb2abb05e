"""Values of sightings: their category, their position, and how much they can be trusted."""

from typing import Any, NewType

import strawberry

from graph.api.scalars import describe_enum
from graph.api.schema import Scalars
from graph.api.values import value_type
from graph.domains.sightings.categories import FORM, USUAL
from graph.domains.sightings.confidence import Confidence, Freshness
from graph.domains.sightings.grid import RoundedPosition
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
value_type(RoundedPosition)
value_type(Confidence, computed={"total": 0})
