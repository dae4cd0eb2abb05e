"""Gives each log of a batch a slot: the microsecond of its time, or the next one that is free.

Nothing is read first. A slot that turns out to be taken is looked up: it holds the same log, which is skipped, or
another one, and then the following slots are read until one is free. The slots between a log's time and its own are
all taken, by this rule. So a resent log probes the same
slots in the same order, and finds its stored copy.

What was looked up is kept for later batches: without that, each log of a crowded microsecond would read the whole crowd
again. A crowd has an end, so that a log is never far from its time: a log that would be shifted further is refused.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from graph.domains.service_logs.checking import LogDraft
from graph.domains.service_logs.entities import SERVICE_LOG
from graph.domains.service_logs.model import MOST_SHIFT, shard_of, shards_of, timestamp_of
from graph.domains.service_logs.services import LoggingServices
from graph.store.contract import Database
from graph.store.entity import Item, Key
from graph.store.query import Query
from graph.work.account import give_way

PLACED_AT_ONCE = 500  # logs, some 0.5 ms, before giving way to other work
SLOTS_AT_FIRST, SLOTS_AT_MOST = 128, 4096  # of a crowd that are read at once; twice as many each time
MOST_KNOWN = 250_000  # logs, some 40 MB; with more, the next batch begins anew

_READ = frozenset({"log_id", "time_unix_nano"})


class TakenSlots:
    """What a process knows of taken slots. What is taken stays so, and what it does not know, the store does."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[list[int], list[int]]] = {}  # of a service: where they begin, and end
        self._logs: set[str] = set()
        self.version = 0  # changes with what is known

    def __len__(self) -> int:
        return len(self._logs)

    def add(self, service: str, slot: int, item: Item | None) -> None:
        """Add a stored log; None for one that cannot be read, as another program wrote it."""
        end = slot + 1
        starts, ends = self._runs.setdefault(service, ([], []))
        low, high = bisect_left(ends, slot), bisect_right(starts, end)  # the runs that it touches
        if low < high:
            slot, end = min(slot, starts[low]), max(end, ends[high - 1])
        starts[low:high], ends[low:high] = [slot], [end]
        if item:
            self._logs.add(_log(service, item))
        self.version += 1

    def holds(self, service: str, item: Item) -> bool:
        """Whether a log is stored, as far as is known."""
        return bool(self._logs) and _log(service, item) in self._logs

    def free(self, service: str, slot: int) -> int:
        """The first slot from one on that is free, as far as is known."""
        if (runs := self._runs.get(service)) is None:
            return slot
        starts, ends = runs
        at = bisect_right(starts, slot) - 1
        return max(slot, ends[at]) if at >= 0 else slot


def _log(service: str, item: Item) -> str:
    """A log with the same text is the same log."""
    return f"{item['log_id']}@{item['time_unix_nano']}@{service}"


class BatchSlots:
    """The slots of one batch."""

    def __init__(self, database: Database, services: LoggingServices, taken: TakenSlots) -> None:
        self._database = database
        self._services = services
        self._taken = taken
        self._placed_by = taken.version
        self.crowded: list[LogDraft] = []  # logs that find no slot near their time

    @property
    def are_outdated(self) -> bool:
        """Whether more is known of what is stored than when logs were placed."""
        return self._placed_by != self._taken.version

    async def place(self, drafts: Sequence[LogDraft]) -> list[LogDraft]:
        """Give logs free slots, as far as is known. Leaves out those that are stored, came before, or find no slot.

        Args:
            drafts: in order of service and time.
        """
        placed: list[LogDraft] = []
        service, free = "", 0
        ids = set[tuple[str, int]]()  # of this batch, since the last free slot
        taken, is_hot = self._taken, False
        self._placed_by = taken.version
        for number, draft in enumerate(drafts, 1):
            if not number % PLACED_AT_ONCE:
                await give_way()
            if draft.service != service:
                service, free, is_hot = draft.service, 0, self._services.is_hot(draft.service)
            slot, log_id = draft.slot, (draft.item["log_id"], draft.time_ns)
            if slot >= free:
                ids.clear()
            else:
                slot = free
            if log_id in ids or taken.holds(service, draft.item):
                continue
            slot = taken.free(service, slot)
            if slot - draft.time_ns // 1000 > MOST_SHIFT:
                self.crowded.append(draft)
                continue
            ids.add(log_id)
            free = slot + 1
            draft.slot = slot
            draft.item["service_name"] = shard_of(service, slot) if is_hot else service
            draft.item["timestamp"] = timestamp_of(slot)
            placed.append(draft)
        return placed

    def note_stored(self, drafts: Iterable[LogDraft]) -> None:
        """Keep in mind that logs are stored, if they are part of a crowd."""
        for draft in drafts:
            if draft.slot > draft.time_ns // 1000:
                self._taken.add(draft.service, draft.slot, draft.item)

    async def look_up(self, refused: Sequence[LogDraft]) -> None:
        """Find out what is stored in the slots of refused logs, and behind those that hold other logs."""
        keys = {self._key(draft.service, draft.slot): draft for draft in refused}
        found = await self._database.get_many(keys, attributes=_READ)
        for key, draft in keys.items():
            self._taken.add(draft.service, draft.slot, found.get(key))
        gaps: set[tuple[str, int]] = set()
        for draft in refused:
            if not self._taken.holds(draft.service, draft.item):
                free = self._taken.free(draft.service, draft.slot)
                if (draft.service, free) not in gaps:
                    gaps.add((draft.service, await self._read_on(draft, free)))

    async def _read_on(self, draft: LogDraft, slot: int) -> int:
        """Read the slots from one on until one is free, or too far from a log's time. Returns that one."""
        service, end = draft.service, draft.time_ns // 1000 + MOST_SHIFT + 1
        names = shards_of(service) if self._services.is_hot(service) else [service]
        at_once = SLOTS_AT_FIRST
        while slot < end:
            last = slot + at_once - 1
            page = await self._database.query(
                Query(
                    entity=SERVICE_LOG,
                    partitions=[(name,) for name in names],
                    between=(timestamp_of(slot), timestamp_of(last)),
                    attributes=_READ | {"timestamp"},
                )
            )
            items = {SERVICE_LOG.key_of(item): item for item in page.items}
            while (item := items.get(self._key(service, slot))) is not None:
                self._taken.add(service, slot, item)
                slot += 1
            if slot <= last:
                break
            at_once = min(2 * at_once, SLOTS_AT_MOST)
            await give_way()
        return slot

    def _key(self, service: str, slot: int) -> Key:
        name = shard_of(service, slot) if self._services.is_hot(service) else service
        return SERVICE_LOG.key_for(name, timestamp_of(slot))
