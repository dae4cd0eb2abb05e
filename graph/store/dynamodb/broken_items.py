"""Reports broken items: those of other programs that this service cannot read, and therefore leaves out."""

from typing import Any

from cachetools import LRUCache

from graph.observability.logs import get_logger
from graph.store.dynamodb.codec import EncodedItem, decode
from graph.store.entity import Entity
from graph.store.meter import Meter

NAMED = 10_000  # items that are not named in the log again

logger = get_logger(__name__)


class BrokenItems:
    """Counts each broken item that is read, and names it in the log once."""

    def __init__(self, meter: Meter | None) -> None:
        self._meter = meter
        self._named: LRUCache[tuple[Any, ...], None] = LRUCache(NAMED)

    def report(self, table: str, entity: Entity, item: EncodedItem, error: Exception) -> None:
        """Report an item of a table that was left out."""
        if self._meter:
            self._meter.broken_item(entity.table.name)
        key = {template.key.name: decode(item[template.key.name]) for template in entity.primary}
        place = table, *key.values()
        if place not in self._named:
            self._named[place] = None
            reason = str(error) or type(error).__name__
            logger.warning("An item is left out, since it is broken", table=table, key=key, reason=reason)
