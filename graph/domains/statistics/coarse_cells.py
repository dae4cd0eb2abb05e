"""Counts events by coarse cells from the facets of years and days, for ranges with too many events to be read."""

from collections import Counter

from graph.core.spans import TimeSpan, YearPart
from graph.domains.earthquakes.facets import COARSE_CELL
from graph.domains.earthquakes.summaries import Summaries, Summary
from graph.geography.cells import coarse_of
from graph.work.account import charge_rows, give_way


async def coarse_cells(summaries: Summaries, span: TimeSpan) -> Counter[int] | None:
    """Coarse cell → the number of events of all types, on the days that the span covers as a whole.

    None if the facets do not count all of them.
    """
    counts: Counter[int] = Counter()
    whole: dict[str, Summary] = {}
    for part in span.years(await summaries.years()):
        if part.is_whole:
            whole[part.year] = part.value
        elif not await _add_days(counts, summaries, part):
            return None
    facets = await summaries.facets_of(whole)
    if len(facets) < len(whole):
        return None
    for item in facets.values():
        await charge_rows(tested=len(item))
        await give_way()
        for name, count in item.items():
            if name.startswith(COARSE_CELL):
                counts[int(name[len(COARSE_CELL) :])] += count
    return counts


async def _add_days(counts: Counter[int], summaries: Summaries, part: YearPart[Summary]) -> bool:
    """Add the days of a part of a year. Returns whether the facets count all of their events."""
    year = await summaries.days(part.year, part.value)
    days = year.between(part.first, part.last)
    places = range(
        days.start + (bool(days) and year.days[days.start] in part.cut),
        days.stop - (len(days) > 1 and year.days[days.stop - 1] in part.cut),
    )
    await summaries.read_facets(year, places)
    for facets in year.facets(places):
        if any(place in places for place in facets.uncounted):
            return False
        await charge_rows(tested=facets.size)
        for cell, count in facets.cells(places):
            counts[coarse_of(cell)] += count
        await give_way()
    return True
