"""The facets of the days of a part of a year, in columns by name. They are kept, so they take little memory."""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain

from graph.domains.earthquakes.facets import CELL
from graph.domains.earthquakes.summaries.summary import Summary
from graph.store.entity import Item

COUNT_BITS = 22  # of an entry; a day with more events cannot be stored
COUNT_MASK = (1 << COUNT_BITS) - 1


class Facets:
    """The facets of some days of a year, by name.

    An entry tells the number of events of a name on one day: `place of the day << COUNT_BITS | number`. The
    entries of a name are in order of time. Those of all cells are in one array, cell after cell, since a quarter may
    have thousands of cells with a few entries each.
    """

    def __init__(self, items: Iterable[Item], summaries: Mapping[int, Summary]) -> None:
        """Take the facets of the days with these summaries, by place. Both are in order of time."""
        place_of = {summary.item["day"]: place for place, summary in summaries.items()}
        counted = set[int]()
        self._named: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
        for item in items:
            if (place := place_of.get(item["day"])) is None:
                continue
            if item.get("revision", 0) == summaries[place].item.get("revision"):
                counted.add(place)
            at = place << COUNT_BITS
            for name, count in item.items():
                if count.__class__ is int and count > 0:
                    self._named[name].append(at | count)
        self.uncounted = sorted(summaries.keys() - counted)  # places of days whose facets do not count all events
        cells = {int(name[len(CELL) :]): self._named.pop(name) for name in list(self._named) if name.startswith(CELL)}
        self._cells = array("I", sorted(cells))
        self._of_cells, self._begins = array("I"), array("I", [0])
        for cell in self._cells:
            self._of_cells.extend(cells[cell])
            self._begins.append(len(self._of_cells))

    def of(self, name: str, places: range) -> "array[int]":
        """The entries of a name on some days."""
        entries = self._named.get(name, _NONE)
        begin = bisect_left(entries, places.start << COUNT_BITS)
        return entries[begin : bisect_left(entries, places.stop << COUNT_BITS, begin)]

    def of_cells(self, runs: Iterable[range]) -> Iterator["array[int]"]:
        """The entries of all cells in some runs, on any day."""
        cells, begins = self._cells, self._begins
        for run in runs:
            first = bisect_left(cells, run.start)
            yield self._of_cells[begins[first] : begins[bisect_left(cells, run.stop, first)]]

    def texts(self, prefix: str, places: range) -> Iterator[tuple[str, int]]:
        """What follows a prefix in each name that begins with it, and the number of its events on some days."""
        for name in list(self._named):
            if name.startswith(prefix) and (entries := self.of(name, places)):
                yield name[len(prefix) :], sum([entry & COUNT_MASK for entry in entries])

    @property
    def size(self) -> int:
        """The number of entries of all cells."""
        return len(self._of_cells)

    def cells(self, places: range) -> Iterator[tuple[int, int]]:
        """Each cell, and the number of its events on some days."""
        first, stop = places.start << COUNT_BITS, places.stop << COUNT_BITS
        for cell, begin, end in zip(self._cells, self._begins, self._begins[1:], strict=False):
            start = bisect_left(self._of_cells, first, begin, end)
            entries = self._of_cells[start : bisect_left(self._of_cells, stop, start, end)]
            yield cell, sum(entry & COUNT_MASK for entry in entries)


_NONE: "array[int]" = array("I")


def add_entries(counts: list[int], entries: Iterable["array[int]"]) -> None:
    """Add entries to the counts of the days of a year."""
    for entry in chain.from_iterable(entries):
        counts[entry >> COUNT_BITS] += entry & COUNT_MASK
