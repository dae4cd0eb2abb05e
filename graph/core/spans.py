"""A span of time, as the years and days that it holds: whole, or only partly.

Whoever reads by time walks from years to days to partitions. What belongs to a year is read for each
year of the span, what belongs to a day where the year lies within the span only partly, and single
records where a day does. At most two days are cut: the first and the last one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from graph.core.days import bucket_of, date_of, day_bucket, day_span, days_between

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True)
class YearPart(Generic[T]):
    """A year, as far as it lies within a span."""

    year: str  # YYYY
    value: T  # what belongs to the year
    first: str  # day bucket: the first day that lies within the span
    last: str  # day bucket: the last one, included
    cut: tuple[str, ...]  # those of these days that lie within the span only partly, in order of time

    @property
    def is_whole(self) -> bool:
        """Whether all of the year lies within the span."""
        return not self.cut and (self.first, self.last) == (f"{self.year}0101", f"{self.year}1231")

    def whole_days(self, days: Mapping[str, D]) -> Iterator[tuple[str, D]]:
        """Those of the year's days that lie within the span whole, in their own order."""
        for day, value in days.items():
            if self.first <= day <= self.last and day not in self.cut:
                yield day, value


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The days between two times."""

    first: str  # day bucket
    last: str  # day bucket, included; before `first` where the span is empty
    cut: tuple[str, ...] = ()  # days that lie within the span only partly, in order of time

    @classmethod
    def of(cls, first_ms: int, last_ms: int) -> Self:
        """The span from one epoch millisecond to another, both included."""
        if first_ms > last_ms:  # as bounds beyond the calendar are, which no day has
            return cls("1", "0")
        first, last = day_bucket(first_ms), day_bucket(last_ms)
        cut = {first} if day_span(first)[0] < first_ms else set[str]()
        if day_span(last)[1] > last_ms:
            cut.add(last)
        return cls(first, last, tuple(sorted(cut)))

    @property
    def is_empty(self) -> bool:
        """Whether it holds no time."""
        return self.first > self.last

    def starting_on(self, day: str | None, *, forward: bool) -> "TimeSpan":
        """The part that is still to be walked, from a day on, itself included; all of it for None."""
        if day is None:
            return self
        if forward:
            return replace(self, first=max(self.first, day))
        return replace(self, last=min(self.last, day))

    def years(self, years: Mapping[str, T], *, forward: bool = True) -> Iterator[YearPart[T]]:
        """The years that lie within the span whole or partly.

        Args:
            years: by their names, YYYY, in order of time. Others are left out.
            forward: in order of time, or else against it.
        """
        for year in years if forward else reversed(list(years)):
            first, last = max(self.first, f"{year}0101"), min(self.last, f"{year}1231")
            if first <= last:
                cut = tuple([day for day in self.cut if first <= day <= last])
                yield YearPart(year, years[year], first, last, cut)

    def days(self, *, forward: bool = True) -> Iterator[str]:
        """Every day that lies within the span whole or partly, in order of time, or else against it."""
        if self.is_empty:
            return
        days = [bucket_of(day) for day in days_between(date_of(self.first), date_of(self.last))]
        yield from days if forward else reversed(days)
