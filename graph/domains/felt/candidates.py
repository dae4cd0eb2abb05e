"""The earthquakes that a report may be of: those of the catalogue shortly before it, the most plausible ones first.

The catalogue is read once for all reports of about the same time. Of each half hour, only the largest earthquakes are
read, so that a crowded catalogue costs no more than they do. A usual one has a dozen that anybody can have felt.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from math import ceil, degrees, floor
from operator import attrgetter
from typing import NamedTuple

from graph.core.described import described, value
from graph.core.paging import Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.felt.attenuation import EARLIEST_S, LATEST_S, LEAST_MAG, felt_radius_km, plausibility
from graph.domains.sightings.collected_reports import FeltAt
from graph.geography.areas import EARTH_RADIUS_KM, distance_km
from graph.work.account import charge_rows, give_way

MOST_CANDIDATES = 5  # candidates of a report
MOST_EVENTS = 100  # that are read of the time in which a report's earthquake was
NEAR_S = 3 * 3600  # to read the earthquakes of these hours costs less than another reading
TESTED_AT_ONCE = 2000  # in some milliseconds
READ = frozenset({"eventId", "eventTsMs", "mag", "lat", "lon", "depth"})


@value
class EventCandidate:
    """An earthquake that a sighting may be of."""

    event: Event = described("The earthquake.")
    difference_seconds: float = described("From its origin time to the report.")  # negative if its clock is behind
    distance_km: float = described("From its epicentre to the middle of the sighting's cell.")
    plausibility: float = described(
        "How plausible it is, 0 … 1: by the intensity that is expected at the distance, and by the time."
    )

    @property
    def rank(self) -> tuple[float, float, str]:
        """The order of candidates: the most plausible one first, then the nearest one."""
        return -self.plausibility, self.distance_km, self.event.event_id


async def candidates_of(
    catalogue: Catalogue, reports: Sequence[FeltAt], attributes: frozenset[str] | None = None
) -> list[list[EventCandidate]]:
    """The candidates of each report, in the same order: at most five, the most plausible one first.

    Args:
        reports: any number.
        attributes: the needed ones of each event, beside those that rank it; None for all.

    Raises:
        QueryTooComplex: The operation in progress may not read so many events.
    """
    found: list[list[EventCandidate]] = [[] for _ in reports]
    tested = 0
    needed = None if attributes is None else attributes | READ
    for numbers in _together([report.time for report in reports]):
        first, last = reports[numbers[0]].time, reports[numbers[-1]].time
        shaken = await _shaken(catalogue, first - LATEST_S, last - EARLIEST_S, needed)
        for number in numbers:
            near = _within_time(shaken, reports[number].time)
            found[number] = _best(reports[number], near)
            tested += 1 + len(near)
            if tested > TESTED_AT_ONCE:
                await charge_rows(tested=tested)
                await give_way()
                tested = 0
    return found


async def _shaken(
    catalogue: Catalogue, first_s: float, last_s: float, attributes: frozenset[str] | None
) -> "list[_Shaken]":
    """The earthquakes of a time that can have been felt, in its order."""
    selection = Selection(floor(1000 * first_s), ceil(1000 * last_s), MagnitudeRange(minimum=LEAST_MAG))
    most = MOST_EVENTS * ceil((last_s - first_s) / (LATEST_S - EARLIEST_S))
    page = await catalogue.page_by_magnitude(selection, Paging(most), attributes=attributes)
    return sorted(map(_Shaken.by, page.records), key=_time)


class _Shaken(NamedTuple):
    """An earthquake, and where it can have been felt."""

    event: Event
    time: float  # epoch seconds
    lat: float
    mag: float
    reach: float  # degrees of latitude

    @classmethod
    def by(cls, event: Event) -> "_Shaken":
        reach = degrees(felt_radius_km(event.mag, event.depth) / EARTH_RADIUS_KM)
        return cls(event, event.event_ts_ms / 1000, event.lat, event.mag, reach)


_time = attrgetter("time")


def _together(times: Sequence[float]) -> Iterator[list[int]]:
    """The positions of times, those of near ones together, in the order of time."""
    group: list[int] = []
    for number in sorted(range(len(times)), key=times.__getitem__):
        if group and times[number] - times[group[-1]] > NEAR_S:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _within_time(shaken: Sequence[_Shaken], time: float) -> Sequence[_Shaken]:
    first = bisect_left(shaken, time - LATEST_S, key=_time)
    return shaken[first : bisect_right(shaken, time - EARLIEST_S, first, key=_time)]


def _best(report: FeltAt, shaken: Sequence[_Shaken]) -> list[EventCandidate]:
    """The most plausible ones."""
    lat, lon, time = report
    found = []
    for each in shaken:
        if abs(lat - each.lat) > each.reach:  # so most of them need no distance
            continue
        km, seconds = distance_km(lat, lon, each.event.item), round(time - each.time, 3)
        if (plausible := plausibility(each.mag, km, seconds, each.event.depth)) > 0:
            found.append(EventCandidate(each.event, seconds, km, plausible))
    return nsmallest(MOST_CANDIDATES, found, key=attrgetter("rank"))
