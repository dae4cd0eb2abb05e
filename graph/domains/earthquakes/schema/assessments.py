"""How serious an event is by PAGER, and who has looked at it, as enumerations beside the source's own texts."""

from enum import Enum

from graph.api.scalars import describe_enum
from graph.store.folding import fold


class AlertLevel(Enum):
    """A level of PAGER, by the estimated fatalities and losses: https://earthquake.usgs.gov/data/pager/."""

    GREEN = "green"
    YELLOW = "yellow"
    ORANGE = "orange"
    RED = "red"


class ReviewStatus(Enum):
    """Whether a seismologist has looked at an event."""

    AUTOMATIC = "automatic"
    REVIEWED = "reviewed"
    DELETED = "deleted"


ALERT_LEVELS = {fold(each.value): each for each in AlertLevel}
REVIEW_STATUSES = {fold(each.value): each for each in ReviewStatus}
"""Folded text of the source → its meaning."""

describe_enum(
    AlertLevel,
    "A level of PAGER, USGS's estimate of an earthquake's impact.",
    GREEN="Little or no damage and no fatalities are expected.",
    YELLOW="Some damage and fatalities are possible; the impact should be local.",
    ORANGE="Significant damage and fatalities are likely; the impact may be regional.",
    RED="High fatalities and extensive damage are probable; the impact may be national or international.",
)
describe_enum(
    ReviewStatus,
    "Whether a seismologist has looked at an event.",
    AUTOMATIC="Computers located it, and no person has confirmed it.",
    REVIEWED="A seismologist has reviewed it.",
    DELETED="The source has deleted it.",
)
