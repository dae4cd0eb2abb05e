"""Statistics of the catalogue."""

from datetime import date
from typing import Annotated

import strawberry
from strawberry.types import Info

from graph.api.context import Context
from graph.api.recorded import recorded
from graph.api.scalars import describe_enum
from graph.api.schema import before
from graph.api.scopes import RequiresScope
from graph.api.selected import needs, selected_attributes
from graph.api.sizes import Cost, ListSize
from graph.domains.earthquakes import model
from graph.domains.earthquakes.cells import COARSE_DEGREES
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN
from graph.domains.earthquakes.schema.events import Event
from graph.domains.earthquakes.schema.filters import EventFilter, filter_facts
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.domains.statistics import b_positive as b_values
from graph.domains.statistics import gutenberg_richter, in_space, moment, statistics
from graph.domains.statistics import inter_event_times as gaps
from graph.domains.statistics import rates as event_rates
from graph.domains.statistics import series as of_periods
from graph.domains.statistics.reader import StatisticsReader
from graph.domains.statistics.schema.b_values import BPositive, Confidence, GutenbergRichter
from graph.domains.statistics.schema.statistics_of_events import (
    DepthHistogram,
    EventRate,
    Grid,
    InterEventTimes,
    SeismicMoment,
)

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
OF_EVENTS = Cost(weight="10")  # a part that reads events, which are charged as they are read


describe_enum(
    of_periods.Interval, "The length of the periods of a series, UTC.", lambda interval: f"A {interval.name.lower()}."
)


@strawberry.type(description="The number of events in each period, without gaps.")
class CountSeries:
    interval: of_periods.Interval = strawberry.field(description="The length of a period.")
    start: date | None = strawberry.field(description="First day of the first period, UTC; null if there is none.")
    counts: list[int] = strawberry.field(
        description="The events of each period, zeros included. The time range may cut the first and the last period.",
        directives=[ListSize(assumed_size=of_periods.MOST_PERIODS), Cost(weight="0.02")],  # only numbers
    )


@strawberry.type(description="The events of a magnitude bin of 0.1.")
class MagnitudeBin:
    magnitude: float = strawberry.field(description="Lower edge: a bin 4.5 has the magnitudes from 4.5 to below 4.6.")
    count: int = strawberry.field(description="Events of this bin.")
    cumulative: int = strawberry.field(description="Events of this bin and of all higher bins.")


@strawberry.type(description="The magnitude from which on the catalogue seems to be complete.")
class Completeness:
    magnitude: float | None = strawberry.field(
        description="By maximum curvature, the bin with the most events: Wiemer and Wyss (2000), BSSA 90, 859-869; "
        "0.2 higher, unless `corrected` is false."
    )
    reason: str | None = strawberry.field(description="Why there is no estimate; null if there is one.")


Corrected = Annotated[
    bool,
    strawberry.argument(
        description="Add 0.2 to the magnitude of maximum curvature, as is usual: Woessner and Wiemer (2005), BSSA 95, "
        "684-698. Without it, b comes out too small."
    ),
]
CompletenessMagnitude = Annotated[
    float | None,
    strawberry.argument(
        description="The magnitude of completeness, on a tenth, such as 2.5; by default it is estimated."
    ),
]


