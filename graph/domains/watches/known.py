"""The watches of all users in memory, kept up to date by the sequence of their changes."""

from collections.abc import Callable, Mapping
from typing import Any

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.selection import Selection
from graph.domains.watches.matching import Interest, WatchIndex
from graph.domains.watches.model import ChangeKind, Watch
from graph.domains.watches.watches import Watches, watch_of
from graph.feed.sequence import Change
from graph.observability.logs import get_logger
from graph.work.account import give_way

CHANGES_AT_ONCE = 100

SelectionOf = Callable[[Mapping[str, Any]], Selection]
"""Reads a filter that is stored as JSON. Raises `BadUserInput`."""

logger = get_logger(__name__)


class KnownWatches:
    """All watches, with the index that finds those that want a version."""

    def __init__(self, watches: Watches, selection_of: SelectionOf) -> None:
        self.index = WatchIndex()
        self.by_id: dict[str, Watch] = {}
        self.since: int | None = None  # no watch wants the catalogue's changes up to this one; None without watches
        self._watches = watches
        self._selection_of = selection_of
        self._number: int | None = None  # of the last change that is known; None before the first reading

    async def update(self) -> None:
        """Learn of all changes until now."""
        latest = await self._watches.sequence.latest()
        while self._number != latest:
            changes = await self._changes_since(self._number)
            if not changes:
                await self._read_all(latest)
                return
            keys = dict.fromkeys(watch_of(key) for change in changes for key in change.keys)
            for key in keys:
                _, watch_id = key.values
                self._forget(watch_id)
            for watch in await self._watches.at(list(keys)):
                await self._learn(watch)
            self._number = changes[-1].number
            latest = max(latest, self._number)

    async def _changes_since(self, number: int | None) -> list[Change]:
        """The next changes after a number; empty if some of them have expired, or none was known."""
        if number is None:
            return []
        changes = await self._watches.sequence.since(number, CHANGES_AT_ONCE)
        return changes if changes and changes[-1].number == number + len(changes) else []

    async def _read_all(self, number: int) -> None:
        """Read all watches, as they are after a change or later."""
        self.index, self.by_id, self.since = WatchIndex(), {}, None
        async for some in self._watches.all():
            for watch in some:
                await self._learn(watch)
        self._number = number

    async def _learn(self, watch: Watch) -> None:
        try:
            selection = self._selection_of(watch.filter)
            kinds = frozenset(map(ChangeKind, watch.kinds))
        except (BadUserInput, ValueError) as error:  # by a later version of the service
            logger.warning("A watch cannot be followed", watch=watch.watch_id, cause=str(error))
            return
        self.index.put(watch.watch_id, Interest(selection, kinds, watch.since))
        self.by_id[watch.watch_id] = watch
        self.since = watch.since if self.since is None else min(self.since, watch.since)
        await give_way()

    def _forget(self, watch_id: str) -> None:
        self.index.discard(watch_id)
        self.by_id.pop(watch_id, None)
        if not self.by_id:
            self.since = None
