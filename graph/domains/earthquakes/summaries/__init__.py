"""Counts of events by day and year, in one item each, from which queries are planned and counted.

Other folders use only what stands here: a `Tally` is what an ingest adds, `Summaries` are what a query reads.
"""

from graph.domains.earthquakes.summaries.check import check_forever
from graph.domains.earthquakes.summaries.facets_of_days import add_entries
from graph.domains.earthquakes.summaries.reader import CACHED_YEARS, Summaries
from graph.domains.earthquakes.summaries.recount import RebuildReport, rebuild_summaries, recount
from graph.domains.earthquakes.summaries.state import SUMMARY_CHECK, SummaryStatusReader
from graph.domains.earthquakes.summaries.summary import ITEMS_OF_A_PERIOD, Counted, Summary, Tally
from graph.domains.earthquakes.summaries.year_of_days import Bounds, YearOfDays

__all__ = [
    "CACHED_YEARS",
    "ITEMS_OF_A_PERIOD",
    "SUMMARY_CHECK",
    "Bounds",
    "Counted",
    "RebuildReport",
    "Summaries",
    "Summary",
    "SummaryStatusReader",
    "Tally",
    "YearOfDays",
    "add_entries",
    "check_forever",
    "rebuild_summaries",
    "recount",
]
