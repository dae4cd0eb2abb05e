"""The categories of sightings: effects of earthquakes, and what else a setting names."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

from graph.core.errors import BadUserInput
from graph.core.names import is_line
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

FORM = re.compile(rf"[^#,<>]{{1,{LONGEST_CATEGORY}}}")


def is_category(text: str) -> bool:
    """Whether a category may have this name: that of another program may be `Street Food`."""
    return FORM.fullmatch(text) is not None and is_line(text)


def _category_name(text: str) -> str:
    if text == ALL or not is_category(text):
        raise ValueError(f"{text!r} is no category such as FLOOD")
    return text


CategoryName = Annotated[str, AfterValidator(_category_name)]


class Categories:
    """The categories of a service."""

    def __init__(self, others: Iterable[str] = (), *, others_write: bool = False) -> None:
        """Take categories beside the usual ones, and whether other programs may write sightings of further ones."""
        self.names = tuple(dict.fromkeys((*USUAL, *others)))
        self._others_write = others_write

    def check_wanted(self, argument: str, category: str) -> None:
        """Check that there may be sightings of a category.

        Raises:
            BadUserInput: There are none.
        """
        if not self._others_write or category == ALL:
            self.check(argument, category)

    def check(self, argument: str, category: str) -> None:
        """Check that there is a category.

        Raises:
            BadUserInput: There is none of this name.
        """
        if category not in self.names:
            raise BadUserInput(f"`{argument}` must be one of {', '.join(self.names)}.")
