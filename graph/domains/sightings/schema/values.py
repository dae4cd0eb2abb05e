"""Values of sightings: their category, their position, and how much they can be trusted."""

from typing import Any, NewType

import strawberry

from graph.api.record_type import value_type
from graph.api.schema import Scalars
from graph.domains.sightings.categories import USUAL, is_category
from graph.domains.sightings.confidence import Confidence

SightingCategory = NewType("SightingCategory", str)


def _parse_category(value: Any) -> str:
    if not isinstance(value, str) or not is_category(value):
        raise ValueError("it must be the name of a category, such as SHAKING")
    return value


SCALARS: Scalars = {
    SightingCategory: strawberry.scalar(
        name="SightingCategory",
        description="What a sighting is about: "
        + ", ".join(f"`{name}`" for name in USUAL)
        + ", or what else `sightingCategories` lists. A sighting of another program may have a category of its own. "
        "An argument may be written with quotes or without.",
        serialize=str,
        parse_value=_parse_category,
    )
}

value_type(Confidence, computed=["total"])
