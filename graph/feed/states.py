"""The states of feeds, as far as they can be known: while one stays the same, so do the records that it orders."""

from collections.abc import Collection

from graph.feed.sequence import SequenceEntities
from graph.store.contract import Database
from graph.store.entity import Item


class FeedStates:
    """Reads the states of feeds, always from the store: other processes may write, too."""

    def __init__(self, database: Database, *, sole_writer: bool) -> None:
        """Make the reader.

        Args:
            database: whose feeds they are.
            sole_writer: whether no other program writes the tables. The items of another program are read at once, but
                they are in the feed only after they are adopted.
        """
        self._database = database
        self._knows = sole_writer or database.other_writers is None

    async def of(self, sequences: Collection[SequenceEntities]) -> list[Item | None] | None:
        """The states of these feeds in the order of their names; None if a state may stay the same during a change."""
        if sequences and not self._knows:
            return None
        latest = sorted((each.latest for each in sequences), key=lambda entity: (entity.table.name, entity.name))
        return [await self._database.get(entity.key_for()) for entity in latest]
