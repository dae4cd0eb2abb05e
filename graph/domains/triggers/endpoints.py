"""The access patterns of endpoints: where a user's webhooks are sent, and their secrets."""

import asyncio
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graph.core.clock import Clock
from graph.core.errors import BadUserInput, NotThere, TooMany
from graph.core.paging import Page
from graph.core.uuid7 import uuid7
from graph.domains.triggers.checking import check_type
from graph.domains.triggers.entities import ENDPOINT, ENDPOINT_COUNT, QUEUE
from graph.domains.triggers.errors import Conflict
from graph.domains.triggers.model import Endpoint, EndpointDisabledReason, EndpointState
from graph.domains.triggers.queues import Queue, called, new_queue
from graph.domains.triggers.sending.resolver import Resolver
from graph.store.client_input import check_input, possible_key
from graph.store.conditions import Absent, AnyOf, Compare, unchanged
from graph.store.contract import Database, Delete, Put, Update
from graph.store.entity import Item
from graph.store.ordering import Ordering, PageRequest
from graph.store.query import Needed, Query
from graph.store.records import records_at
from graph.store.rounds import until_applied

OLDEST_FIRST = Ordering("triggerendpoints", ENDPOINT, ENDPOINT.table.primary)

SECRET_BYTES = 32
MOST_TYPES = 100  # that an endpoint names

Change = Callable[[Endpoint], Item]
"""An endpoint → the attributes to change; those that are None are removed. Raises `Conflict` where it cannot be."""


@dataclass(frozen=True, slots=True)
class EndpointChanges:
    """What a user changes; None leaves it as it is."""

    url: str | None = None
    types: Sequence[str] | None = None
    description: str | None = None
    ordered: bool | None = None
    all_types: bool = False


class WithSecret(NamedTuple):
    """An endpoint, with the secret that signs its webhooks."""

    endpoint: Endpoint
    secret: str


