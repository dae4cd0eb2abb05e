"""Parts of the statistics beside magnitudes: rates, moment, depths, times and places."""

import strawberry

from graph.api.sizes import Cost, ListSize
from graph.domains.statistics import in_space

CELL_VALUE = Cost(weight="0.0625")  # of up to 10,000 cells


@strawberry.type(description="The number of events in a year with at least a magnitude.")
class EventRate:
    magnitude: float = strawberry.field(description="The least magnitude.")
    events: int = strawberry.field(description="Events of the whole time range with at least this magnitude.")
    per_year: float = strawberry.field(description="Events in a year of 365.25 days.")
    low: float = strawberry.field(
        description="Lower bound of the rate behind it, events in a year, if events are independent: "
        "Garwood (1936), Biometrika 28, 437-442."
    )
    high: float = strawberry.field(description="Upper bound of the rate, events in a year.")


@strawberry.type(
    description="The sum of seismic moments, as if each magnitude were a moment magnitude: "
    "log10 M0 = 1.5 M + 9.05, Hanks and Kanamori (1979), JGR 84, 2348-2350."
)
class SeismicMoment:
    newton_metres: float = strawberry.field(description="The sum, N m.")
    magnitude: float | None = strawberry.field(
        description="The moment magnitude of one event with that moment; null without events."
    )
    events: int = strawberry.field(description="The number of events.")
    binned: int = strawberry.field(
        description="Events whose magnitude is taken from the middle of its bin of 0.1, at most 0.05 off. It is 0 "
        "unless there are too many events to read, and for magnitudes on tenths."
    )


@strawberry.type(description="The events of a range of depths.")
class DepthBin:
    depth: float = strawberry.field(
        description="Shallower edge, km, which belongs to the bin.", directives=[Cost(weight="0.1")]
    )
    count: int = strawberry.field(description="Events of this bin.", directives=[Cost(weight="0.1")])


@strawberry.type(description="The number of events by depth.")
class DepthHistogram:
    bins: list[DepthBin] = strawberry.field(
        description="The bins from the surface to the deepest event, zeros included.",
        directives=[ListSize(assumed_size=in_space.MOST_DEPTH_BINS)],
    )
    unknown: int = strawberry.field(description="Events without a depth.")
    reason: str | None = strawberry.field(description="Why there is no histogram; null if there is one.")


@strawberry.type(description="A quantile of times.")
class TimeQuantile:
    part: float = strawberry.field(description="The part of all times that do not exceed it, 0 … 1.")
    seconds: float = strawberry.field(description="The time, seconds.")


@strawberry.type(description="The times between one event and the next.")
class InterEventTimes:
    number: int = strawberry.field(description="The number of times, one less than of events.")
    mean_seconds: float | None = strawberry.field(description="Their mean, seconds.")
    coefficient_of_variation: float | None = strawberry.field(
        description="Standard deviation over mean: 1 for independent events, more for clusters such as aftershocks, "
        "less for regular events. Kagan and Jackson (1991), GJI 104, 117-133."
    )
    quantiles: list[TimeQuantile] = strawberry.field(
        description="The quantiles, by straight lines between times: "
        "Hyndman and Fan (1996), Am. Stat. 50, 361-365, definition 7."
    )
    reason: str | None = strawberry.field(description="Why there are none; null if there are.")


@strawberry.type(description="The events of a cell of a grid.")
class GridCell:
    lat: float = strawberry.field(description="Southern edge, degrees north.", directives=[CELL_VALUE])
    lon: float = strawberry.field(description="Western edge, degrees east.", directives=[CELL_VALUE])
    count: int = strawberry.field(
        description="Events of this cell, southern and western edge included.", directives=[CELL_VALUE]
    )
    greatest: float | None = strawberry.field(
        description="The greatest magnitude; null where the cells are counted from summaries.", directives=[CELL_VALUE]
    )


@strawberry.type(description="The number of events in the cells of a grid that begins at 90° south and 180° west.")
class Grid:
    degrees_per_cell: float = strawberry.field(description="Height and width of a cell, degrees.")
    cells: list[GridCell] = strawberry.field(
        description="The cells with events, from south to north and from west to east.",
        directives=[ListSize(assumed_size=in_space.MOST_CELLS)],
    )
    reason: str | None = strawberry.field(description="Why there are no counts; null if there are.")
