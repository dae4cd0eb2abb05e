"""From an event that turned out to be another one to this other one, which may have been merged later, too."""

from collections.abc import Awaitable, Callable

from graph.store.entity import Item

MOST_MERGES = 8  # one after another, far beyond any real chain; a circle ends, too


async def follow_merges(item: Item | None, read: Callable[[str], Awaitable[Item | None]]) -> Item | None:
    """The event at the end of a chain of merges: the given one if it was not merged, None if it is not stored.

    Args:
        item: with its `mergedInto`, if it has one.
        read: the stored event with an id.
    """
    for _ in range(MOST_MERGES):
        if item is None or "mergedInto" not in item:
            break
        item = await read(item["mergedInto"])
    return item
