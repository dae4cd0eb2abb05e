"""The event with the greatest magnitude of a population."""

from graph.domains.earthquakes.catalogue.by_magnitude import magnitude_place
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.statistics.population import Population
from graph.store.conditions import Compare, Condition, all_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Needed
from graph.store.time_walk import items_of

DAYS_AT_ONCE = 32


async def largest_of(
    database: Database, population: Population, attributes: Needed, *, most_days_read: int
) -> Event | None:
    """The last event in the order of magnitude.

    None if there is no event, or if finding it could take too many days.
    """
    needed = None if attributes is None else attributes | {"mag"}
    if population.is_summarised:
        item = await _by_summaries(database, population, needed, most_days_read)
    else:
        item = await _of_events(database, population, needed)
    return Event.reading(needed)(item) if item else None


async def _of_events(database: Database, population: Population, needed: frozenset[str] | None) -> Item | None:
    """The item, found among the events that were read."""
    events = await population.read()
    if not events:
        return None
    at = max(range(len(events)), key=lambda at: (events.magnitudes[at], events.times[at], events.ids[at]))
    position = EVENT.position_names(population.query(None, None).by)
    attributes = None if needed is None else needed.union(position)
    return await database.get(EVENT.key_for(events.ids[at]), attributes=attributes)


async def _by_summaries(
    database: Database, population: Population, needed: frozenset[str] | None, most_days_read: int
) -> Item | None:
    """The item, from the days that have events of the greatest bin."""
    counts = await population.tenths()
    if not counts:
        return None
    greatest = population.selection.magnitudes.maximum
    top = MagnitudeRange(max(counts) / 10, greatest)
    days = [day async for day, summary in population.summarised(by_day=True, only=top) if summary.matching(top)]
    days = sorted([*days, *population.span.cut], reverse=True)
    largest: Item | None = None
    better: Condition = Compare("mag", ">=", max(counts) / 10)
    for at in range(0, len(days), DAYS_AT_ONCE):
        if at + DAYS_AT_ONCE > most_days_read < len(days):
            return None
        promises = [await population.promise(day, top) for day in days[at : at + DAYS_AT_ONCE]]
        attributes = None if needed is None else needed | {"type"}
        query = population.query(all_of(population.selection.condition, better), attributes)
        found: Item | None = None
        async for items in items_of(database, query, promises):
            counted = [item for item in items if population.holds(item)]
            found = max([*counted, *([found] if found else [])], key=magnitude_place, default=None)
        if found is not None:
            largest, better = found, Compare("mag", ">", found["mag"])
            if found["mag"] == greatest:
                break  # no selected event has a greater one
    return largest
