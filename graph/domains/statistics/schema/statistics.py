"""Statistics of the catalogue."""

from typing import Annotated

import strawberry

from graph.api.context import Info
from graph.api.fields import field
from graph.api.record_type import record_type
from graph.api.scalars import describe_enum
from graph.api.selected import selected_attributes
from graph.api.sizes import Cost, ListSize
from graph.api.values import value_type
from graph.domains.earthquakes import model
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN
from graph.domains.earthquakes.schema.filters import EventFilter, filter_facts
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.domains.statistics import b_positive as b_values
from graph.domains.statistics import gutenberg_richter, in_space, moment, statistics
from graph.domains.statistics import inter_event_times as gaps
from graph.domains.statistics import rates as event_rates
from graph.domains.statistics import series as of_periods
from graph.domains.statistics.reader import StatisticsReader
from graph.domains.statistics.schema.b_values import Confidence
from graph.geography.cells import COARSE_DEGREES

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
OF_EVENTS = 10  # a part that reads events, which are charged as they are read


describe_enum(
    of_periods.Interval, "The length of the periods of a series, UTC.", lambda interval: f"A {interval.name.lower()}."
)


value_type(
    of_periods.Series,
    "CountSeries",
    counts=[ListSize(assumed_size=of_periods.MOST_PERIODS), Cost(weight="0.02")],  # only numbers
)
value_type(gutenberg_richter.MagnitudeBin)
value_type(gutenberg_richter.Completeness)
value_type(event_rates.Rate, "EventRate")
value_type(moment.SeismicMoment)
value_type(in_space.DepthBin, each=[Cost(weight="0.1")])
value_type(in_space.Depths, "DepthHistogram", bins=[ListSize(assumed_size=in_space.MOST_DEPTH_BINS)])
value_type(gaps.Quantile, "TimeQuantile")
value_type(gaps.InterEventTimes)
value_type(in_space.GridCell, each=[Cost(weight="0.0625")])  # of up to 10,000 cells
value_type(in_space.Grid, cells=[ListSize(assumed_size=in_space.MOST_CELLS)])

Corrected = Annotated[
    bool,
    "Add 0.2 to the magnitude of maximum curvature, as is usual: Woessner and Wiemer (2005), BSSA 95, "
    "684-698. Without it, b comes out too small.",
]
CompletenessMagnitude = Annotated[
    float | None,
    "The magnitude of completeness, on a tenth, such as 2.5; by default it is estimated.",
]


