"""The catalogue's feed as a source of events: its next change → its versions → the watches that want each."""

from collections.abc import AsyncGenerator

from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.triggers.following import FeedPosition, IsTold, Wanted
from graph.domains.triggers.model import API_VERSION, NewTriggerEvent
from graph.domains.watches import event_types
from graph.domains.watches.known import KnownWatches
from graph.domains.watches.model import OF_REVISION, ChangeKind, Watch
from graph.feed.sequence import Change, ChangeSequence

VERSIONS_AT_ONCE = 100

TYPES = {
    ChangeKind.CREATED: event_types.CREATED,
    ChangeKind.REVISED: event_types.REVISED,
    ChangeKind.DELETED: event_types.DELETED,
}


class Watcher:
    """Finds which watches want what of the catalogue's feed."""

    feed = "earthquakes"

    def __init__(self, sequence: ChangeSequence, history: History, known: KnownWatches) -> None:
        self.sequence = sequence
        self._history = history
        self._known = known

    async def since(self) -> int | None:
        """Learn of all watches until now. Returns the number of a change behind which all begin; None without any."""
        await self._known.update()
        return self._known.since

    async def wanted(self, change: Change, behind: FeedPosition, is_told: IsTold) -> AsyncGenerator[Wanted, None]:
        """What watches want of a change behind a position, in order of versions and watches."""
        for at in range(behind.version, len(change.keys), VERSIONS_AT_ONCE):
            keys = change.keys[at : at + VERSIONS_AT_ONCE]
            versions = await self._history.revisions(keys)
            for place, key in enumerate(keys, at):
                if version := versions.get(key):
                    done = behind.watch_id if place == behind.version else ""
                    for watch_id in await self._known.index.wanting(version, change.number):
                        if watch_id > done and is_told((watch := self._known.by_id[watch_id]).user_id):
                            event = _event_of(watch, version)
                            yield Wanted(event, FeedPosition(change.number - 1, place, watch_id))


def _event_of(watch: Watch, version: EventRevision) -> NewTriggerEvent:
    """The event that tells a watch's user of a version."""
    return NewTriggerEvent(
        watch.user_id,
        TYPES[OF_REVISION[version.kind]],
        event_types.payload_of_watch(watch, version),
        metadata={"api_version": API_VERSION},
        endpoint_ids=() if watch.endpoint_id is None else (watch.endpoint_id,),
    )
