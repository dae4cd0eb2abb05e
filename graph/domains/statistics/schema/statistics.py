"""Statistics of the catalogue."""

from collections.abc import Sequence
from typing import Annotated

import strawberry

from graph.api.context import Info
from graph.api.fields import field
from graph.api.record_type import record_type, value_type
from graph.api.selected import selected_attributes
from graph.api.sizes import ListSize
from graph.domains.earthquakes import model
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN
from graph.domains.earthquakes.revisions.views import View
from graph.domains.earthquakes.schema.filters import EventFilter, filter_facts
from graph.domains.earthquakes.schema.revisions import AsOfInput
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.domains.statistics import assessment, b_positive, groups, gutenberg_richter, in_space
from graph.domains.statistics import series as of_periods
from graph.domains.statistics.magnitude_relation import MagnitudeRelation
from graph.domains.statistics.networks import Network
from graph.domains.statistics.population import SAMPLE
from graph.domains.statistics.reader import StatisticsReader
from graph.domains.statistics.reliability import Reliability
from graph.domains.statistics.statistics import QUANTILES, Statistics
from graph.geography.cells import COARSE_DEGREES

OF_EVENTS = 10  # a part that reads events, which are charged as they are read
MOST_NETWORKS = 100
ASSESSED = 10  # a part that takes some milliseconds; what it computes is charged besides