@record_type(
    statistics.Statistics,
    "Statistics of the selected events: of earthquakes alone, unless the filter names `types`. Earthquakes "
    "are the events of type `earthquake`, in any case, and those without a type.",
)
class CatalogueStatistics:
    @field("The number of events.", cost=1, reads=[])
    @staticmethod
    async def count(selected: strawberry.Parent[statistics.Statistics]) -> int:
        return (await selected.counts()).total()

    @field(
        "The event with the greatest magnitude, the latest of equals. Null if there is none, "
        "or if the events of the greatest bin are on too many days.",
        cost=10,
        reads=[],
    )
    @staticmethod
    async def largest(selected: strawberry.Parent[statistics.Statistics], info: Info) -> model.Event | None:
        return await selected.largest(selected_attributes(info, model.Event))

    @field(
        "The number of events over time: from the start of the time range to its end or, "
        "where it is open, from the first event to the last.",
        cost=10,
        reads=[],
    )
    @staticmethod
    async def series(
        selected: strawberry.Parent[statistics.Statistics],
        interval: Annotated[of_periods.Interval, "The length of a period."] = of_periods.Interval.MONTH,
    ) -> of_periods.Series:
        return await selected.series(interval)

    @field(
        "The number of events by magnitude: the bins from the least to the greatest, zeros included.",
        size=GREATEST_BIN - LEAST_BIN + 1,
        reads=[],
    )
    @staticmethod
    async def magnitude_frequency(
        selected: strawberry.Parent[statistics.Statistics],
    ) -> list[gutenberg_richter.MagnitudeBin]:
        return gutenberg_richter.distribution(await selected.counts())

    @field("The magnitude of completeness, by maximum curvature.", reads=[])
    @staticmethod
    async def completeness(
        selected: strawberry.Parent[statistics.Statistics], corrected: Corrected = True
    ) -> gutenberg_richter.Completeness:
        return await selected.completeness(given=None, corrected=corrected)

    @field("The Gutenberg-Richter relation.", reads=["mag", "net"])
    @staticmethod
    async def gutenberg_richter(
        selected: strawberry.Parent[statistics.Statistics],
        completeness_magnitude: CompletenessMagnitude = None,
        corrected: Corrected = True,
    ) -> statistics.MagnitudeRelation:
        least = await selected.completeness(given=completeness_magnitude, corrected=corrected)
        return await selected.gutenberg_richter(least)

    @field("The b-value of positive differences of magnitudes.", cost=OF_EVENTS, reads=["mag"])
    @staticmethod
    async def b_positive(
        selected: strawberry.Parent[statistics.Statistics],
        least_difference: Annotated[float, "The least difference of magnitudes, on a tenth from 0.1 to 2."] = 0.1,
        completeness_magnitude: Annotated[
            float | None,
            "Leave out events below this magnitude, on a tenth; by default none.",
        ] = None,
    ) -> b_values.BPositive:
        return await selected.b_positive(least_difference, completeness_magnitude)

    @field(
        "The number of events in a year. The time range is that of the filter or, where it is open, from "
        "the day of the first event to that of the last. Empty without events and without a time range.",
        size=ListSize(slicing_arguments=["magnitudes"], assumed_size=13),
        cost=10,
        reads=[],
    )
    @staticmethod
    async def rates(
        selected: strawberry.Parent[statistics.Statistics],
        magnitudes: Annotated[
            list[float] | None,
            f"Least magnitudes, on tenths, at most {event_rates.MOST_MAGNITUDES}; by default each whole one.",
        ] = None,
        confidence: Confidence = 0.95,
    ) -> list[event_rates.Rate]:
        return await selected.rates(magnitudes, confidence)

    @field("The sum of seismic moments.", cost=OF_EVENTS, reads=["mag"])
    @staticmethod
    async def seismic_moment(selected: strawberry.Parent[statistics.Statistics]) -> moment.SeismicMoment:
        return await selected.seismic_moment()

    @field("The number of events by depth.", cost=OF_EVENTS, reads=["mag", "depth"])
    @staticmethod
    async def depths(
        selected: strawberry.Parent[statistics.Statistics],
        bin_km: Annotated[float, "Width of a bin, km."] = 10,
    ) -> in_space.Depths:
        return await selected.depths(bin_km)

    @field(
        "The times between one event and the next.",
        size=ListSize(slicing_arguments=["quantiles"], sized_fields=["quantiles"], assumed_size=len(QUANTILES)),
        cost=OF_EVENTS,
        reads=["mag"],
    )
    @staticmethod
    async def inter_event_times(
        selected: strawberry.Parent[statistics.Statistics],
        quantiles: Annotated[
            list[float] | None,
            f"Parts of all times, 0 … 1, at most {gaps.MOST_QUANTILES}; by default 0.05, 0.25, 0.5, 0.75 and 0.95.",
        ] = None,
    ) -> gaps.InterEventTimes:
        return await selected.inter_event_times(QUANTILES if quantiles is None else quantiles)

    @field(
        "The number of events in the cells of a grid, for maps. If they are too many to be read, "
        f"summaries count those of a time range, in cells of {COARSE_DEGREES} degrees or a multiple of that. Cells are "
        "cut in decimal. 180° east is 180° west, where the first cells begin.",
        cost=OF_EVENTS,
        reads=["mag", "lat", "lon"],
    )
    @staticmethod
    async def grid(
        selected: strawberry.Parent[statistics.Statistics],
        degrees_per_cell: Annotated[
            float,
            f"Height and width of a cell, degrees, {in_space.LEAST_DEGREES:g} … "
            f"{in_space.GREATEST_DEGREES:g}. At most {in_space.MOST_CELLS:,} cells may have events.",
        ] = 5,
    ) -> in_space.Grid:
        return await selected.grid(degrees_per_cell)


@strawberry.type
class StatisticsQueries:
    @field(
        "Statistics of the catalogue: of earthquakes alone, unless the filter names `types`. By time and "
        "magnitudes on tenths, events are counted by the summaries of each day and year, and by themselves otherwise; "
        "then, and for what needs the events themselves, their number is limited.",
        scope=EVENTS_READ,
        cost=10,
        route="/earthquakes/statistics",
        facts=filter_facts,
        before="ingestStatus",
    )
    async def catalogue_statistics(
        self,
        info: Info,
        filter: Annotated[EventFilter | None, "Which events; by default all earthquakes."] = None,
    ) -> statistics.Statistics:
        selection = filter.selection if filter else Selection()
        return await info.context.service(StatisticsReader).of(selection, selected_attributes(info, model.Event))
