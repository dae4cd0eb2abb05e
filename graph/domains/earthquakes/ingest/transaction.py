"""One transaction of the catalogue: some writes, what they change in the summaries, and the number of the change."""

from collections.abc import Collection, Sequence

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
        self._owners: list[int] = []
        self.actions: list[Action] = []
        keys: list[str] = []
        tally = Tally()
        for at, write in enumerate(writes):
            own = write.actions(now, number)
            self.actions += own
            self._owners += [at] * len(own)
            keys += write.keys
            write.count(tally)
        if reservation:
            self.actions += reservation.actions(keys, origin=payload_id)
        self.actions += tally.updates(now)

    def owners(self, refused: Collection[int]) -> set[int]:
        """The places of the writes to which refused actions belong."""
        return {self._owners[at] for at in refused if at < len(self._owners)}
