"""Statistics of the catalogue."""

from datetime import date
from typing import Annotated

import strawberry
from strawberry.types import Info

from graph.api.context import Context
from graph.api.recording import recorded
from graph.api.scalars import describe_enum
from graph.api.scopes import RequiresScope
from graph.api.selected import selected_attributes
from graph.api.sizes import Cost, ListSize
from graph.domains.earthquakes import model
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN
from graph.domains.earthquakes.schema.events import Event, TimesAndMagnitudes, filter_facts
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.statistics import gutenberg_richter, statistics


@strawberry.input(
    description="The counted events: those that fulfil all given conditions. Magnitudes must be on tenths, such as 4.5."
)
class StatisticsFilter(TimesAndMagnitudes):
    pass


describe_enum(
    statistics.Interval, "The length of the periods of a series, UTC.", lambda interval: f"A {interval.name.lower()}."
)


@strawberry.type(description="The number of events in each period, without gaps.")
class CountSeries:
    interval: statistics.Interval = strawberry.field(description="The length of a period.")
    start: date | None = strawberry.field(description="First day of the first period, UTC; null if there is none.")
    counts: list[int] = strawberry.field(
        description="The events of each period, zeros included. The time range may cut the first and the last period.",
        directives=[ListSize(assumed_size=statistics.MOST_PERIODS), Cost(weight="0.02")],  # only numbers
    )


@strawberry.type(description="The events of a magnitude bin of 0.1.")
class MagnitudeBin:
    magnitude: float = strawberry.field(description="Lower edge: a bin 4.5 has the magnitudes from 4.5 to below 4.6.")
    count: int = strawberry.field(description="Events of this bin.")
    cumulative: int = strawberry.field(description="Events of this bin and of all higher bins.")


@strawberry.type(description="The magnitude from which on the catalogue seems to be complete.")
class Completeness:
    magnitude: float | None = strawberry.field(
        description="By maximum curvature, the bin with the most events: Wiemer and Wyss (2000), BSSA 90, 859-869."
    )
    reason: str | None = strawberry.field(description="Why there is no estimate; null if there is one.")


@strawberry.type(
    description="The relation log10 N = a - b M, N being the number of events with at least magnitude M, "
    "estimated from the events at and above the magnitude of completeness."
)
class GutenbergRichter:
    b: float | None = strawberry.field(
        description="b-value by maximum likelihood, log10(e) / (mean - (completeness - 0.05)): "
        "Aki (1965), Bull. Earthq. Res. Inst. 43, 237-239, for bins of 0.1 as by Utsu (1966)."
    )
    uncertainty: float | None = strawberry.field(
        description="Standard deviation of b, 2.30 b² times that of the mean: Shi and Bolt (1982), BSSA 72, 1677-1687."
    )
    a: float | None = strawberry.field(description="a-value for the whole time range: log10 N where M is 0.")
    events: int = strawberry.field(description="The number of events in the estimate.")
    reason: str | None = strawberry.field(description="Why there is no estimate; null if there is one.")


Corrected = Annotated[
    bool,
    strawberry.argument(
        description="Take a completeness 0.2 higher, as is usual: Woessner and Wiemer (2005), BSSA 95, 684-698."
    ),
]


@strawberry.type(description="Statistics of the selected events.")
class CatalogueStatistics:
    @strawberry.field(description="The number of events.")
    @staticmethod
    async def count(selected: strawberry.Parent[statistics.Statistics]) -> int:
        return (await selected.counts()).total()

    @strawberry.field(
        description="The event with the greatest magnitude, the latest of equals. Null if there is none, "
        "or if the events of the greatest bin are on too many days.",
        graphql_type=Event | None,
        directives=[Cost(weight="10")],
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
    )
    @staticmethod
    async def series(
        selected: strawberry.Parent[statistics.Statistics],
        interval: Annotated[
            statistics.Interval, strawberry.argument(description="The length of a period.")
        ] = statistics.Interval.MONTH,
    ) -> statistics.Series:
        return await selected.series(interval)

    @strawberry.field(
        description="The number of events by magnitude: the bins from the least to the greatest, zeros included.",
        graphql_type=list[MagnitudeBin],
        directives=[ListSize(assumed_size=GREATEST_BIN - LEAST_BIN + 1)],
    )
    @staticmethod
    async def magnitude_frequency(
        selected: strawberry.Parent[statistics.Statistics],
    ) -> list[gutenberg_richter.MagnitudeBin]:
        return gutenberg_richter.distribution(await selected.counts())

    @strawberry.field(description="The magnitude of completeness.", graphql_type=Completeness)
    @staticmethod
    async def completeness(
        selected: strawberry.Parent[statistics.Statistics], corrected: Corrected = False
    ) -> gutenberg_richter.Completeness:
        return gutenberg_richter.completeness(await selected.counts(), corrected=corrected)

    @strawberry.field(description="The Gutenberg-Richter relation.", graphql_type=GutenbergRichter)
    @staticmethod
    async def gutenberg_richter(
        selected: strawberry.Parent[statistics.Statistics], corrected: Corrected = False
    ) -> gutenberg_richter.GutenbergRichter:
        counts = await selected.counts()
        return selected.gutenberg_richter(counts, gutenberg_richter.completeness(counts, corrected=corrected))


@strawberry.type
class StatisticsQueries:
    @strawberry.field(
        description="Statistics of the catalogue, from its summaries of each day and year.",
        graphql_type=CatalogueStatistics,
        directives=[RequiresScope(scope=EVENTS_READ), Cost(weight="10")],
        metadata=recorded("/earthquakes/statistics", facts=filter_facts),
    )
    async def catalogue_statistics(
        self,
        info: Info[Context, None],
        filter: Annotated[
            StatisticsFilter | None, strawberry.argument(description="Which events; by default all.")
        ] = None,
    ) -> statistics.Statistics:
        return await info.context.service(Catalogue).statistics(filter.selection if filter else Selection())
