"""The feed of sightings as a source of events: a change → its sighting, if it is new → the watches that want it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from graph.domains.area_watches.reported import REPORTED, payload_of
from graph.domains.area_watches.watches import AreaWatches
from graph.domains.sightings.changes import SightingChanges
from graph.domains.triggers.following import FeedPosition, IsTold, Wanted
from graph.domains.triggers.model import API_VERSION, NewTriggerEvent
from graph.feed.sequence import Change


class AreaWatcher:
    """Finds which watches want what of the feed of sightings."""

    feed = "sightings"

    def __init__(self, changes: SightingChanges, watches: AreaWatches) -> None:
        self.sequence = changes.sequence
        self._changes = changes
        self._watches = watches

    async def since(self) -> int | None:
        """Zero: the watches are not known before a change, which finds them by its area."""
        return 0

    async def wanted(self, change: Change, behind: FeedPosition, is_told: IsTold) -> AsyncGenerator[Wanted, None]:
        """What watches want of a change behind a position, in order of the watches' ids.

        A watch reports what was stored after it was made, but not its own user's sightings.
        """
        if (sighting := await self._changes.reported(change.number)) is None:
            return
        matching = self._watches.matching(sighting.area_slug, sighting.category, behind.watch_id)
        async with aclosing(matching) as watches:
            async for watch in watches:
                if watch.since < change.number and watch.user_id != sighting.user_id and is_told(watch.user_id):
                    event = NewTriggerEvent(
                        watch.user_id, REPORTED.name, payload_of(watch, sighting), metadata={"api_version": API_VERSION}
                    )
                    yield Wanted(event, FeedPosition(change.number - 1, 0, watch.watch_id))
