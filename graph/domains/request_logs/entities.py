"""The request logs' entities in the table `earthquake-events`."""

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.request_logs.model import LONGEST_ID, TIME_DIGITS, RequestLog, place_of
from graph.store.attributes import Text, Whole
from graph.store.entity import Entity, Key

LOG = Entity(
    "LOG",
    EARTHQUAKE_EVENTS,
    RequestLog,
    key=("LOG#{day}", "{timestamp}#{requestId}"),
    attributes=(
        Text("day", longest=8, unit="YYYYMMDD, UTC", in_key_alone=True),
        Whole("ttl", unit="epoch seconds"),
    ),
)

LOG_COUNT = Entity(
    "LOG_COUNT",
    EARTHQUAKE_EVENTS,
    key=("COUNTS#LOGS", "DAY#{day}"),
    attributes=(
        Text("day", longest=8, unit="YYYYMMDD, UTC", in_key_alone=True),
        Whole("logs"),
        Whole("bytes"),
        Whole("leftOut", optional=True),
        Whole("catalogueLeftOut", optional=True),
        Whole("ttl", unit="epoch seconds"),
    ),
)

ENTITIES = (LOG, LOG_COUNT)


def key_of(node_key: str) -> Key | None:
    """The primary key of the log with this key of a node; None if no log can have it."""
    timestamp, _, request_id = node_key.partition("#")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= TIME_DIGITS):
        return None
    if not 0 < len(request_id) <= LONGEST_ID:
        return None
    return LOG.key_of(place_of({"timestamp": int(timestamp), "requestId": request_id}))
