"""What one request carries to its resolvers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

from graph.access.callers import Caller
from graph.api.recording import Recording
from graph.core.clock import Clock
from graph.core.paging import PageSizes
from graph.core.services import Services

S = TypeVar("S")

ChargeReplay = Callable[[int, int], Awaitable[None]]
"""Charges a subscriber for records of the past, and waits until it can: how many are read, and how many told."""


async def uncharged(read: int, told: int) -> None:
    """Charge nothing."""


@dataclass(slots=True, kw_only=True)
class Context:
    """The services that resolvers ask, and who is asking."""

    services: Services
    recording: Recording
    page_sizes: PageSizes
    clock: Clock
    caller: Caller
    request_id: str  # UUID v4
    charge_replay: ChargeReplay = uncharged
    _logged: int = 0

    def service(self, kind: type[S]) -> S:
        """The service of a class, which a domain has opened: `info.context.service(Catalogue)`."""
        return self.services.of(kind)

    def next_log_id(self) -> str:
        """The id of a root field's log: the request's own for the first, as each log needs one of its own."""
        self._logged += 1
        return self.request_id if self._logged == 1 else str(uuid4())
