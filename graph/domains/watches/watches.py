"""The access patterns of watches: what a user wants to hear of the catalogue."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.core.clock import Clock
from graph.core.errors import NotThere, TooMany
from graph.core.paging import Page
from graph.core.uuid7 import uuid7
from graph.domains.triggers.endpoints import Endpoints, still_there
from graph.domains.triggers.model import DAY_S, change_key, user_and_key
from graph.domains.watches.entities import OLDEST_FIRST, WATCH, WATCH_CHANGES, WATCH_ENTRY
from graph.domains.watches.model import ChangeKind, Watch
from graph.feed.sequence import ChangeSequence
from graph.store.client_input import check_input, possible_key
from graph.store.contract import Action, Database, Delete, Put
from graph.store.entity import Item, Key
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Query
from graph.store.records import records_at

CHANGES_KEPT_S = 7 * DAY_S  # a process that has followed none for longer reads all watches again
READ_AT_ONCE = 100


@dataclass(eq=False)
class Watches:
    """The stored watches."""

    database: Database
    endpoints: Endpoints
    catalogue: ChangeSequence  # of versions of events
    clock: Clock
    most: int  # of one user

    def __post_init__(self) -> None:
        self.sequence = ChangeSequence(self.database, WATCH_CHANGES)

    async def page(self, user_id: str, request: PageRequest) -> Page[Watch]:
        """A page of a user's watches, oldest first."""
        return await OLDEST_FIRST.page(self.database, request, [(user_id,)], Watch)

    async def by_id(self, user_id: str, watch_ids: Collection[str], attributes: Needed = None) -> Mapping[str, Watch]:
        """The existing watches of a user with these ids."""
        keys = [key for each in watch_ids if (key := possible_key(WATCH, user_id, each))]
        return {each.watch_id: each for each in await records_at(self.database, Watch, keys, attributes)}

    async def create(
        self,
        user_id: str,
        name: str,
        filter_: Mapping[str, Any],
        kinds: Collection[ChangeKind],
        endpoint_id: str | None = None,
    ) -> Watch:
        """Make a watch of what is stored from now on.

        Args:
            filter_: an `EventFilter` as JSON.
            endpoint_id: where its events are delivered; None for the inbox only.

        Raises:
            BadUserInput: A value is impossible, or the user has too many.
            NotThere: The user has no such endpoint.
        """
        check_input(WATCH, name=name, filter=filter_)
        endpoint = None if endpoint_id is None else await self.endpoints.one(user_id, endpoint_id)
        if await self.database.count(_of_user(user_id)) >= self.most:
            raise TooMany(self.most, "watches")
        now = self.clock()
        item: Item = {
            "user_id": user_id,
            "watch_id": uuid7(now),
            "name": name,
            "filter": dict(filter_),
            "kinds": [kind.value for kind in ChangeKind if kind in kinds],
            "since": await self.catalogue.latest(),
            "created_at": now,
            **({} if endpoint_id is None else {"endpoint_id": endpoint_id}),
        }
        entry = {"watch_id": item["watch_id"], "user_id": user_id}
        there = [] if endpoint is None else [still_there(endpoint)]
        if not await self._store([Put(WATCH, item), Put(WATCH_ENTRY, entry), *there], Watch(item)):
            raise NotThere("endpointId", "endpoint")
        return Watch(item)

    async def delete(self, user_id: str, watch_id: str) -> None:
        """Delete a watch.

        Raises:
            NotThere: The user has no such watch.
        """
        watch = (await self.by_id(user_id, [watch_id])).get(watch_id)
        if watch is None or not await self._delete(watch):
            raise NotThere("watchId", "watch")

    async def delete_of_endpoint(self, user_id: str, endpoint_id: str) -> None:
        """Delete the watches whose events are delivered to an endpoint."""
        for item in (await self.database.query(_of_user(user_id))).items:
            if item.get("endpoint_id") == endpoint_id:
                await self._delete(Watch(item))

    async def all(self) -> AsyncIterator[Sequence[Watch]]:
        """All watches of all users, some at a time."""
        async for items in self.database.pages(Query(entity=WATCH_ENTRY, limit=READ_AT_ONCE)):
            yield await self.at([WATCH.key_for(item["user_id"], item["watch_id"]) for item in items])

    async def at(self, keys: Sequence[Key]) -> Sequence[Watch]:
        """The existing watches with these primary keys."""
        return await records_at(self.database, Watch, keys)

    async def _delete(self, watch: Watch) -> bool:
        entry = WATCH_ENTRY.key_for(watch.watch_id)
        return await self._store([Delete(WATCH.key_of(watch.item)), Delete(entry)], watch)

    async def _store(self, actions: Sequence[Action], watch: Watch) -> bool:
        """Store a change of a watch. False if it is deleted already, or its endpoint is."""
        keys, ttl = [change_key(watch.user_id, watch.watch_id)], self.clock() // 1000 + CHANGES_KEPT_S
        return not await self.sequence.transact(lambda number: [*actions, *number.actions(keys, ttl=ttl)])


def watch_of(key: str) -> Key:
    """The primary key of the watch that a change names."""
    return WATCH.key_for(*user_and_key(key))


def _of_user(user_id: str) -> Query:
    return Query(entity=WATCH, partitions=((user_id,),))
