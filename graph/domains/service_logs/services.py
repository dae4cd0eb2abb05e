"""The services that write logs. Each is stored once, before its first log."""

from collections.abc import Collection
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.domains.service_logs.entities import LOGGING_SERVICE, SERVICE_LOG
from graph.domains.service_logs.model import LoggingService, service_of, shards_of
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
        self._stored: set[tuple[str, bool]] = set()  # by this process, or found by it: the name, and if it is spread
        self._not_spread: set[str] = set()  # those of which another program has spread no log
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

    async def partitions(self, names: Collection[str]) -> dict[str, list[str]]:
        """Services → the values of `service_name` that their logs may have. Without those that have no logs.

        Where other programs write logs, a service may have some and be unknown. It is looked for in all partitions. A
        known one that is not spread is looked for there once in `KNOWN_MS`.
        """
        known = {service.name: bool(service.is_spread) for service in await self.named(names)}
        if self.database.other_writers is not None:
            for name in names:
                if possible_key(SERVICE_LOG, name, 0.0) and service_of(name) == name:
                    known.setdefault(name, True)
            self._forget_what_is_old()
            asked = [name for name, is_spread in known.items() if not is_spread and name not in self._not_spread]
            if asked:
                shards = [(shard,) for name in asked for shard in shards_of(name)]
                found = await self.database.first_of_each(
                    Query(entity=SERVICE_LOG, partitions=shards, attributes=frozenset()), 1
                )
                spread = {service_of(item["service_name"]) for items in found for item in items}
                known |= dict.fromkeys(spread, True)
                self._not_spread |= set(asked) - spread
        return {name: [name, *(shards_of(name) if is_spread else ())] for name, is_spread in known.items()}

    def _forget_what_is_old(self) -> None:
        if self.clock() - self._emptied >= KNOWN_MS:
            self._stored.clear()
            self._not_spread.clear()
            self._emptied = self.clock()

    async def ensure(self, names: Collection[str], spread: Collection[str] = ()) -> set[str]:
        """Store services that are not known yet. Returns those that are too many.

        Args:
            spread: those whose logs another program has spread over partitions.
        """
        self._forget_what_is_old()
        missing = sorted({(name, self.is_hot(name) or name in spread) for name in names} - self._stored)
        if not missing:
            return set()
        known = {service.name: service for service in await self.all()}
        caller = current_caller()
        own = sum(service.added_by == caller for service in known.values()) if caller != SERVICE else 0
        refused = set()
        for name, is_spread in missing:
            if name not in known:
                if len(known) >= self.most or own >= max(self.most // 2, 1):
                    refused.add(name)
                    continue
                own += caller != SERVICE
                sender = {} if caller == SERVICE else {"added_by": caller}
                item = {"service": name, "since": self.clock(), **sender}
                await self.database.put(Put(LOGGING_SERVICE, item, if_absent=True))
                known[name] = LoggingService(item)
            if is_spread and not known[name].is_spread:
                await self.database.update(Update(LOGGING_SERVICE.key_for(name), set={"is_spread": True}))
            self._stored.add((name, is_spread))
        return refused

    async def forget(self, names: Collection[str]) -> list[str]:
        """Remove services from the list, and return those that were there. One that sends again comes back.

        Their logs stay until they expire. A service whose logs were ever spread stays: they are found by that.
        """
        known = [service for service in await self.named(names) if not service.is_spread]
        for service in known:
            await self.database.delete(Delete(LOGGING_SERVICE.key_for(service.name)))
            self._stored.discard((service.name, False))
        return [service.name for service in known]
