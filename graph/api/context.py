"""The context of a request, which its resolvers receive."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4
from weakref import proxy

from strawberry.dataloader import DataLoader

from graph.access.callers import Caller
from graph.api.recording import Recording
from graph.core.clock import Clock
from graph.core.paging import PageSizes
from graph.core.services import Services
from graph.feed.broadcast import Charge, free_of_charge

S = TypeVar("S")
A = TypeVar("A")
K = TypeVar("K")
V = TypeVar("V")


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
    _logged: int = 0
    _loaders: dict[Any, DataLoader[Any, Any]] = field(default_factory=dict)

    def service(self, kind: type[S]) -> S:
        """The service of a class that a domain has opened: `info.context.service(Catalogue)`."""
        return self.services.of(kind)

    def loader(self, load: Callable[["Context", A, Sequence[K]], Awaitable[list[V]]], argument: A) -> DataLoader[K, V]:
        """What reads values for resolvers: those that ask at the same time share one call of `load`.

        Args:
            load: context, `argument` and keys → their values, in the same order.
        """
        key = load, argument
        if key not in self._loaders:  # a subscription asks for the same keys again, so nothing is kept
            # A loader keeps all that it read last. Without a cycle, that is freed with the context.
            self._loaders[key] = DataLoader(partial(load, proxy(self), argument), cache=False)
        return self._loaders[key]

    def next_log_id(self) -> str:
        """The id of a root field's log. The first has the request's id, the others have ids of their own."""
        self._logged += 1
        return self.request_id if self._logged == 1 else str(uuid4())
