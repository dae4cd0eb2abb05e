"""The access patterns of the service logs: by service and time, by type and time, and all recent ones.

None of them is a scan. Logs of services are in the partitions of these services. All others are read by their type:
there are three types, so the logs of all services are three partitions of the index, in one order.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from graph.core.paging import Page
from graph.domains.service_logs.entities import ADOPTION, LAST_SECOND, LOGS, SERVICE_LOG, TIMESTAMP_INDEX, key_of
from graph.domains.service_logs.model import MOST_SHIFT, ServiceLog, end_of_slot, node_key, timestamp_of
from graph.domains.service_logs.planning import LogPlan
from graph.domains.service_logs.selection import ServiceLogSelection, Slots, is_empty, overlap, slots_between
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.volumes import ServiceLogInterval, ServiceLogVolume, VolumeBy, Volumes
from graph.feed.adoption import adopted_until
from graph.store.between import Between, ItemsFound, Reader, page_between
from graph.store.conditions import all_of, names_in, predicate
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.merging import MergedPartitions
from graph.store.ordering import PageRequest
from graph.store.query import Needed, Query
from graph.store.records import records_at
from graph.store.time_walk import ROWS_PER_BATCH, Keep, keep_all
from graph.work.account import charge_rows

LATE_MS = 300_000  # from a log's time until another program has written it, as a rule
KEPT_MS = 10_000  # for which a process does not ask again how far logs are adopted


@dataclass(eq=False)
class ServiceLogs:
    """The stored service logs."""

    database: Database
    services: LoggingServices
    rows_per_part: int = ROWS_PER_BATCH  # about the most logs that a filter is tested on at a time

    def __post_init__(self) -> None:
        self._volumes = Volumes(self.database)
        self._adopted_until = 0
        self._asked_at = -KEPT_MS  # how far logs are adopted

    async def page(
        self, selection: ServiceLogSelection, request: PageRequest, *, forward: bool = False
    ) -> Page[ServiceLog]:
        """A page of the selected logs, newest first, or with `forward` oldest first.

        Raises:
            QueryTooComplex: The operation in progress may not read so many logs.
        """
        partitions = None if selection.services is None else await self.services.partitions(selection.services)
        if partitions is not None:
            selection = replace(selection, services=tuple(partitions))
        query = self._query(selection, partitions, request.attributes)
        place_of = MergedPartitions(self.database, query).place_of
        places = replace(query, attributes=frozenset())
        return await page_between(
            partial(self._read, selection, query),
            request.paging,
            forward=forward,
            record_of=ServiceLog.reading(request.attributes),
            place_of=place_of,
            to_count=lambda: [Reader(partial(self._read, selection, places), place_of)],
        )

    def _query(
        self, selection: ServiceLogSelection, partitions: Mapping[str, Sequence[str]] | None, attributes: Needed
    ) -> Query:
        """The partitions that hold the selected logs, and what the store tests."""
        if partitions is None:
            return Query(
                entity=SERVICE_LOG,
                index=TIMESTAMP_INDEX,
                partitions=[(log_type.value,) for log_type in selection.possible_types],
                where=selection.condition,
                attributes=attributes,
            )
        return Query(
            entity=SERVICE_LOG,
            partitions=[(name,) for names in partitions.values() for name in names],
            where=all_of(selection.of_types, selection.condition),
            attributes=attributes,
        )

    async def _read(
        self, selection: ServiceLogSelection, query: Query, size: int, within: Between, *, forward: bool
    ) -> ItemsFound:
        """The first logs between two places."""
        items: list[Item] = []
        partitions = 0
        parts = self._parts(selection, query, size + 1, slots_between(within), forward=forward)
        async for slots, is_counted in parts:
            for (first, last), keep in selection.ranges(slots, forward=forward):
                bounds = (None if first is None else timestamp_of(first), None if last is None else end_of_slot(last))
                some = replace(query, between=bounds)
                if not is_counted:
                    some, keep = _tested_here(some, keep)
                left = size - len(items)
                found = await MergedPartitions(self.database, some, keep).read(left, within, forward=forward)
                items += found.items
                partitions += found.partitions
                if found.more:
                    return ItemsFound(items, True, partitions)
        return ItemsFound(items, False, partitions)

    async def _parts(
        self, selection: ServiceLogSelection, query: Query, wanted: int, within: Slots, *, forward: bool
    ) -> AsyncIterator[tuple[Slots, bool]]:
        """The slots to read, in order or in reverse, and whether a filter may be left to the store.

        A filter is tested on one part of the slots after the other, as counters bound them. Where logs of other
        programs may not be counted yet, each log that is read is tested and charged here.
        """
        if not query.partitions or (query.where is None and selection.keep is None):
            yield within, True
            return
        begin = await self._end_of_counted()
        ends = [(overlap(within, (None, None if begin is None else begin - 1)), True)]
        if begin is not None:
            ends.append((overlap(within, (begin, None)), False))
        for slots, is_counted in ends if forward else ends[::-1]:
            if not is_counted:
                yield slots, False
            elif not is_empty(slots) and (narrowed := selection.within(slots)):
                async for part in self._counted_parts(narrowed, wanted, forward=forward):
                    yield overlap(part, slots), True

    async def _end_of_counted(self) -> int | None:
        """The first slot whose logs may not be counted yet; None where all are counted.

        Logs that were written before the adoption's time are counted. Those that were written later may have earlier
        times: a filter finds such a log once it is adopted.
        """
        if self.database.other_writers is None:
            return None
        now = self.services.clock()
        if now - self._asked_at >= KEPT_MS:
            self._adopted_until, self._asked_at = await adopted_until(self.database, ADOPTION, LOGS), now
        return max(self._adopted_until - LATE_MS, 0) * 1000

    async def _counted_parts(
        self, selection: ServiceLogSelection, wanted: int, *, forward: bool
    ) -> AsyncIterator[Slots]:
        plan = LogPlan(self._volumes, selection, self.rows_per_part)
        reached: int | None = None
        async for part in plan.parts(wanted, forward=forward):
            await charge_rows(tested=part.rows)
            first, last = part.slots
            last += MOST_SHIFT  # a crowd may have shifted its last logs so far
            if reached is not None:
                first, last = (max(first, reached + 1), last) if forward else (first, min(last, reached - 1))
            reached = last if forward else first
            yield first, last

    async def by_key(self, keys: Sequence[str], attributes: Needed = None) -> Mapping[str, ServiceLog]:
        """The existing logs with these keys of nodes."""
        wanted = [key for each in keys if (key := key_of(each))]
        logs = await records_at(self.database, ServiceLog, wanted, attributes)
        return {node_key(log.service_name, log.timestamp): log for log in logs}

    async def volume(
        self, interval: ServiceLogInterval, by: VolumeBy, first: int, last: int, services: Sequence[str] | None = None
    ) -> list[ServiceLogVolume]:
        """The number of logs by period, see `Volumes.volume`. Without `services`, of all of them."""
        last = min(last, LAST_SECOND)
        if last < first:
            return []
        if services is None and by is not VolumeBy.SERVICE:
            return await self._volumes.volume(interval, by, first, last)
        known = await (self.services.all() if services is None else self.services.named(services))
        return await self._volumes.volume(interval, by, first, last, [service.name for service in known])


def _tested_here(query: Query, keep: Keep | None) -> tuple[Query, Keep | None]:
    """A query without its filter, and what tests that here together with the rest."""
    tested = [Keep(predicate(query.where), names_in(query.where))] if query.where else []
    return replace(query, where=None), keep_all([*tested, *([keep] if keep else [])])