value_type(of_periods.Series, "CountSeries", counts={"size": of_periods.MOST_PERIODS // 50, "cost": 1})  # only numbers
value_type(in_space.Depths, "DepthHistogram", bins={"size": in_space.MOST_DEPTH_BINS // 10})
value_type(groups.EventGroups, groups={"size": groups.MOST_GROUPS})
value_type(in_space.Grid, cells={"size": in_space.MOST_CELLS // 16})  # as quick as so many ordinary objects
value_type(Network, "SeismicNetwork")
value_type(b_positive.BOverTime, "BValuesOverTime", windows={"size": b_positive.MOST_WINDOWS})


@record_type(MagnitudeRelation, feeds=[EVENT_SEQUENCE])
class GutenbergRichter:
    @field(
        "How far b can be trusted: by the tests of the goodness of fit, by the number of great events, and "
        "by whether the events mix networks that are complete from different magnitudes. Null if there is no estimate.",
        cost=ASSESSED,
    )
    @staticmethod
    async def reliability(relation: strawberry.Parent[MagnitudeRelation]) -> Reliability | None:
        judged = await relation.verdict()
        return judged.reliability if judged else None

    reason = field(
        "Why there is no estimate, or why it is not reliable; null if its reliability is `GOOD`.", cost=ASSESSED
    )(MagnitudeRelation.reason)
    goodness_of_fit = field("Whether the magnitudes are exponential. Null if there is no estimate.", cost=ASSESSED)(
        MagnitudeRelation.goodness_of_fit
    )

    @field(
        f"The networks of the events, the most events first, at most {MOST_NETWORKS}. Of more than "
        f"{SAMPLE:,} events, those of some days are counted, which are spread evenly.",
        size=MOST_NETWORKS,
        cost=ASSESSED,
    )
    @staticmethod
    async def networks(relation: strawberry.Parent[MagnitudeRelation]) -> Sequence[Network]:
        return (await relation.networks()).networks[:MOST_NETWORKS]

    bootstrap = field(
        f"The interval of b between quantiles of {assessment.RESAMPLES:,} samples, drawn with replacement "
        "from the events: Efron (1979), Ann. Stat. 7, 1-26. The same events always give the same interval.",
        cost=ASSESSED,
    )(MagnitudeRelation.bootstrap)
    over_time = field(
        "b through time: of windows with a number of events, all with the same completeness.", cost=ASSESSED
    )(MagnitudeRelation.over_time)


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
    Statistics,
    "Statistics of the selected events: of earthquakes alone, unless the filter names `types`. Earthquakes "
    "are the events of type `earthquake`, in any case, and those without a type.",
    feeds=[EVENT_SEQUENCE],
)
class CatalogueStatistics:
    @field("The number of events.", cost=1, reads=[])
    @staticmethod
    async def count(selected: strawberry.Parent[Statistics]) -> int:
        return (await selected.counts()).total()

    @field(
        "The event with the greatest magnitude, the latest of equals. Null if there is none, "
        "or if the events of the greatest bin are on too many days. An error with `asOf`.",
        cost=10,
        feeds=[EVENT_SEQUENCE],
        reads=[],
    )
    @staticmethod
    async def largest(selected: strawberry.Parent[Statistics], info: Info) -> model.Event | None:
        return await selected.largest(selected_attributes(info, model.Event))

    series = field(
        "The number of events over time: from the start of the time range to its end or, "
        "where it is open, from the first event to the last.",
        cost=10,
        reads=[],
    )(Statistics.series)

    @field(
        "The number of events by magnitude: the bins from the least to the greatest, zeros included.",
        size=GREATEST_BIN - LEAST_BIN + 1,
        reads=[],
    )
    @staticmethod
    async def magnitude_frequency(
        selected: strawberry.Parent[Statistics],
    ) -> list[gutenberg_richter.MagnitudeBin]:
        return gutenberg_richter.distribution(await selected.counts())

    @field("The magnitude of completeness, by maximum curvature.", reads=[])
    @staticmethod
    async def completeness(
        selected: strawberry.Parent[Statistics], corrected: Corrected = True
    ) -> gutenberg_richter.Completeness:
        return await selected.completeness(given=None, corrected=corrected)

    @field("The Gutenberg-Richter relation.", reads=["mag", "net"])
    @staticmethod
    async def gutenberg_richter(
        selected: strawberry.Parent[Statistics],
        completeness_magnitude: CompletenessMagnitude = None,
        corrected: Corrected = True,
    ) -> MagnitudeRelation:
        least = await selected.completeness(given=completeness_magnitude, corrected=corrected)
        return await selected.gutenberg_richter(least)

    b_positive = field("The b-value of positive differences of magnitudes.", cost=OF_EVENTS, reads=["mag"])(
        Statistics.b_positive
    )

    rates = field(
        "The number of events in a year. The time range is that of the filter or, where it is open, from "
        "the day of the first event to that of the last. Empty without events and without a time range.",
        size=ListSize(slicing_arguments=["magnitudes"], assumed_size=13),
        cost=10,
        reads=[],
    )(Statistics.rates)

    groups = field(
        "The events by network, type, type of magnitude or region.",
        size=ListSize(slicing_arguments=["limit"], sized_fields=["groups"]),
        cost=OF_EVENTS,
        reads=["mag", "net", "type", "magType", "place"],
    )(Statistics.groups)

    magnitude = field("The least, the greatest and the mean magnitude.", cost=OF_EVENTS, reads=["mag"])(
        Statistics.magnitude
    )

    depth = field("The least, the greatest and the mean depth, km.", cost=OF_EVENTS, reads=["mag", "depth"])(
        Statistics.depth
    )

    seismic_moment = field("The sum of seismic moments.", cost=OF_EVENTS, reads=["mag"])(Statistics.seismic_moment)

    depths = field("The number of events by depth.", cost=OF_EVENTS, reads=["mag", "depth"])(Statistics.depths)

    inter_event_times = field(
        "The times between one event and the next.",
        size=ListSize(slicing_arguments=["quantiles"], sized_fields=["quantiles"], assumed_size=len(QUANTILES)),
        cost=OF_EVENTS,
        reads=["mag"],
    )(Statistics.inter_event_times)

    grid = field(
        "The number of events in the cells of a grid, for maps. If they are too many to be read, "
        f"summaries count those of a time range, in cells of {COARSE_DEGREES} degrees or a multiple of that. Cells are "
        "cut in decimal. 180° east is 180° west, where the first cells begin.",
        cost=OF_EVENTS,
        reads=["mag", "lat", "lon"],
    )(Statistics.grid)


class StatisticsQueries:
    @field(
        "Statistics of the catalogue: of earthquakes alone, unless the filter names `types`. Summaries of days and "
        "years count what a filter by time and magnitudes on tenths selects. For other filters, and for what needs the "
        "events themselves, the events are read, so their number is limited.",
        scope=EVENTS_READ,
        cost=10,
        feeds=[EVENT_SEQUENCE],
        route="/earthquakes/statistics",
        facts=filter_facts,
        before="ingestStatus",
    )
    async def catalogue_statistics(
        self,
        info: Info,
        filter: Annotated[EventFilter | None, "Which events; by default all earthquakes."] = None,
        as_of: Annotated[
            AsOfInput | None,
            "The catalogue of another time; by default the present one. Then versions are read, so their number is "
            "limited.",
        ] = None,
    ) -> Statistics:
        selection, view = filter.selection if filter else Selection(), View(as_of.value if as_of else None)
        return await info.context.service(StatisticsReader).of(selection, selected_attributes(info, model.Event), view)
