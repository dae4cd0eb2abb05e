"""The statistics of any selection of the catalogue."""

from dataclasses import dataclass
from functools import partial

from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.views import PRESENT, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.statistics.events import READABLE
from graph.domains.statistics.other_types import OtherTypes
from graph.domains.statistics.population import Population
from graph.domains.statistics.statistics import Statistics
from graph.store.contract import Database
from graph.store.query import Needed


@dataclass(eq=False)
class StatisticsReader:
    """Counts what is selected, and reads events where counts do not suffice."""

    database: Database
    catalogue: Catalogue
    most_events: int  # to read for one selection

    def __post_init__(self) -> None:
        self._history = History(self.database)
        self._other_types = OtherTypes(self.database, self.catalogue.summaries)

    async def of(self, selection: Selection, attributes: Needed = None, view: View = PRESENT) -> Statistics:
        """Statistics of the selected events: of earthquakes alone, unless the selection names types.

        The events are counted at once.

        Args:
            attributes: those that the selected statistics need of events; None for all.
            view: without deleted events.

        Raises:
            HistoryUnavailable: The view is of a time before the first ingest, and no version of then is stored.
            QueryTooComplex: Counting would read too many events.
        """
        population = Population(
            self.database,
            self.catalogue.summaries,
            self._other_types,
            partial(self.catalogue.planner.days, forward=True),
            await self.catalogue.locate(selection),
            attributes=READABLE if attributes is None else (attributes & READABLE) | {"mag"},
            most_events=self.most_events,
            view=view,
        )
        await self._history.check(view.as_of)
        await self._history.check(view.as_of, found=await population.total() > 0)
        return Statistics(self.database, population, most_days_read=self.catalogue.most_days)
