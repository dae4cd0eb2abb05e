"""Writes batches of logs.

    logs → checked → in order of service and time → slots → transactions

One transaction holds some logs, the counters of their volumes, and the number of their change. So a crash loses no
count. A batch that takes several transactions may be stored in part when the process dies. It is not acknowledged
then, and sent again: what is stored is skipped.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from time import perf_counter
from typing import TypeVar

from graph.core.clock import Clock
from graph.domains.service_logs.checking import Checks, LogDraft
from graph.domains.service_logs.entities import CHANGES, SERVICE_LOG
from graph.domains.service_logs.model import MOST_SHIFT, LogProblem, NewLog, RejectedLog, WriteReport
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.domains.service_logs.slots import MOST_KNOWN, BatchSlots, TakenSlots
from graph.domains.service_logs.volumes import VolumeTally
from graph.feed.sequence import ChangeSequence, Reservation
from graph.observability.metrics import Metrics
from graph.store.contract import Action, Database, Put
from graph.store.entity import Item
from graph.store.rounds import rounds
from graph.work.account import give_way

MOST_LOGS = 1000  # of one mutation
LOGS_LISTED = 100  # in its payload
MOST_BYTES = 4_000_000  # of a transaction's logs; DynamoDB takes 4 MB
SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
PIECE_S = 0.001  # of checking, before giving way to other work; some 100 usual logs

L = TypeVar("L")


@dataclass(eq=False)
class LogWriter:
    """Stores service logs."""

    database: Database
    services: LoggingServices
    settings: ServiceLogSettings
    clock: Clock
    metrics: Metrics
    taken: TakenSlots = field(default_factory=TakenSlots)

    def __post_init__(self) -> None:
        self.sequence = ChangeSequence(self.database, CHANGES)
        self._counted = self.metrics.counter("service_logs", "Service logs that were sent, by outcome.", "outcome")

    async def write(
        self, logs: Sequence[NewLog | RejectedLog], *, ids: dict[str, int] | None = None, is_own: bool = False
    ) -> WriteReport:
        """Store logs, each of which is judged by itself.

        Args:
            logs: a rejection stands for a log that could not be read.
            ids: the ids that were derived for the batches of the same source before, and how often each was derived.
                Those of this batch are added. Without it, equal logs of different batches are one log.
            is_own: whether this service wrote them. Other senders cannot use its name.

        Raises:
            DatabaseUnavailable: Some may be stored. Writing all of them again completes the work.
        """
        rejections: list[RejectedLog] = []
        drafts: list[LogDraft] = []
        checks = Checks(self.settings, self.clock() // 1000, {} if ids is None else ids, is_own=is_own)
        began = perf_counter()
        for index, log in enumerate(logs):
            draft = log if isinstance(log, RejectedLog) else checks.draft(index, log)
            if isinstance(draft, RejectedLog):
                rejections.append(draft)
            else:
                drafts.append(draft)
            if perf_counter() - began > PIECE_S:
                await give_way()
                began = perf_counter()
        if too_many := await self.services.ensure({draft.service for draft in drafts}):
            rejections += [_of_one_too_many(draft) for draft in drafts if draft.service in too_many]
            drafts = [draft for draft in drafts if draft.service not in too_many]
        for name in ("time_ns", "service"):  # equal ones keep their order
            drafts.sort(key=attrgetter(name))
        if len(self.taken) > MOST_KNOWN:
            self.taken = TakenSlots()
        slots = BatchSlots(self.database, self.services, self.taken)
        accepted, listed = 0, list[Item]()
        placed = await slots.place(drafts)
        for part in in_transactions(placed, self.database.transaction_limit, _minute_of, attrgetter("size")):
            stored = await self._store(part, slots)
            accepted += len(stored)
            listed += [draft.item for draft in stored[: LOGS_LISTED - len(listed)]]
        rejections += map(_of_one_too_crowded, slots.crowded)
        skipped = len(logs) - accepted - len(rejections)
        for outcome, number in (("accepted", accepted), ("skipped", skipped), ("rejected", len(rejections))):
            self._counted.labels(outcome).inc(number)
        rejections.sort(key=lambda rejection: rejection.index)
        return WriteReport(accepted, skipped, tuple(rejections), listed, checks.changed)

    async def _store(self, drafts: list[LogDraft], slots: BatchSlots) -> list[LogDraft]:
        """Store placed logs that fit one transaction. Returns those that were new."""
        others = rounds("other writers kept taking the slots of the same service")
        while True:
            if slots.are_outdated:  # what is stored may concern these logs too
                drafts = await slots.place(drafts)
            if not drafts or not (taken := await self._transact(drafts)):
                slots.note_stored(drafts)
                return drafts
            await slots.look_up(taken)
            next(others)

    async def _transact(self, drafts: Sequence[LogDraft]) -> list[LogDraft]:
        """Apply one transaction. Returns the logs whose slots are taken; without any, it was applied."""
        tally, keys, puts = VolumeTally(), [], []
        last_ttl: int | None = 0
        for draft in drafts:
            item = draft.item
            ttl: int | None = item.get("ttl")
            tally.add(draft.service, item["log_type"], draft.time_ns // SECOND_NS, item["level"], ttl)
            keys.append(f"{draft.slot}@{item['service_name']}")
            puts.append(Put(SERVICE_LOG, item, if_absent=True, is_checked=True))
            last_ttl = None if ttl is None or last_ttl is None else max(last_ttl, ttl)
        await give_way()
        counters = tally.updates()
        await give_way()

        def numbered(reservation: Reservation) -> list[Action]:
            for draft in drafts:
                draft.item["change"] = reservation.number
            return [*puts, *counters, *reservation.actions(keys, ttl=last_ttl)]

        return [drafts[at] for at in await self.sequence.transact(numbered)]


def in_transactions(
    logs: Iterable[L], limit: int, minute_of: Callable[[L], Hashable], size_of: Callable[[L], int] = lambda log: 0
) -> Iterator[list[L]]:
    """The logs in parts that fit one transaction with their counters.

    Args:
        limit: the most actions of a transaction.
        minute_of: the service, the type and the minutes that have the counters of a log.
        size_of: bytes; needed of logs that are put whole.
    """
    part: list[L] = []
    minutes, size = set[Hashable](), 0
    for log in logs:
        minutes.add(minute_of(log))
        size += size_of(log)
        actions = len(part) + 1 + VolumeTally.most_actions(len(minutes)) + ChangeSequence.ACTIONS
        if part and (actions > limit or size > MOST_BYTES):
            yield part
            part, minutes, size = [], {minute_of(log)}, size_of(log)
        part.append(log)
    if part:
        yield part


def _minute_of(draft: LogDraft) -> Hashable:
    return draft.service, draft.item["log_type"], draft.time_ns // MINUTE_NS


def _of_one_too_many(draft: LogDraft) -> RejectedLog:
    message = (
        "There are too many services: GRAPH_MAX_SERVICES is their greatest number, and one sender may add half of them."
    )
    return RejectedLog(draft.index, LogProblem.TOO_MANY_SERVICES, message)


def _of_one_too_crowded(draft: LogDraft) -> RejectedLog:
    message = f"The {MOST_SHIFT:,} microseconds from its time on all have a log of its service: give more exact times."
    return RejectedLog(draft.index, LogProblem.TIME_CROWDED, message)
