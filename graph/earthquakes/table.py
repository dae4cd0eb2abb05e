"""The table `earthquake-events`: events, request logs and summaries in one place, and how an event stands in it."""

from typing import Any

from graph.days import day_bucket
from graph.earthquakes.model import Event
from graph.paging import Position
from graph.store.contract import Item, Key
from graph.store.design import Attribute, Index, TableDesign

TIME_ORDERED = Index(
    "TimeOrderedIndex",
    partition_key=Attribute("gsi1pk", "S"),
    sort_key=Attribute("gsi1sk", "N"),
    narrowed_by=(Attribute("mag", "N"), Attribute("lat", "N"), Attribute("lon", "N"), Attribute("depth", "N")),
)

EARTHQUAKE_EVENTS = TableDesign(
    name="earthquake-events",
    partition_key=Attribute("pk", "S"),
    sort_key=Attribute("sk", "S"),
    indexes=(TIME_ORDERED,),
    ttl="ttl",  # epoch seconds; events and summaries never carry it
)

# Attribute of the item → field of the record, in the order of the documented entity.
EVENT_ATTRIBUTES = {
    "eventId": "event_id",
    "eventTsMs": "event_ts_ms",
    "mag": "mag",
    "place": "place",
    "lat": "lat",
    "lon": "lon",
    "depth": "depth",
    "source": "source",
    "ingestedAt": "ingested_at",
    "magType": "mag_type",
    "type": "type",
    "status": "status",
    "updated": "updated",
    "url": "url",
    "tsunami": "tsunami",
    "felt": "felt",
    "alert": "alert",
    "sig": "sig",
}


def event_key(event_id: str) -> Key:
    """The primary key of an event."""
    return f"EVENT#{event_id}", "EVENT"


def day_partition(bucket: str) -> str:
    """The partition of the time-ordered index that holds a day's events."""
    return f"DAY#{bucket}"


def day_of(partition: str) -> str:
    """The day bucket of such a partition."""
    return partition.removeprefix("DAY#")


def event_item(event: Event) -> Item:
    """An event as an item; what is None is absent."""
    pk, sk = event_key(event.event_id)
    bucket = event.day_bucket
    item: Item = {
        "pk": pk,
        "sk": sk,
        "entity": "EVENT",
        "dayBucket": bucket,
        "gsi1pk": day_partition(bucket),
        "gsi1sk": event.event_ts_ms,
    }
    for attribute, field in EVENT_ATTRIBUTES.items():
        if (value := getattr(event, field)) is not None:
            item[attribute] = value
    if event.tsunami is not None:
        item["tsunami"] = int(event.tsunami)  # 0 or 1, as USGS gives it
    return item


def event_of(item: Item) -> Event:
    """The event that an item holds."""
    get = item.get
    tsunami = get("tsunami")
    return Event(
        event_id=item["eventId"],
        event_ts_ms=item["eventTsMs"],
        mag=float(item["mag"]),
        place=item["place"],
        lat=float(item["lat"]),
        lon=float(item["lon"]),
        depth=_float(get("depth")),
        source=item["source"],
        ingested_at=item["ingestedAt"],
        mag_type=get("magType"),
        type=get("type"),
        status=get("status"),
        updated=get("updated"),
        url=get("url"),
        tsunami=None if tsunami is None else bool(tsunami),
        felt=get("felt"),
        alert=get("alert"),
        sig=get("sig"),
    )


def index_key(position: Position) -> dict[str, Any]:
    """A position in the catalogue as the key where a query of the index begins."""
    pk, sk = event_key(position.key)
    partition = day_partition(day_bucket(position.time_ms))
    return {"gsi1pk": partition, "gsi1sk": position.time_ms, "pk": pk, "sk": sk}


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
