"""Readers of statistics for the tests."""

from graph.domains.statistics.reader import StatisticsReader
from graph.store.contract import Database
from tests.domains.earthquakes.builders import catalogue_of


def statistics_of(database: Database, *, most_events: int = 100_000) -> StatisticsReader:
    """The statistics of the catalogue in a table, with nothing remembered yet."""
    return StatisticsReader(database, catalogue_of(database), most_events=most_events)
