"""How serious an event is by PAGER, and who has looked at it, as enumerations beside the source's own texts."""

from graph.core.described import DescribedText
from graph.store.folding import fold


class AlertLevel(DescribedText):
    """A level of PAGER, USGS's estimate of an earthquake's impact.

    It follows from the estimated fatalities and losses: https://earthquake.usgs.gov/data/pager/.
    """

    GREEN = "green", "Little or no damage and no fatalities are expected."
    YELLOW = "yellow", "Some damage and fatalities are possible; the impact should be local."
    ORANGE = "orange", "Significant damage and fatalities are likely; the impact may be regional."
    RED = "red", "High fatalities and extensive damage are probable; the impact may be national or international."


class ReviewStatus(DescribedText):
    """Whether a seismologist has looked at an event."""

    AUTOMATIC = "automatic", "Computers located it, and no person has confirmed it."
    REVIEWED = "reviewed", "A seismologist has reviewed it."
    DELETED = "deleted", "The source has deleted it."


ALERT_LEVELS = {fold(each.value): each for each in AlertLevel}
REVIEW_STATUSES = {fold(each.value): each for each in ReviewStatus}
"""Folded text of the source → its meaning."""
