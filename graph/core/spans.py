"""Divides a time range into years and days, which it covers as a whole or in part.

Readers by time go from years to days to partitions. They read a year's value for each year that the
range covers, a day's value where it covers a year only in part, and single records where it covers a
day only in part. At most two days are covered in part: the first and the last.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Self, TypeVar

from graph.core.days import bucket_of, date_of, day_bucket, day_span, days_between

T = TypeVar("T")


class YearPart(NamedTuple, Generic[T]):
    """The part of a year that a span covers."""

    year: str  # YYYY
    value: T  # the year's value
    first: str  # day bucket: the first day in the span
    last: str  # day bucket: the last day in the span
    cut: tuple[str, ...]  # the days that the span covers only in part, in order of time

    @property
    def is_whole(self) -> bool:
        """Whether the span covers the whole year."""
        return not self.cut and (self.first, self.last) == (f"{self.year}0101", f"{self.year}1231")

    @property
    def days(self) -> int:
        """The number of days in the span, some of which it may cover only in part."""
        return (date_of(self.last) - date_of(self.first)).days + 1


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The days between two times."""

    first: str  # day bucket
    last: str  # day bucket, included; before `first` if the span is empty
    cut: tuple[str, ...] = ()  # the days that the span covers only in part, in order of time

    @classmethod
    def of(cls, first_ms: int, last_ms: int) -> Self:
        """The span from one epoch millisecond to another, both included."""
        if first_ms > last_ms:  # bounds beyond the calendar end up here too
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
        """The part from this day on, in the direction of reading; the whole span for None."""
        if day is None:
            return self
        if forward:
            return replace(self, first=max(self.first, day))
        return replace(self, last=min(self.last, day))

    def years(self, years: Mapping[str, T], *, forward: bool = True) -> Iterator[YearPart[T]]:
        """The years that the span covers as a whole or in part.

        Args:
            years: values by year, YYYY, in order of time. Years outside of the span are left out.
            forward: in order of time, or else in reverse.
        """
        for year in years if forward else reversed(list(years)):
            first, last = f"{year}0101", f"{year}1231"
            cut: tuple[str, ...] = ()
            if first <= self.first or self.last <= last:
                first, last = max(self.first, first), min(self.last, last)
                if first > last:
                    continue
                cut = tuple([day for day in self.cut if first <= day <= last])
            yield YearPart(year, years[year], first, last, cut)

    def days(self, *, forward: bool = True) -> Iterator[str]:
        """Every day that the span covers as a whole or in part, in order of time, or else in reverse."""
        if self.is_empty:
            return
        days = [bucket_of(day) for day in days_between(date_of(self.first), date_of(self.last))]
        yield from days if forward else reversed(days)
