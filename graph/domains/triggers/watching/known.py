"""The watches of all users in memory, kept up to date by the sequence of their changes."""

from collections.abc import Callable, Mapping
from typing import Any

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.selection import Selection
from graph.domains.triggers.model import Watch
from graph.domains.triggers.watching.kinds import ChangeKind
from graph.domains.triggers.watching.matching import Interest, WatchIndex
from graph.domains.triggers.watching.watches import Watches, watch_of
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
        self._watches = watches
        self._selection_of = selection_of
        self._number: int | None = None  # of the last change that is known; None before the first reading

    @property
    def since(self) -> int | None:
        """The number of the catalogue's change behind which some watch may want something; None without watches."""
        return min((watch.since for watch in self.by_id.values()), default=None)

    async def update(self) -> None:
        """Learn of all changes until now."""
        if self._number is None:
            await self._read_all()
            return
        while changes := await self._watches.sequence.since(self._number, CHANGES_AT_ONCE):
            if changes[0].number != self._number + 1:  # the one before has expired
                await self._read_all()
                return
            keys = dict.fromkeys(watch_of(key) for change in changes for key in change.keys)
            for key in keys:
                _, watch_id = key.values
                self._forget(watch_id)
            for watch in await self._watches.at(list(keys)):
                await self._learn(watch)
            self._number = changes[-1].number

    async def _read_all(self) -> None:
        number = await self._watches.sequence.latest()
        self.index, self.by_id = WatchIndex(), {}
        async for some in self._watches.all():
            for watch in some:
                await self._learn(watch)
        self._number = number

    async def _learn(self, watch: Watch) -> None:
        try:
            selection = self._selection_of(watch.filter)
        except BadUserInput as error:  # by a later version of the service
            logger.warning("A watch cannot be followed", watch=watch.watch_id, cause=str(error))
            return
        kinds = frozenset(map(ChangeKind, watch.kinds))
        self.index.put(watch.watch_id, Interest(selection, kinds, watch.since))
        self.by_id[watch.watch_id] = watch
        await give_way()

    def _forget(self, watch_id: str) -> None:
        self.index.discard(watch_id)
        self.by_id.pop(watch_id, None)
