"""The request logs' entities in the table `earthquake-events`."""

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.store.attributes import Document, Real, Text, Truth, Whole
from graph.store.entity import Entity

LONGEST_ID = 64  # characters of a request id; ours are UUIDs
TIME_DIGITS = 13  # of epoch milliseconds, until the year 2286

LOG = Entity(
    "LOG",
    EARTHQUAKE_EVENTS,
    key=("LOG#{day}", "{timestamp}#{requestId}"),
    attributes=(
        Text("day", longest=8, unit="YYYYMMDD, UTC", in_key_alone=True),
        Text("logType"),
        Text("requestId", longest=LONGEST_ID),
        Whole("timestamp", unit="epoch ms", digits=TIME_DIGITS),
        Text("route"),
        Whole("status", least=200, greatest=599, unit="as of HTTP"),
        Whole("latencyMs", least=0, unit="ms"),
        Whole("fetched", optional=True),
        Whole("upserted", optional=True),
        Whole("revised", optional=True),
        Whole("skipped", optional=True),
        Whole("rejected", optional=True),
        Whole("retries", optional=True),
        Whole("upstreamSize", unit="bytes", optional=True),
        Text("upstreamHash", unit="SHA-256", optional=True),
        Whole("starttime", unit="epoch ms", optional=True),
        Whole("endtime", unit="epoch ms", optional=True),
        Real("minmagnitude", optional=True),
        Whole("pageSize", optional=True),
        Whole("resultCount", optional=True),
        Truth("hasNextToken", optional=True),
        Whole("bucketsScanned", optional=True),
        Text("error", optional=True),
        Document("facts", optional=True),  # what other domains record, by their own names
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
        Whole("ttl", unit="epoch seconds"),
    ),
)

ENTITIES = (LOG, LOG_COUNT)
