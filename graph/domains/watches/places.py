"""Places where selections wait for events: an event's id, a cell, a coarse cell, or the whole earth.

A selection waits in few places, and each event that it admits comes by at one of them, or at one for each of its
`any_of`.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.geography.cells import Cells, cell_of, coarse_of
from graph.store.entity import Item

MOST_CELLS = 64
"""That a selection waits in: a circle of 300 km touches some 30 cells at middle latitudes, one of 3,000 km some 60
coarse cells. With more, it waits in coarse cells instead, or for events of the whole earth."""

Place = tuple[Literal["id"], str] | tuple[Literal["cell", "coarse cell"], int] | tuple[Literal["earth"]]


def places_of_event(item: Item) -> Sequence[Place]:
    """The places that an event comes by."""
    cell = cell_of(item["lat"], item["lon"])
    ids: list[Place] = [("id", each) for each in Event(item).aliases]
    return [*ids, ("cell", cell), ("coarse cell", coarse_of(cell)), ("earth",)]


def places_of(selection: Selection) -> Collection[Place]:
    """The places where a selection waits. For a large area it takes a millisecond or two."""
    if selection.event_ids is not None:
        return {("id", each) for each in selection.event_ids}
    cells = min((area.cells for area in selection.areas), key=_number, default=None)
    if cells is None:
        some = set[Place]().union(*map(places_of, selection.any_of))
        return some if selection.any_of and len(some) <= MOST_CELLS else [("earth",)]
    if _number(cells) <= MOST_CELLS:
        return [("cell", cell) for run in cells.touched for cell in run]
    if len(cells.coarse) <= MOST_CELLS:
        return [("coarse cell", cell) for cell in cells.coarse]
    return [("earth",)]


def _number(cells: Cells) -> int:
    """The number of the cells that an area touches."""
    return sum(map(len, cells.touched))
