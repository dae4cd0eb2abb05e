"""The background work of adoption: one process of many, under a lease, adopts the foreign items of a table.

It reads the table's stream from the kept position on, and scans the table once. It scans again if records of the
stream were lost, as after a day without a process, a day after an item that the store refused, and every hour while the
stream cannot be read. So each foreign item is handed over at least once, while it is there.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass
from typing import Any

from graph.core.clock import Clock
from graph.core.errors import DatabaseUnavailable
from graph.core.services import Services
from graph.feed.adoption import ADOPTED_UNTIL, ITEMS_AT_ONCE, Adoption
from graph.observability.logs import get_logger
from graph.observability.metrics import OK, Metrics
from graph.runtime.holding import hold_forever
from graph.runtime.lease import Lease, LeaseItem
from graph.store.conditions import predicate
from graph.store.contract import Database, Found, OtherWriters, Update
from graph.store.entity import Entity, Item, Key
from graph.work.account import give_way
from graph.work.tasks import Sleep, Work, repeat

LEASE_MS = 60_000
SAVE_EVERY_MS = 60_000  # the positions: after a crash, what follows them is read again
ATTEMPTS = 4  # to adopt an item
FIRST_PAUSE_S = 1.0  # between them; doubled each time
LOOK_EVERY_S = 30.0  # whether a scan is due, or the stream can be read again
SCAN_EVERY_MS = 3_600_000  # without a readable stream
RESCAN_MS = 86_400_000  # after an item that the store refused
NEVER = 2**62  # epoch milliseconds
FAILED = "FAILED"
FAILURE = "Items of other programs cannot be adopted at the moment"

logger = get_logger(__name__)


class AdoptionMetrics:
    """How many items were adopted, and how late."""

    def __init__(self, metrics: Metrics, adoptions: Sequence[Adoption]) -> None:
        self.items = metrics.counter(
            "adopted_items", "Items of other programs that were adopted, by outcome.", "entity", "outcome"
        )
        self.lag = metrics.gauge(
            "adoption_lag_seconds", "Age of a stream's last record when it was adopted.", "table", of_all="livemax"
        )
        for entity in {adoption.entity for adoption in adoptions}:  # Prometheus computes a rate only for what exists
            self.lag.labels(entity.table.name)
            for outcome in (OK, FAILED):
                self.items.labels(entity.name, outcome)


def tasks_of(
    adoptions: Sequence[Adoption], services: Services, database: Database, clock: Clock, metrics: Metrics
) -> dict[str, Work]:
    """The background work of adoptions by its names, for each of their tables. None if no other program can write."""
    others, measured = database.other_writers, AdoptionMetrics(metrics, adoptions)
    if others is None:
        return {}
    groups: dict[tuple[str, Entity], list[Adoption]] = {}
    for adoption in adoptions:
        groups.setdefault((adoption.entity.table.name, adoption.state), []).append(adoption)
    return {
        f"adopting items of {table}": Adopter(group, services, database, others, clock, measured).run_forever
        for (table, _), group in groups.items()
    }


@dataclass(eq=False)
class Adopter:
    """Adopts the foreign items of one table."""

    adoptions: Sequence[Adoption]  # of entities of one table, with one state
    services: Services
    database: Database
    others: OtherWriters
    clock: Clock
    metrics: AdoptionMetrics
    _: KW_ONLY
    sleep: Sleep = asyncio.sleep

    def __post_init__(self) -> None:
        self._of_entity = {adoption.entity: adoption for adoption in self.adoptions}
        self._conditions = {adoption.entity: adoption.foreign for adoption in self.adoptions}
        self._table = self.adoptions[0].entity.table.name
        self._key = self.adoptions[0].state.key_for(self._table)
        self._state = _State({}, [])

    async def run_forever(self) -> None:
        """Adopt whenever no other process does."""
        lease = Lease(self.database, LeaseItem(self._key), self.clock, lasts_ms=LEASE_MS)
        await hold_forever(lease, self.adopt_forever, sleep=self.sleep)

    async def adopt_forever(self) -> None:
        """Adopt without a lease. After a failure, it goes on at the latest positions."""
        entities = sorted(entity.name for entity in self._of_entity)
        self._state = _State(await self.database.get(self._key) or {}, entities)
        self._handing_over = asyncio.Lock()
        self._stream_is_begun = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for work in (self._follow, self._scan_if_due):
                group.create_task(repeat(work, LOOK_EVERY_S, failure=FAILURE, sleep=self.sleep))

    async def _follow(self) -> None:
        """Adopt what is written, for as long as the stream can be read."""
        state, saved_at = self._state, self.clock()
        round_ = [saved_at]  # of reading all shards: when it began, and the times of the last records that it met
        async with aclosing(self.others.written(self._conditions, state.position)) as findings:
            async for found in findings:
                await self._hand_over(found.keys)
                self._note_lag(found)
                state.is_streamless = False
                if found.written_at is not None:
                    round_.append(found.written_at)
                elif not found.is_gap:
                    state.note_stream(min(round_), self.clock())
                    round_ = [self.clock()]
                if found.is_gap:
                    state.scan_anew()
                if found.is_gap or self.clock() >= saved_at + SAVE_EVERY_MS:
                    saved_at = self.clock()
                    await self._save(position=found.position())
                self._stream_is_begun.set()
        state.miss_stream(self.clock())
        self._stream_is_begun.set()

    def _note_lag(self, found: Found) -> None:
        if found.written_at:
            self.metrics.lag.labels(self._table).set(max(0, self.clock() - found.written_at) / 1000)

    async def _scan_if_due(self) -> None:
        """Adopt what is in the table."""
        await self._stream_is_begun.wait()  # so that nothing is written between a scan and the first reading
        if self._state.scan_due <= self.clock():
            await self._scan()

    async def _scan(self) -> None:
        """Scan the table, from the place on where an earlier scan was interrupted. Leaves off if it must begin anew."""
        state = self._state
        started = saved_at = self.clock()
        state.begin_scan()
        async with aclosing(self.others.stored(self._conditions, state.scan_position)) as findings:
            async for found in findings:
                await self._hand_over(found.keys)
                if state.scan_is_stale:
                    return
                state.scan_position = found.position()
                if self.clock() >= saved_at + SAVE_EVERY_MS:
                    saved_at = self.clock()
                    await self._save()
        state.end_scan(started, self.clock())
        await self._save()

    async def _hand_over(self, keys: Sequence[Key]) -> None:
        """Adopt those of the items that are still foreign."""
        of_entity: dict[Entity, dict[Key, None]] = {}
        for key in keys:
            of_entity.setdefault(key.entity, {})[key] = None
        for entity, distinct in of_entity.items():
            adoption, is_foreign = self._of_entity[entity], predicate(self._of_entity[entity].foreign)
            whole = list(distinct)
            for at in range(0, len(whole), ITEMS_AT_ONCE):
                async with self._handing_over:  # or the scan and the stream would hand over an item at the same time
                    found = await self.database.get_many(whole[at : at + ITEMS_AT_ONCE])
                    if items := [item for item in found.values() if is_foreign(item)]:
                        await self._adopt(adoption, items)
                await give_way()

    async def _adopt(self, adoption: Adoption, items: Sequence[Item]) -> None:
        """Adopt items, each on its own if they cannot be adopted together. An item that cannot be is passed over.

        Raises:
            DatabaseUnavailable: The store takes no other write either.
        """
        try:
            await self._try(adoption, items)
        except Exception as failure:
            if isinstance(failure, DatabaseUnavailable):
                await self._save()
            if len(items) > 1:
                for item in items:
                    await self._adopt(adoption, [item])
            else:
                self._pass_over(adoption.entity.key_of(items[0]), failure)
        else:
            self.metrics.items.labels(adoption.entity.name, OK).inc(len(items))

    async def _try(self, adoption: Adoption, items: Sequence[Item]) -> None:
        for attempt in range(ATTEMPTS - 1):
            try:
                return await adoption.adopt(self.services, items)
            except DatabaseUnavailable:
                await self.sleep(FIRST_PAUSE_S * 2**attempt)
        return await adoption.adopt(self.services, items)

    def _pass_over(self, key: Key, failure: Exception) -> None:
        self.metrics.items.labels(key.entity.name, FAILED).inc()
        is_known = isinstance(failure, DatabaseUnavailable)
        if is_known:
            self._state.scan_later(self.clock())
        logger.warning(
            "An item of another program cannot be adopted",
            table=self._table,
            entity=key.entity.name,
            key=list(key.values),
            cause=failure.detail if isinstance(failure, DatabaseUnavailable) else repr(failure),
            exc_info=None if is_known else failure,
        )

    async def _save(self, position: Item | None = None) -> None:
        """Keep the state for the next holder of the lease, with a new position in the stream if there is one."""
        state = self._state
        state.position = position or state.position
        await self.database.update(Update(self._key, set=state.kept()))


class _State:
    """How far the stream and the scan have come, and when the next scan is due."""

    def __init__(self, kept: Item, entities: list[str]) -> None:
        """Go on from what was kept. What was kept of a scan for other entities does not count."""
        is_of_these = kept.get("entities") == entities
        self._entities = entities
        self.position: Item | None = kept.get("position")
        self.scan_position: Item | None = (kept.get("scan") if is_of_these else None) or None
        self.scan_due: int = kept["scanDue"] if is_of_these else 0
        self.scan_is_stale = False  # whether the scan in progress must begin anew
        self.is_streamless = False
        self.adopted_until: int = kept.get(ADOPTED_UNTIL, 0) if is_of_these else 0
        self._is_refused = False  # whether the store has refused an item since the scan began

    def note_stream(self, until: int, now: int) -> None:
        """Note until when the stream was read. It says nothing of what only a scan finds."""
        if self.scan_due > now:
            self.adopted_until = until

    def miss_stream(self, now: int) -> None:
        """Let a scan find what the stream would have brought."""
        self.is_streamless = True
        self.scan_due = min(self.scan_due, now + SCAN_EVERY_MS)

    def scan_anew(self) -> None:
        """Let a scan of the whole table be due now."""
        self.scan_is_stale, self.scan_position, self.scan_due = True, None, 0
        self.adopted_until = 0

    def scan_later(self, now: int) -> None:
        """Let a scan be due in a day."""
        self._is_refused = True
        self.scan_due = min(self.scan_due, now + RESCAN_MS)

    def begin_scan(self) -> None:
        """Note that a scan begins, or goes on."""
        self.scan_is_stale = self._is_refused = False
        self._scan_is_whole = self.scan_position is None

    def end_scan(self, started: int, now: int) -> None:
        """Note that a scan has read the whole table."""
        self.scan_position = None
        after_refusal = now + RESCAN_MS if self._is_refused else NEVER
        without_stream = started + SCAN_EVERY_MS if self.is_streamless else NEVER
        self.scan_due = min(after_refusal, without_stream)
        if self.is_streamless and self._scan_is_whole:
            self.adopted_until = started

    def kept(self) -> dict[str, Any]:
        """The attributes to keep."""
        position = {"position": self.position} if self.position else {}
        scan = {"entities": self._entities, "scan": self.scan_position or {}, "scanDue": self.scan_due}
        return {**position, **scan, ADOPTED_UNTIL: self.adopted_until}