@strawberry.type(
    description="Statistics of the selected events: of earthquakes alone, unless the filter names `types`. Earthquakes "
    "are the events of type `earthquake`, in any case, and those without a type."
)
class CatalogueStatistics:
    @strawberry.field(description="The number of events.", directives=[Cost(weight="1")], metadata=needs())
    @staticmethod
    async def count(selected: strawberry.Parent[statistics.Statistics]) -> int:
        return (await selected.counts()).total()

    @strawberry.field(
        description="The event with the greatest magnitude, the latest of equals. Null if there is none, "
        "or if the events of the greatest bin are on too many days.",
        graphql_type=Event | None,
        directives=[Cost(weight="10")],
        metadata=needs(),
    )
    @staticmethod
    async def largest(
        selected: strawberry.Parent[statistics.Statistics], info: Info[Context, None]
    ) -> model.Event | None:
        return await selected.largest(selected_attributes(info, model.Event))

    @strawberry.field(
        description="The number of events over time: from the start of the time range to its end or, "
        "where it is open, from the first event to the last.",
        graphql_type=CountSeries,
        directives=[Cost(weight="10")],
        metadata=needs(),
    )
    @staticmethod
    async def series(
        selected: strawberry.Parent[statistics.Statistics],
        interval: Annotated[
            of_periods.Interval, strawberry.argument(description="The length of a period.")
        ] = of_periods.Interval.MONTH,
    ) -> of_periods.Series:
        return await selected.series(interval)

    @strawberry.field(
        description="The number of events by magnitude: the bins from the least to the greatest, zeros included.",
        graphql_type=list[MagnitudeBin],
        directives=[ListSize(assumed_size=GREATEST_BIN - LEAST_BIN + 1)],
        metadata=needs(),
    )
    @staticmethod
    async def magnitude_frequency(
        selected: strawberry.Parent[statistics.Statistics],
    ) -> list[gutenberg_richter.MagnitudeBin]:
        return gutenberg_richter.distribution(await selected.counts())

    @strawberry.field(
        description="The magnitude of completeness, by maximum curvature.",
        graphql_type=Completeness,
        metadata=needs(),
    )
    @staticmethod
    async def completeness(
        selected: strawberry.Parent[statistics.Statistics], corrected: Corrected = True
    ) -> gutenberg_richter.Completeness:
        return await selected.completeness(given=None, corrected=corrected)

    @strawberry.field(
        description="The Gutenberg-Richter relation.",
        graphql_type=GutenbergRichter,
        metadata=needs("mag", "net"),
    )
    @staticmethod
    async def gutenberg_richter(
        selected: strawberry.Parent[statistics.Statistics],
        completeness_magnitude: CompletenessMagnitude = None,
        corrected: Corrected = True,
    ) -> statistics.Relation:
        least = await selected.completeness(given=completeness_magnitude, corrected=corrected)
        return await selected.gutenberg_richter(least)

    @strawberry.field(
        description="The b-value of positive differences of magnitudes.",
        graphql_type=BPositive,
        directives=[OF_EVENTS],
        metadata=needs("mag"),
    )
    @staticmethod
    async def b_positive(
        selected: strawberry.Parent[statistics.Statistics],
        least_difference: Annotated[
            float, strawberry.argument(description="The least difference of magnitudes, on a tenth from 0.1 to 2.")
        ] = 0.1,
        completeness_magnitude: Annotated[
            float | None,
            strawberry.argument(description="Leave out events below this magnitude, on a tenth; by default none."),
        ] = None,
    ) -> b_values.BPositive:
        return await selected.b_positive(least_difference, completeness_magnitude)

    @strawberry.field(
        description="The number of events in a year. The time range is that of the filter or, where it is open, from "
        "the day of the first event to that of the last. Empty without events and without a time range.",
        graphql_type=list[EventRate],
        directives=[ListSize(slicing_arguments=["magnitudes"], assumed_size=13), Cost(weight="10")],
        metadata=needs(),
    )
    @staticmethod
    async def rates(
        selected: strawberry.Parent[statistics.Statistics],
        magnitudes: Annotated[
            list[float] | None,
            strawberry.argument(
                description=f"Least magnitudes, on tenths, at most {event_rates.MOST_MAGNITUDES}; "
                "by default each whole one."
            ),
        ] = None,
        confidence: Confidence = 0.95,
    ) -> list[event_rates.Rate]:
        return await selected.rates(magnitudes, confidence)

    @strawberry.field(
        description="The sum of seismic moments.",
        graphql_type=SeismicMoment,
        directives=[OF_EVENTS],
        metadata=needs("mag"),
    )
    @staticmethod
    async def seismic_moment(selected: strawberry.Parent[statistics.Statistics]) -> moment.SeismicMoment:
        return await selected.seismic_moment()

    @strawberry.field(
        description="The number of events by depth.",
        graphql_type=DepthHistogram,
        directives=[OF_EVENTS],
        metadata=needs("mag", "depth"),
    )
    @staticmethod
    async def depths(
        selected: strawberry.Parent[statistics.Statistics],
        bin_km: Annotated[float, strawberry.argument(description="Width of a bin, km.")] = 10,
    ) -> in_space.Depths:
        return await selected.depths(bin_km)

    @strawberry.field(
        description="The times between one event and the next.",
        graphql_type=InterEventTimes,
        directives=[
            ListSize(slicing_arguments=["quantiles"], sized_fields=["quantiles"], assumed_size=len(QUANTILES)),
            OF_EVENTS,
        ],
        metadata=needs("mag"),
    )
    @staticmethod
    async def inter_event_times(
        selected: strawberry.Parent[statistics.Statistics],
        quantiles: Annotated[
            list[float] | None,
            strawberry.argument(
                description=f"Parts of all times, 0 … 1, at most {gaps.MOST_QUANTILES}; "
                "by default 0.05, 0.25, 0.5, 0.75 and 0.95."
            ),
        ] = None,
    ) -> gaps.InterEventTimes:
        return await selected.inter_event_times(QUANTILES if quantiles is None else quantiles)

    @strawberry.field(
        description="The number of events in the cells of a grid, for maps. If they are too many to be read, "
        f"summaries count those of a time range, in cells of {COARSE_DEGREES} degrees or a multiple of that. Cells are "
        "cut in decimal. 180° east is 180° west, where the first cells begin.",
        graphql_type=Grid,
        directives=[OF_EVENTS],
        metadata=needs("mag", "lat", "lon"),
    )
    @staticmethod
    async def grid(
        selected: strawberry.Parent[statistics.Statistics],
        degrees_per_cell: Annotated[
            float,
            strawberry.argument(
                description=f"Height and width of a cell, degrees, {in_space.LEAST_DEGREES:g} … "
                f"{in_space.GREATEST_DEGREES:g}. At most {in_space.MOST_CELLS:,} cells may have events."
            ),
        ] = 5,
    ) -> in_space.Grid:
        return await selected.grid(degrees_per_cell)


@strawberry.type
class StatisticsQueries:
    @strawberry.field(
        description="Statistics of the catalogue: of earthquakes alone, unless the filter names `types`. By time and "
        "magnitudes on tenths, events are counted by the summaries of each day and year, and by themselves otherwise; "
        "then, and for what needs the events themselves, their number is limited.",
        graphql_type=CatalogueStatistics,
        directives=[RequiresScope(scope=EVENTS_READ), Cost(weight="10")],
        metadata={**recorded("/earthquakes/statistics", facts=filter_facts), **before("ingestStatus")},
    )
    async def catalogue_statistics(
        self,
        info: Info[Context, None],
        filter: Annotated[
            EventFilter | None, strawberry.argument(description="Which events; by default all earthquakes.")
        ] = None,
    ) -> statistics.Statistics:
        selection = filter.selection if filter else Selection()
        return await info.context.service(StatisticsReader).of(selection, selected_attributes(info, model.Event))
