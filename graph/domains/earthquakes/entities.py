"""The table `earthquake-events`: events, request logs and summaries in one place, and the keys of an event."""

from typing import Any

from graph.core.days import day_bucket
from graph.core.paging import Position
from graph.store.contract import Key
from graph.store.design import Attribute, Index, TableDesign

MAG = Attribute("mag", "N")

TIME_ORDERED = Index(
    "TimeOrderedIndex",
    partition_key=Attribute("gsi1pk", "S"),
    sort_key=Attribute("gsi1sk", "N"),
    narrowed_by=(MAG, Attribute("lat", "N"), Attribute("lon", "N"), Attribute("depth", "N"), Attribute("type", "S")),
    ranked_by=MAG,  # each magnitude has a tenth of the events that the next smaller one has
)

EARTHQUAKE_EVENTS = TableDesign(
    name="earthquake-events",
    partition_key=Attribute("pk", "S"),
    sort_key=Attribute("sk", "S"),
    indexes=(TIME_ORDERED,),
    ttl="ttl",  # epoch seconds; events and summaries never carry it
)


def event_key(event_id: str) -> Key:
    """The primary key of an event."""
    return f"EVENT#{event_id}", "EVENT"


def day_partition(bucket: str) -> str:
    """The partition of the time-ordered index that holds a day's events."""
    return f"DAY#{bucket}"


def day_of(partition: str) -> str:
    """The day bucket of such a partition."""
    return partition.removeprefix("DAY#")


def index_key(position: Position) -> dict[str, Any]:
    """A position in the catalogue as the key where a query of the index begins."""
    pk, sk = event_key(position.key)
    partition = day_partition(day_bucket(position.time_ms))
    return {"gsi1pk": partition, "gsi1sk": position.time_ms, "pk": pk, "sk": sk}
