"""The categories of sightings: effects of earthquakes, and what else a setting names."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

from graph.core.errors import BadUserInput
from graph.domains.sightings.model import LONGEST_CATEGORY

ALL = "ALL"  # in place of a category: every one of them

USUAL = {
    "SHAKING": "Shaking of the ground.",
    "DAMAGE": "Damage to buildings or roads.",
    "TSUNAMI": "Unusual waves, or a sea that withdraws.",
    "LANDSLIDE": "A slope that has slid, or rocks that have fallen.",
    "FIRE": "A fire.",
    "POWER_OUTAGE": "No electricity.",
    "ROAD_BLOCKED": "A road that cannot be used.",
    "OTHER": "Anything else.",
}
"""The usual categories, with what they are about."""

FORM = re.compile(rf"[A-Z][A-Z0-9_]{{0,{LONGEST_CATEGORY - 1}}}")


def _category_name(text: str) -> str:
    if text == ALL or not FORM.fullmatch(text):
        raise ValueError(f"{text!r} is no category such as FLOOD")
    return text


CategoryName = Annotated[str, AfterValidator(_category_name)]


class Categories:
    """The categories of a service."""

    def __init__(self, others: Iterable[str] = ()) -> None:
        self.names = tuple(dict.fromkeys((*USUAL, *others)))

    def check(self, argument: str, category: str) -> None:
        """Check that there is a category.

        Raises:
            BadUserInput: There is none of this name.
        """
        if category not in self.names:
            raise BadUserInput(f"`{argument}` must be one of {', '.join(self.names)}.")
