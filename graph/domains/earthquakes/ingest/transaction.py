"""One transaction of the catalogue: some writes, what they change in the summaries, and the number of the change."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Self

from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, EVENT_SEQUENCE
from graph.domains.earthquakes.ingest.write import Write
from graph.domains.earthquakes.summaries import Tally
from graph.feed.sequence import Reservation
from graph.store.contract import Action, Put, Update
from graph.work.account import give_way

WRITES_AT_ONCE = 250  # are prepared and counted, in some 2 ms, before giving way to other work


class Transaction:
    """Some writes. All of them make versions, or none does."""

    def __init__(self, writes: Sequence[Write], tally: Tally) -> None:
        self._writes = writes
        self._tally = tally
        self._of_summaries: list[Update] = []
        self._before: list[Action] = []

    @classmethod
    async def of(cls, writes: Sequence[Write]) -> Self:
        """Prepare all that does not depend on the number: a reserved number should be used at once."""
        tally = Tally()
        for begin in range(0, len(writes), WRITES_AT_ONCE):
            for write in writes[begin : begin + WRITES_AT_ONCE]:
                write.prepare()
                write.count(tally)
            tally.count_added()
            await give_way()
        return cls(writes, tally)

    def actions(self, now: int, reservation: Reservation | None, payload_id: str) -> list[Action]:
        """Its actions.

        Args:
            now: when its versions are recorded, epoch milliseconds.
            reservation: the number of the change; None for updates in place.
            payload_id: where its records came from.
        """
        number = reservation.number if reservation else 0
        actions: list[Action] = []
        for write in self._writes:
            actions += write.actions(now, number)
        if reservation:
            keys = [key for write in self._writes for key in write.keys]
            actions += reservation.actions(keys, origin=payload_id)
        else:
            actions.append(EVENT_SEQUENCE.new_state())
        self._of_summaries, self._before = list(self._tally.updates(now)), actions
        return [*actions, *self._of_summaries]

    def uncounted_days(self, refused: Collection[int]) -> list[str]:
        """The days whose summary does not count an event that the writes change, of refused actions."""
        size = len(self._before)
        keys = [self._of_summaries[at - size].key for at in refused if at >= size]
        return [key.values[1] for key in keys if key.entity is DAY_SUMMARY]

    def owners(self, refused: Collection[int]) -> set[int]:
        """The places of the writes to which refused actions belong."""
        ends = list(accumulate(write.size for write in self._writes))
        return {bisect_right(ends, at) for at in refused if at < ends[-1]}

    def taken(self, refused: Collection[int]) -> set[str]:
        """The ids of new events that are stored already, of refused actions."""
        actions = [self._before[at] for at in refused if at < len(self._before)]
        return {
            each.item["eventId"]
            for each in actions
            if isinstance(each, Put) and each.if_absent and each.entity is EVENT
        }
