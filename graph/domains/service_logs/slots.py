"""Gives each log of a batch a slot: the microsecond of its time, or the next one that is free.

Nothing is read first. A slot that turns out to be taken is looked up: it holds the same log, which is skipped, or
another one, and then the following slots are read until one is free. The slots between a log's time and its own are
all taken, by this rule. So a log that is sent again meets its own slot, or a log that meets it.
"""

from collections.abc import Iterable, Sequence

from graph.domains.service_logs.checking import Draft
from graph.domains.service_logs.entities import SERVICE_LOG
from graph.domains.service_logs.model import shard_of, timestamp_of
from graph.domains.service_logs.services import LoggingServices
from graph.store.contract import Database
from graph.store.entity import Key
from graph.work.account import give_way

PLACED_AT_ONCE = 500  # logs, some 0.5 ms, before giving way to other work
SLOTS_AT_ONCE = 100  # that are looked up while all of them are taken

Slot = tuple[str, int]
"""A service and epoch microseconds."""


class Slots:
    """The slots of one batch."""

    def __init__(self, database: Database, services: LoggingServices) -> None:
        self._database = database
        self._services = services
        self._taken: dict[Slot, str] = {}  # by stored logs: the log's id
        self._stored: dict[tuple[str, str], int] = {}  # service and log id → slot

    @property
    def are_known(self) -> bool:
        """Whether anything is known of what is stored."""
        return bool(self._taken)

    async def place(self, drafts: Sequence[Draft]) -> tuple[list[Draft], int]:
        """Give logs free slots, as far as is known.

        Args:
            drafts: in order of service and time.

        Returns:
            The logs to store, and the number of those that are stored already or came before.
        """
        placed: list[Draft] = []
        skipped, service, free = 0, None, 0
        ids = set[str]()  # of this batch, since the last free slot
        taken, stored, is_hot = self._taken, self._stored, False
        for number, draft in enumerate(drafts, 1):
            if not number % PLACED_AT_ONCE:
                await give_way()
            if draft.service != service:
                service, free, is_hot = draft.service, 0, self._services.is_hot(draft.service)
            slot, log_id = draft.slot, draft.item["log_id"]
            if slot >= free:
                ids.clear()
            else:
                slot = free
            if log_id in ids or stored.get((service, log_id), -1) >= draft.time_ns // 1000:
                skipped += 1
                continue
            while taken and (service, slot) in taken:
                slot += 1
            ids.add(log_id)
            free = slot + 1
            draft.slot = slot
            draft.item["service_name"] = shard_of(service, slot) if is_hot else service
            draft.item["timestamp"] = timestamp_of(slot)
            placed.append(draft)
        return placed, skipped

    async def look_up(self, refused: Sequence[Draft]) -> None:
        """Find out what is stored in the slots of refused logs, and behind those that hold other logs."""
        ids = await self._ids([(draft.service, draft.slot) for draft in refused])
        self._note(ids)
        for draft in refused:
            if ids.get((draft.service, draft.slot)) not in (None, draft.item["log_id"]):
                await self._look_behind(draft.service, draft.slot + 1)

    async def _look_behind(self, service: str, slot: int) -> None:
        """Read the slots from one on until one is free."""
        while True:
            while (service, slot) in self._taken:
                slot += 1
            ids = await self._ids([(service, each) for each in range(slot, slot + SLOTS_AT_ONCE)])
            for each in range(slot, slot + SLOTS_AT_ONCE):
                if (service, each) not in ids:
                    return
                self._note({(service, each): ids[service, each]})

    async def _ids(self, slots: Iterable[Slot]) -> dict[Slot, str]:
        """The ids of the logs that are stored in these slots."""
        keys = {self._key(*slot): slot for slot in slots}
        found = await self._database.get_many(keys, attributes={"log_id"})
        return {keys[key]: item["log_id"] for key, item in found.items()}

    def _note(self, ids: dict[Slot, str]) -> None:
        self._taken |= ids
        self._stored |= {(service, log_id): slot for (service, slot), log_id in ids.items()}

    def _key(self, service: str, slot: int) -> Key:
        name = shard_of(service, slot) if self._services.is_hot(service) else service
        return SERVICE_LOG.key_for(name, timestamp_of(slot))
