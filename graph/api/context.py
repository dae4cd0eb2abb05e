"""The context of a request, which its resolvers receive."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from weakref import proxy

import strawberry
from strawberry.dataloader import DataLoader

from graph.access.callers import Caller
from graph.api.recording import Recording
from graph.core.clock import Clock
from graph.core.errors import Unauthenticated
from graph.core.paging import PageSizes
from graph.core.services import Services
from graph.feed.broadcast import Charge, free_of_charge

S = TypeVar("S")
A = TypeVar("A")
K = TypeVar("K")
V = TypeVar("V")

Load = Callable[["Context", Sequence[K], A], Awaitable[Mapping[K, V]]]
"""Loads what exists of these keys. The argument is of the loader, such as the needed attributes of records."""


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class Context:
    """The services that resolvers call, and the caller of the request."""

    services: Services
    recording: Recording
    page_sizes: PageSizes
    clock: Clock
    caller: Caller
    request_id: str  # UUID v4
    address: str | None = None  # of the client
    charge_replay: Charge = free_of_charge
    is_recorded: bool = False  # whether a root field has begun, which records itself
    _last_log_ms: int = 0  # the time of the request's last log
    _loaders: dict[Any, DataLoader[Any, Any]] = field(default_factory=dict)

    def service(self, kind: type[S]) -> S:
        """The service of a class that a domain has opened: `info.context.service(Catalogue)`."""
        return self.services.of(kind)

    @property
    def user(self) -> str:
        """The user who sent the request, for fields whose records belong to a user.

        Raises:
            Unauthenticated: It has no token. The scopes of these fields need one in any case.
        """
        if self.caller.subject is None:
            raise Unauthenticated("This needs a token: send it as `Authorization: Bearer …`.")
        return self.caller.subject

    def loader(self, load: Load[K, A, V], argument: A) -> DataLoader[K, V | None]:
        """What reads values for resolvers: those that ask at the same time share one call of `load`."""
        key = load, argument
        if key not in self._loaders:  # a subscription asks for the same keys again, so nothing is kept
            # A loader keeps all that it read last. Without a cycle, that is freed with the context.
            self._loaders[key] = DataLoader(partial(_in_order, load, proxy(self), argument), cache=False)
        return self._loaders[key]

    def log_time(self, began: int) -> int:
        """The time of a root field's log, epoch milliseconds: when it began, or as little later as possible.

        All logs of a request have its id, and a log's key is its time and its id. So each has a time of its own.
        """
        self._last_log_ms = max(began, self._last_log_ms + 1)
        return self._last_log_ms


Info = strawberry.Info[Context, None]
"""What a resolver gets beside its arguments."""


async def _in_order(load: Load[K, A, V], context: Context, argument: A, keys: Sequence[K]) -> list[V | None]:
    found = await load(context, keys, argument)
    return [found.get(key) for key in keys]


def load_by(service: type[S], method: Callable[[S, Sequence[K], A], Awaitable[Mapping[K, V]]]) -> Load[K, A, V]:
    """Loads by a method of a service: `load_by(Catalogue, Catalogue.events)`."""

    def load(context: Context, keys: Sequence[K], argument: A) -> Awaitable[Mapping[K, V]]:
        return method(context.service(service), keys, argument)

    return load


def load_own(service: type[S], method: Callable[[S, str, Sequence[K], A], Awaitable[Mapping[K, V]]]) -> Load[K, A, V]:
    """Loads what the caller owns, by a method that takes the user first: `load_own(Inbox, Inbox.by_key)`."""

    def load(context: Context, keys: Sequence[K], argument: A) -> Awaitable[Mapping[K, V]]:
        return method(context.service(service), context.user, keys, argument)

    return load
