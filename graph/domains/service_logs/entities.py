"""The service logs' tables: the documented one holds logs and nothing else, all the rest is in a second one.

A log's `timestamp` is a slot: the microsecond of its time, or the next one that no other log of its service has. So
the documented key is unique, and a log never replaces another one.
"""

from graph.feed.sequence import SequenceEntities
from graph.store.attributes import Document, Real, Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity

LONGEST_SERVICE = 64  # characters; names are part of global ids
LONGEST_MESSAGE = 65_536  # characters; four bytes each still fit DynamoDB's 400 KB
LARGEST_METADATA = 65_536  # bytes
LONGEST_EVENT_NAME = 256  # characters
LONGEST_SEVERITY = 64  # characters
SECOND_DIGITS = 11  # of epoch seconds

LOG_TYPE = KeyAttribute("log_type", "S")
TIMESTAMP = KeyAttribute("timestamp", "N")
TIMESTAMP_INDEX = Index("TimestampIndex", LOG_TYPE, TIMESTAMP, narrowed_by=("severity_number",))

LOGS = TableDesign(
    name="simple-log-service-{env}-logs",
    partition_key=KeyAttribute("service_name", "S"),
    sort_key=TIMESTAMP,
    indexes=(TIMESTAMP_INDEX,),
    ttl="ttl",
    resource="ServiceLogs",
)

STATE = TableDesign(name="simple-log-service-{env}-state", ttl="ttl", resource="ServiceLogState")

SERVICE_LOG = Entity(
    "SERVICE_LOG",
    LOGS,
    key=("{service_name}", "{timestamp}"),
    indexes={TIMESTAMP_INDEX: ("{log_type}", "{timestamp}")},
    attributes=(
        Text("service_name", shortest=1, longest=LONGEST_SERVICE + 2),  # `checkout#7` of a hot service
        Real("timestamp", least=0, unit="epoch seconds, with microseconds"),
        Text("log_id", longest=36, unit="UUID"),
        Text("log_type", shortest=1, longest=11),
        Text("level", longest=5),
        Text("message", longest=LONGEST_MESSAGE),
        Document("metadata", largest=LARGEST_METADATA, optional=True),
        Text("time_unix_nano", longest=19, unit="epoch ns"),
        Whole("severity_number", least=1, greatest=24, unit="as of OpenTelemetry"),
        Text("severity_text", longest=LONGEST_SEVERITY, unit="as the sender has it", optional=True),
        Text("trace_id", longest=32, unit="hexadecimal", optional=True),
        Text("span_id", longest=16, unit="hexadecimal", optional=True),
        Text("event_name", longest=LONGEST_EVENT_NAME, optional=True),
        Whole("change", unit="sequence number"),
        Whole("ttl", unit="epoch seconds", optional=True),
    ),
)

LOGGING_SERVICE = Entity(
    "LOGGING_SERVICE",
    STATE,
    key=("SERVICES", "{service}"),
    attributes=(
        Text("service", shortest=1, longest=LONGEST_SERVICE),
        Whole("since", unit="epoch ms"),
        Truth("is_spread", optional=True),  # whether logs of it were ever spread over partitions
        Text("added_by", optional=True),  # who sent its first log
    ),
)

LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")

LOG_VOLUME = Entity(
    "LOG_VOLUME",
    STATE,
    key=("VOLUME#{interval}#{log_type}#{service}", "{start}#{kept_until}"),
    attributes=(
        Text("interval", longest=6, in_key_alone=True),  # MINUTE, HOUR or DAY
        Text("log_type", longest=11, in_key_alone=True),
        Text("service", longest=LONGEST_SERVICE, in_key_alone=True),  # empty for all services together
        Whole("start", least=0, digits=SECOND_DIGITS, unit="epoch seconds", in_key_alone=True),
        Whole("kept_until", least=0, unit="epoch seconds, 0 for ever", in_key_alone=True),
        *(Whole(level, optional=True) for level in LEVELS),  # number of logs
        Whole("ttl", unit="epoch seconds", optional=True),
    ),
)

CHANGES = SequenceEntities.of(STATE, "CHANGES", "SERVICE_LOGS", keys="logs", number="change", expires=True)

ENTITIES = (SERVICE_LOG, LOGGING_SERVICE, LOG_VOLUME, CHANGES.change, CHANGES.latest)
