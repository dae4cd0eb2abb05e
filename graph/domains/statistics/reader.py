"""The statistics of any selection of the catalogue."""

from functools import partial

from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.revisions.views import LATEST
from graph.domains.earthquakes.selection import Selection
from graph.domains.statistics.events import READABLE
from graph.domains.statistics.other_types import OtherTypes
from graph.domains.statistics.population import Population
from graph.domains.statistics.statistics import Statistics
from graph.store.contract import Database
from graph.store.query import Needed


class StatisticsReader:
    """Counts what is selected, and reads events where counts do not suffice."""

    def __init__(self, database: Database, catalogue: Catalogue, *, most_events: int) -> None:
        """Prepare the statistics.

        Args:
            most_events: to read for one selection.
        """
        self._database = database
        self._catalogue = catalogue
        self._most_events = most_events
        self._other_types = OtherTypes(database, catalogue.summaries)

    async def of(self, selection: Selection, attributes: Needed = None) -> Statistics:
        """Statistics of the selected events: of earthquakes alone, unless the selection names types.

        The events are counted at once.

        Args:
            attributes: those that the selected statistics need of events; None for all.

        Raises:
            QueryTooComplex: Counting would read too many events.
        """
        population = Population(
            self._database,
            self._catalogue.summaries,
            self._other_types,
            partial(self._catalogue.planner.days, stream=LATEST, forward=True),
            await self._catalogue.locate(selection),
            attributes=READABLE if attributes is None else (attributes & READABLE) | {"mag"},
            most_events=self._most_events,
        )
        await population.bins()
        return Statistics(self._database, population, most_days_read=self._catalogue.most_days)
