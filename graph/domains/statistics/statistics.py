"""Statistics of a selection of the catalogue. Each part is computed when it is called, and gives way to other work."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Annotated

from graph.core.days import hour_of
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.facets import MAGNITUDE_TYPE, NETWORK
from graph.domains.earthquakes.magnitudes import bin_of
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.views import PRESENT
from graph.domains.statistics import assessment
from graph.domains.statistics.assessment import Confidence
from graph.domains.statistics.b_positive import BPositive, b_positive
from graph.domains.statistics.events import Events
from graph.domains.statistics.groups import MOST_GROUPS, EventGrouping, EventGroups, Groups, NumberSummary, summary_of
from graph.domains.statistics.gutenberg_richter import Completeness, completeness, gutenberg_richter
from graph.domains.statistics.in_space import (
    GREATEST_DEGREES,
    LEAST_DEGREES,
    MOST_CELLS,
    DepthCounts,
    Depths,
    Grid,
    GridCounts,
    TooManyCells,
    grid_of_coarse_cells,
)
from graph.domains.statistics.inter_event_times import MOST_QUANTILES, InterEventTimes, inter_event_times
from graph.domains.statistics.largest import largest_of
from graph.domains.statistics.magnitude_relation import MagnitudeRelation
from graph.domains.statistics.moment import SeismicMoment, seismic_moment
from graph.domains.statistics.other_types import BY_COARSE_CELL, by_text
from graph.domains.statistics.population import Population, TooManyEvents
from graph.domains.statistics.rates import MOST_MAGNITUDES, EventRate, rates
from graph.domains.statistics.series import Series, SeriesInterval, check_length, series_of
from graph.geography.cells import COARSE_DEGREES
from graph.store.contract import Database
from graph.store.query import Needed
from graph.work.account import give_way

EVENTS_AT_ONCE = 2_000  # counted in columns, in some milliseconds
MOST_DIFFERENCE_BINS = 20  # two magnitudes
GROUPED = {EventGrouping.TYPE: "type", EventGrouping.MAGNITUDE_TYPE: "magType", EventGrouping.PLACE: "place"}
COUNTED = {EventGrouping.NETWORK: by_text(NETWORK), EventGrouping.MAGNITUDE_TYPE: by_text(MAGNITUDE_TYPE)}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a population. Most methods are fields of the graph, so their arguments have descriptions."""

    database: Database
    population: Population
    most_days_read: int  # in the search for the largest event

    async def counts(self) -> Counter[int]:
        """Lower edge of a magnitude bin, in tenths → the number of its events."""
        return await self.population.tenths()

    async def gutenberg_richter(self, least: Completeness) -> MagnitudeRelation:
        """The relation of the events from a magnitude of completeness on."""
        counts = await self.counts()
        if await self.population.lacks_greater():
            # The cut would make the slope too steep.
            reason = "It takes all great events, and `maxMagnitude` leaves some out: raise it, or leave it out."
            return MagnitudeRelation(population=self.population, completeness=least.magnitude, no_estimate=reason)
        years = await self.population.years()
        found = gutenberg_richter(counts, least, years=years)
        return MagnitudeRelation(**vars(found), population=self.population)

    async def completeness(self, *, given: float | None, corrected: bool) -> Completeness:
        """The given magnitude of completeness, or that of maximum curvature.

        Raises:
            BadUserInput: The given one is not on a tenth.
        """
        if given is not None:
            return Completeness.given(given)
        return completeness(await self.counts(), corrected=corrected)

    async def series(
        self, interval: Annotated[SeriesInterval, "The length of a period."] = SeriesInterval.MONTH
    ) -> Series:
        """The number of events in each period: over the time range or, where it is open, to the outermost event.

        Raises:
            BadUserInput: There are too many periods.
        """
        population, selection = self.population, self.population.selection
        if population.span.is_empty:
            return Series(interval)
        first_ms, last_ms = selection.span
        first = None if selection.start_ms is None else hour_of(first_ms)
        last = None if selection.end_ms is None else hour_of(last_ms)
        if interval is not SeriesInterval.HOUR:
            counted = await population.days(years=interval is SeriesInterval.YEAR)
            return series_of(counted, interval, first=first, last=last)
        outermost = (first, last) if first and last else await population.outermost_days()
        if (begin := first or outermost[0]) and (end := last or outermost[1]):
            check_length(begin, end, interval)
        events = await population.events()
        if isinstance(events, TooManyEvents):
            return Series(interval, reason=events.reason)
        return series_of(Counter(map(hour_of, events.times)), interval, first=first, last=last)

    async def largest(self, attributes: Needed = None) -> Event | None:
        """The event with the greatest magnitude, the latest of equals.

        None if there is no event, or if finding it could take too many days.

        Raises:
            BadUserInput: The statistics are of another time.
        """
        if self.population.view != PRESENT:
            raise BadUserInput("`largest` is an event as it is now: with `asOf`, ask for `magnitude { greatest }`.")
        return await largest_of(self.database, self.population, attributes, most_days_read=self.most_days_read)

    async def rates(
        self,
        magnitudes: Annotated[
            Sequence[float] | None,
            f"Least magnitudes, on tenths, at most {MOST_MAGNITUDES}; by default each whole one.",
        ] = None,
        confidence: Confidence = 0.95,
    ) -> list[EventRate]:
        """The number of events a year of at least some magnitudes; none without a time range.

        Raises:
            BadUserInput: A magnitude or the confidence is not possible.
        """
        assessment.check_confidence(confidence)
        years = await self.population.years()
        return rates(await self.counts(), years, magnitudes, confidence) if years else []

    async def seismic_moment(self) -> SeismicMoment:
        """The sum of seismic moments: of each event or, of too many, of bins, except those on a bin's edge."""
        events = await self.population.events()
        if not isinstance(events, TooManyEvents):
            return seismic_moment(Counter(events.magnitudes), {})
        bins = (await self.population.bins()).items()
        edges = {tenths / 10: count for (tenths, on_edge), count in bins if on_edge}
        return seismic_moment(edges, {tenths: count for (tenths, on_edge), count in bins if not on_edge})

    async def b_positive(
        self,
        least_difference: Annotated[float, "The least difference of magnitudes, on a tenth from 0.1 to 2."] = 0.1,
        completeness_magnitude: Annotated[
            float | None,
            "Leave out events below this magnitude, on a tenth; by default none.",
        ] = None,
    ) -> BPositive:
        """The b-value of positive differences of magnitudes.

        Raises:
            BadUserInput: The difference or the completeness is not on a tenth, or not possible.
        """
        bins, is_whole = bin_of(least_difference)
        if not is_whole or not 1 <= bins <= MOST_DIFFERENCE_BINS:
            raise BadUserInput("`leastDifference` must be on a tenth from 0.1 to 2.")
        least = None if completeness_magnitude is None else Completeness.given(completeness_magnitude).magnitude
        events = await self.population.events()
        if isinstance(events, TooManyEvents):
            return BPositive(reason=events.reason)
        begin = None if least is None else round(least * 10)
        return b_positive([tenths for tenths in events.tenths if begin is None or tenths >= begin], bins)

    async def depths(self, bin_km: Annotated[float, "Width of a bin, km."] = 10) -> Depths:
        """The number of events by depth.

        Raises:
            BadUserInput: The width of a bin is not possible, or there are too many bins.
        """
        counts = DepthCounts(bin_km)
        events = await self.population.events()
        if isinstance(events, TooManyEvents):
            return Depths(reason=events.reason)
        async for part in _parts(events):
            counts.add(events.depths[part])
        return counts.histogram(len(events))

    async def groups(
        self,
        by: Annotated[EventGrouping, "What they are grouped by."],
        limit: Annotated[int, f"At most so many groups, 1 … {MOST_GROUPS:,}."] = 10,
    ) -> EventGroups:
        """The number of events by a text; of too many events, by those texts that the summaries count.

        Raises:
            BadUserInput: The limit is not possible.
        """
        groups = Groups(by, limit)
        events = await self.population.events()
        if isinstance(events, TooManyEvents):
            facet = COUNTED.get(by)
            counts = await self.population.counted_by(facet) if facet else None
            # Unusual texts have no names of their own, and an event without a network has that of its id.
            unnamed = by is EventGrouping.NETWORK
            if counts is None or any(name.startswith("~") or (unnamed and not name) for name in counts):
                return EventGroups(reason=events.reason)
            groups.count(counts)
            return groups.found()
        texts = events.networks if by is EventGrouping.NETWORK else events.texts[GROUPED[by]]
        async for part in _parts(events):
            groups.add(texts[part], events.magnitudes[part])
        return groups.found()

    async def magnitude(self) -> NumberSummary:
        """The extent of the magnitudes."""
        events = await self.population.events()
        if isinstance(events, TooManyEvents):
            return NumberSummary(reason=events.reason)
        return summary_of(events.magnitudes)

    async def depth(self) -> NumberSummary:
        """The extent of the known depths."""
        events = await self.population.events()
        if isinstance(events, TooManyEvents):
            return NumberSummary(reason=events.reason)
        return summary_of([depth for depth in events.depths if not isnan(depth)])

    async def inter_event_times(
        self,
        quantiles: Annotated[
            Sequence[float] | None,
            f"Parts of all times, 0 … 1, at most {MOST_QUANTILES}; by default 0.05, 0.25, 0.5, 0.75 and 0.95.",
        ] = None,
    ) -> InterEventTimes:
        """The times between events.

        Raises:
            BadUserInput: A quantile is not possible.
        """
        events = await self.population.events()
        if isinstance(events, TooManyEvents):
            return InterEventTimes(reason=events.reason)
        return inter_event_times(events.times, QUANTILES if quantiles is None else quantiles)

    async def grid(
        self,
        degrees_per_cell: Annotated[
            float,
            f"Height and width of a cell, degrees, {LEAST_DEGREES:g} … {GREATEST_DEGREES:g}. "
            f"At most {MOST_CELLS:,} cells may have events.",
        ] = 5,
    ) -> Grid:
        """The number of events in each cell of a grid; of too many events, by cells that the summaries count.

        Raises:
            BadUserInput: The size of a cell is not possible.
        """
        counts = GridCounts(degrees_per_cell)
        events = await self.population.events()
        if isinstance(events, TooManyEvents):
            return await self._coarse_grid(degrees_per_cell, events)
        try:
            async for part in _parts(events):
                counts.add(zip(events.lats[part], events.lons[part], events.magnitudes[part], strict=True))
        except TooManyCells:
            reason = f"More than {MOST_CELLS:,} cells have events: take a greater `degreesPerCell`."
            return Grid(degrees_per_cell, reason=reason)
        return counts.grid()

    async def _coarse_grid(self, degrees: float, too_many: TooManyEvents) -> Grid:
        if not self.population.has_facets:
            return Grid(degrees, reason=too_many.reason)
        if degrees % COARSE_DEGREES:
            advice = f"narrow the time range or the area, or take cells of {COARSE_DEGREES} degrees"
            return Grid(degrees, reason=f"{too_many.limit}: {advice}.")
        counts = await self.population.counted_by(BY_COARSE_CELL)
        return Grid(degrees, reason=too_many.reason) if counts is None else grid_of_coarse_cells(int(degrees), counts)


async def _parts(events: Events) -> AsyncIterator[slice]:
    """The events, some at a time."""
    for start in range(0, len(events), EVENTS_AT_ONCE):
        yield slice(start, start + EVENTS_AT_ONCE)
        await give_way()
