"""The services that write logs. Each is stored once, before its first log."""

from collections.abc import Collection
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.domains.service_logs.entities import LOGGING_SERVICE
from graph.domains.service_logs.model import LoggingService
from graph.store.client_input import possible_key
from graph.store.contract import Database, Delete, Put, Update
from graph.store.query import Query
from graph.work.account import SERVICE, current_caller

KNOWN_MS = 60_000  # for which a process knows a service without looking: another one may forget it


@dataclass(eq=False)
class LoggingServices:
    """The known services."""

    database: Database
    clock: Clock
    hot: Collection[str]  # the names of services whose logs are spread over partitions
    most: int  # services; one sender may add half of them, so that others find room

    def __post_init__(self) -> None:
        self._stored: set[str] = set()  # by this process, or found by it; at most `most`
        self._emptied = self.clock()

    def is_hot(self, service: str) -> bool:
        """Whether logs of a service are spread over partitions now."""
        return service in self.hot

    async def all(self) -> list[LoggingService]:
        """All services, by name."""
        page = await self.database.query(Query(entity=LOGGING_SERVICE))
        return list(map(LoggingService, page.items))

    async def named(self, names: Collection[str]) -> list[LoggingService]:
        """The known ones of these services."""
        keys = [key for name in dict.fromkeys(names) if (key := possible_key(LOGGING_SERVICE, name))]
        items = await self.database.get_many(keys) if keys else {}
        return list(map(LoggingService, items.values()))

    async def ensure(self, names: Collection[str]) -> set[str]:
        """Store services that are not known yet. Returns those that are too many."""
        if self.clock() - self._emptied >= KNOWN_MS:
            self._stored.clear()
            self._emptied = self.clock()
        missing = sorted(set(names) - self._stored)
        if not missing:
            return set()
        known = {service.name: service for service in await self.all()}
        caller = current_caller()
        own = sum(service.added_by == caller for service in known.values()) if caller != SERVICE else 0
        refused = set()
        for name in missing:
            if name not in known:
                if len(known) >= self.most or own >= max(self.most // 2, 1):
                    refused.add(name)
                    continue
                own += caller != SERVICE
                sender = {} if caller == SERVICE else {"added_by": caller}
                item = {"service": name, "since": self.clock(), **sender}
                await self.database.put(Put(LOGGING_SERVICE, item, if_absent=True))
                known[name] = LoggingService(item)
            if self.is_hot(name) and not known[name].is_spread:
                await self.database.update(Update(LOGGING_SERVICE.key_for(name), set={"is_spread": True}))
            self._stored.add(name)
        return refused

    async def forget(self, names: Collection[str]) -> list[str]:
        """Remove services from the list, and return those that were there. One that sends again comes back.

        Their logs stay until they expire. A service whose logs were ever spread stays: they are found by that.
        """
        known = [service for service in await self.named(names) if not service.is_spread]
        for service in known:
            await self.database.delete(Delete(LOGGING_SERVICE.key_for(service.name)))
            self._stored.discard(service.name)
        return [service.name for service in known]
