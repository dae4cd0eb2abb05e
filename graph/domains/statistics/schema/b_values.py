"""The Gutenberg-Richter relation, and what tells how far it can be trusted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from graph.api.fields import field
from graph.api.record_type import record_type
from graph.api.scalars import EpochMillis, describe_enum
from graph.api.sizes import ListSize
from graph.api.times import time_field
from graph.api.values import value_type
from graph.domains.statistics import assessment, b_positive
from graph.domains.statistics import goodness_of_fit as goodness
from graph.domains.statistics.gutenberg_richter import LEAST_EVENTS
from graph.domains.statistics.networks import Network
from graph.domains.statistics.population import SAMPLE
from graph.domains.statistics.reliability import Reliability
from graph.domains.statistics.statistics import MagnitudeRelation

MOST_NETWORKS = 100
ASSESSED = 10  # a part that takes some milliseconds; what it computes is charged besides

describe_enum(
    Reliability,
    "How far a b-value can be trusted.",
    GOOD="No test contradicts the fit.",
    DOUBTFUL="One test contradicts the fit, by little: use it with its `reason` in mind.",
    POOR="The events have no common slope: do not use it.",
)

Confidence = Annotated[
    float,
    "The probability that the interval holds the true value, 0.5 … 0.9999.",
]


value_type(assessment.EstimateInterval, "ConfidenceInterval")
value_type(goodness.GoodnessOfFit)
value_type(Network, "SeismicNetwork")
value_type(b_positive.BPositive)


@record_type(b_positive.BWindow, "The b-value of some events that follow one another.")
class BValueWindow:
    first_ms: EpochMillis = strawberry.field(description="Origin time of the first event, epoch milliseconds.")
    first_time: datetime = time_field("first_ms", "Origin time of the first event.")
    last_ms: EpochMillis = strawberry.field(description="Origin time of the last event, epoch milliseconds.")
    last_time: datetime = time_field("last_ms", "Origin time of the last event.")
    events: int = strawberry.field(description="The number of events.")
    b: float = strawberry.field(description="b-value, as that of the relation.")
    uncertainty: float = strawberry.field(description="Standard deviation of b.")


value_type(b_positive.BOverTime, "BValuesOverTime", windows=[ListSize(assumed_size=b_positive.MOST_WINDOWS)])


@record_type(
    MagnitudeRelation,
    "The relation log10 N = a - b M, N being the number of events with at least magnitude M, "
    "estimated from the events at and above the magnitude of completeness.",
)
class GutenbergRichter:
    completeness: float | None = strawberry.field(
        description="The magnitude of completeness of the estimate; null if there is none."
    )
    b: float | None = strawberry.field(
        description="b-value by maximum likelihood for bins of 0.1, ln(1 + 0.1 / (mean - completeness)) / (0.1 ln 10), "
        "with magnitudes cut to tenths: Tinti and Mulargia (1987), BSSA 77, 2125-2134."
    )
    uncertainty: float | None = strawberry.field(
        description="Standard deviation of b, 2.30 b² times that of the mean: Shi and Bolt (1982), BSSA 72, 1677-1687."
    )
    a: float | None = strawberry.field(description="a-value for the whole time range: log10 N where M is 0.")
    a_per_year: float | None = strawberry.field(
        description="a-value for a year of 365.25 days: a - log10 of the years of the time range."
    )
    events: int = strawberry.field(description="The number of events in the estimate.")

    @field(
        "How far b can be trusted: by the tests of the goodness of fit, by the number of great events, and "
        "by whether the events mix networks that are complete from different magnitudes. Null if there is no estimate.",
        cost=ASSESSED,
    )
    @staticmethod
    async def reliability(relation: strawberry.Parent[MagnitudeRelation]) -> Reliability | None:
        judged = await relation.verdict()
        return judged.reliability if judged else None

    @field("Why there is no estimate, or why it is not reliable; null if its reliability is `GOOD`.", cost=ASSESSED)
    @staticmethod
    async def reason(relation: strawberry.Parent[MagnitudeRelation]) -> str | None:
        return await relation.reason()

    @field("Whether the magnitudes are exponential. Null if there is no estimate.", cost=ASSESSED)
    @staticmethod
    async def goodness_of_fit(relation: strawberry.Parent[MagnitudeRelation]) -> goodness.GoodnessOfFit | None:
        return await relation.goodness_of_fit()

    @field(
        f"The networks of the events, the most events first, at most {MOST_NETWORKS}. Of more than "
        f"{SAMPLE:,} events, those of some days are counted, which are spread evenly.",
        size=MOST_NETWORKS,
        cost=ASSESSED,
    )
    @staticmethod
    async def networks(relation: strawberry.Parent[MagnitudeRelation]) -> Sequence[Network]:
        return (await relation.networks()).networks[:MOST_NETWORKS]

    @field(
        f"The interval of b between quantiles of {assessment.RESAMPLES:,} samples, drawn with replacement "
        "from the events: Efron (1979), Ann. Stat. 7, 1-26. The same events always give the same interval.",
        cost=ASSESSED,
    )
    @staticmethod
    async def bootstrap(
        relation: strawberry.Parent[MagnitudeRelation], confidence: Confidence = 0.95
    ) -> assessment.EstimateInterval | None:
        return await relation.bootstrap(confidence)

    @field("b through time: of windows with a number of events, all with the same completeness.", cost=ASSESSED)
    @staticmethod
    async def over_time(
        relation: strawberry.Parent[MagnitudeRelation],
        events: Annotated[
            int,
            f"Events of each window at and above the completeness, {LEAST_EVENTS} or more.",
        ] = 200,
        step: Annotated[
            int | None,
            "Events from one window's start to the next one's; by default half a window.",
        ] = None,
    ) -> b_positive.BOverTime:
        return await relation.over_time(events, step)