@dataclass(eq=False)
class Endpoints:
    """The stored endpoints."""

    database: Database
    resolver: Resolver
    clock: Clock
    most: int  # of one user
    # Called with the user and the endpoint before an endpoint is deleted, and after, for what came meanwhile.
    deletions: list[Callable[[str, str], Awaitable[None]]] = field(default_factory=list)

    async def of_users(self, user_ids: Collection[str]) -> dict[str, list[Endpoint]]:
        """All endpoints of each of these users, oldest first."""
        queries = [Query(entity=ENDPOINT, partitions=((user_id,),)) for user_id in user_ids]
        found = await asyncio.gather(*map(self.database.query, queries))
        return {user_id: list(map(Endpoint, page.items)) for user_id, page in zip(user_ids, found, strict=True)}

    async def page(self, user_id: str, request: PageRequest) -> Page[Endpoint]:
        """A page of a user's endpoints, oldest first."""
        return await OLDEST_FIRST.page(self.database, request, [(user_id,)], Endpoint)

    async def by_id(
        self, user_id: str, endpoint_ids: Collection[str], attributes: Needed = None
    ) -> Mapping[str, Endpoint]:
        """The existing endpoints of a user with these ids."""
        keys = [key for each in endpoint_ids if (key := possible_key(ENDPOINT, user_id, each))]
        return {each.endpoint_id: each for each in await records_at(self.database, Endpoint, keys, attributes)}

    async def one(self, user_id: str, endpoint_id: str) -> Endpoint:
        """A user's endpoint.

        Raises:
            NotThere: The user has no such endpoint.
        """
        if not (found := await self.by_id(user_id, [endpoint_id])):
            raise NotThere("endpointId", "endpoint")
        return found[endpoint_id]

    async def enabled(self, user_id: str, endpoint_id: str) -> Endpoint:
        """A user's endpoint, if deliveries are sent to it.

        Raises:
            NotThere: The user has no such endpoint.
            Conflict: It is paused or disabled.
        """
        endpoint = await self.one(user_id, endpoint_id)
        if endpoint.state is not EndpointState.ENABLED:
            raise Conflict(f"The endpoint is {endpoint.state.value}: resume it first.")
        return endpoint

    async def queues(self, endpoint_ids: Collection[str]) -> dict[str, Queue]:
        """The queues of existing endpoints."""
        items = await self.database.get_many({QUEUE.key_for(each) for each in endpoint_ids})
        return {item["endpoint_id"]: Queue(*(int(item[name]) for name in Queue._fields)) for item in items.values()}

    async def create(self, user_id: str, url: str, changes: EndpointChanges) -> WithSecret:
        """Make an endpoint.

        Raises:
            BadUserInput: A value is impossible, the URL is refused, or the user has too many.
        """
        _check(changes)
        await self.resolver.check(url)
        now, secret = self.clock(), new_secret()
        endpoint_id = uuid7(now)
        item = {
            "user_id": user_id,
            "endpoint_id": endpoint_id,
            "url": url,
            "ordered": bool(changes.ordered),
            "state": EndpointState.ENABLED.value,
            "secret": secret,
            "created_at": now,
            "revision": 1,
            **_given(changes),
        }
        has_room = AnyOf((Absent("number"), Compare("number", "<", self.most)))
        refused = await self.database.transact(
            [
                Put(ENDPOINT, item),
                Put(QUEUE, dict(new_queue(endpoint_id, user_id))),
                Update(ENDPOINT_COUNT.key_for(user_id), add={"number": 1}, condition=has_room),
            ]
        )
        if refused:
            raise TooMany(self.most, "endpoints")
        return WithSecret(Endpoint(item), secret)

    async def update(self, user_id: str, endpoint_id: str, changes: EndpointChanges) -> Endpoint:
        """Change an endpoint.

        Raises:
            NotThere: The user has no such endpoint.
            BadUserInput: A value is impossible, or the URL is refused.
        """
        _check(changes)
        if changes.url is not None:
            await self.resolver.check(changes.url)
        return await self._change(user_id, endpoint_id, lambda endpoint: _given(changes))

    async def pause(self, user_id: str, endpoint_id: str) -> Endpoint:
        """Let deliveries wait. To pause a paused endpoint changes nothing.

        Raises:
            NotThere: The user has no such endpoint.
            Conflict: It is disabled.
        """

        def paused(endpoint: Endpoint) -> Item:
            if endpoint.state is EndpointState.DISABLED:
                raise Conflict("The endpoint is disabled, so it cannot be paused: resume it first.")
            return {"state": EndpointState.PAUSED.value}

        return await self._change(user_id, endpoint_id, paused)

    async def resume(self, user_id: str, endpoint_id: str) -> Endpoint:
        """Go on after a pause, or after the service disabled the endpoint.

        Raises:
            NotThere: The user has no such endpoint.
        """
        resumed = {"state": EndpointState.ENABLED.value, "reason": None}
        endpoint = await self._change(user_id, endpoint_id, lambda _: resumed)
        await self.database.update(called(endpoint_id, self.clock(), failures=0, failing_since=0, open_until=0))
        return endpoint

    async def rotate_secret(self, user_id: str, endpoint_id: str, overlap_ms: int) -> WithSecret:
        """Replace the secret. The one before signs too, for so many milliseconds. Returns the new one.

        Raises:
            NotThere: The user has no such endpoint.
        """
        secret, until = new_secret(), self.clock() + overlap_ms

        def rotated(endpoint: Endpoint) -> Item:
            return {"secret": secret, "previous_secret": endpoint.item["secret"], "previous_until": until}

        return WithSecret(await self._change(user_id, endpoint_id, rotated), secret)

    async def delete(self, user_id: str, endpoint_id: str) -> None:
        """Delete an endpoint. The deliverer gives up what waits.

        Raises:
            NotThere: The user has no such endpoint.
        """
        await self.one(user_id, endpoint_id)
        await self._clear(user_id, endpoint_id)
        gone = await self.database.transact(
            [
                Delete(ENDPOINT.key_for(user_id, endpoint_id)),
                called(endpoint_id, self.clock()),
                Update(ENDPOINT_COUNT.key_for(user_id), add={"number": -1}),
            ]
        )
        if gone:
            raise NotThere("endpointId", "endpoint")
        await self._clear(user_id, endpoint_id)

    async def _clear(self, user_id: str, endpoint_id: str) -> None:
        for delete in self.deletions:
            await delete(user_id, endpoint_id)

    @until_applied("other changes of the same endpoint kept coming first")
    async def _change(self, user_id: str, endpoint_id: str, change: Change) -> Endpoint | None:
        """Apply a change to the endpoint as it is stored."""
        stored = await self.one(user_id, endpoint_id)
        changed = {**stored.item, **change(stored), "revision": stored.item["revision"] + 1}
        item = {name: value for name, value in changed.items() if value is not None}
        applied = await self.database.put(Put(ENDPOINT, item, condition=unchanged(stored.item, "revision")))
        return Endpoint(item) if applied else None


def disabled(endpoint: Endpoint, reason: EndpointDisabledReason) -> Update:
    """The change that disables an endpoint, if it is still as it was read."""
    return Update(
        ENDPOINT.key_of(endpoint.item),
        set={"state": EndpointState.DISABLED.value, "reason": reason.value, "revision": endpoint.item["revision"] + 1},
        condition=unchanged(endpoint.item, "revision"),
    )


def still_there(endpoint: Endpoint) -> Update:
    """Changes nothing, and is refused if the endpoint was deleted."""
    nothing = {"created_at": endpoint.item["created_at"]}
    return Update(ENDPOINT.key_of(endpoint.item), set=nothing, condition=Compare("revision", ">=", 1))


def new_secret() -> str:
    """A secret that signs webhooks, in the form of Standard Webhooks."""
    return "whsec_" + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def _check(changes: EndpointChanges) -> None:
    if changes.types is not None and changes.all_types:
        raise BadUserInput("Give `types` or `allTypes`, not both.")
    if changes.types is not None:
        if not 0 < len(changes.types) <= MOST_TYPES:
            raise BadUserInput(f"`types` must name 1 to {MOST_TYPES} types; leave it out for all.")
        for each in changes.types:
            check_type(each)
    if changes.description is not None:
        check_input(ENDPOINT, description=changes.description)


def _given(changes: EndpointChanges) -> Item:
    """The attributes that a user gave."""
    given = {
        "url": changes.url,
        "types": None if changes.types is None else list(dict.fromkeys(changes.types)),
        "description": changes.description,
        "ordered": changes.ordered,
    }
    present = {name: value for name, value in given.items() if value is not None}
    return present | {"types": None} if changes.all_types else present
