"""One transaction of the catalogue: some writes, what they change in the summaries, and the number of the change."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate

from graph.domains.earthquakes.ingest.write import Write
from graph.domains.earthquakes.summaries import Tally
from graph.feed.sequence import Reservation
from graph.store.contract import Action


class Transaction:
    """The actions of some writes. All of them make versions, or none does."""

    def __init__(self, writes: Sequence[Write], now: int, reservation: Reservation | None, payload_id: str) -> None:
        """Put a transaction together.

        Args:
            now: when its versions are recorded, epoch milliseconds.
            reservation: the number of the change; None for updates in place.
            payload_id: where its records came from.
        """
        number = reservation.number if reservation else 0
        self._writes = writes
        self.actions: list[Action] = []
        tally = Tally()
        for write in writes:
            self.actions += write.actions(now, number)
            write.count(tally)
        if reservation:
            self.actions += reservation.actions([key for write in writes for key in write.keys], origin=payload_id)
        self.actions += tally.updates(now)

    def owners(self, refused: Collection[int]) -> set[int]:
        """The places of the writes to which refused actions belong."""
        ends = list(accumulate(write.size for write in self._writes))
        return {bisect_right(ends, at) for at in refused if at < ends[-1]}
