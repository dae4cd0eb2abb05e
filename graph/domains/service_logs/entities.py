"""The service logs' tables: the documented one holds logs and nothing else, all the rest is in a second one.

A log's `timestamp` is a slot: the microsecond of its time, or the next one that no other log of its service has. So
the documented key is unique, and a log never replaces another one. Whole seconds, as other programs write, are slots.
"""

import re

from graph.domains.service_logs.alarms import ALARMS
from graph.domains.service_logs.model import LEVELS, LONGEST_FOREIGN_SERVICE, LoggingService, ServiceLog, timestamp_of
from graph.feed.adoption import adoption_state
from graph.feed.sequence import SequenceEntities
from graph.store.attributes import Text, Whole
from graph.store.client_input import possible_key
from graph.store.configuration import CUSTOMER_KEY, Provisioned
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity, Key
from graph.store.ordering import Ordering

SECOND_DIGITS = 11  # of epoch seconds
LAST_SECOND = 10**SECOND_DIGITS - 1  # of a period that can be stored; beyond any log

_EXACT = re.compile(r"\d{1,10}\.\d{1,16}", re.ASCII)  # a timestamp that is no slot

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
    billing=Provisioned(least=5, most=100, percent=70),
    encryption=CUSTOMER_KEY,
    alarms=ALARMS,
)

STATE = TableDesign(name="simple-log-service-{env}-state", ttl="ttl", resource="ServiceLogState")

SERVICE_LOG = Entity(
    "SERVICE_LOG",
    LOGS,
    ServiceLog,
    key=("{service_name}", "{timestamp}"),
    indexes={TIMESTAMP_INDEX: ("{log_type}", "{timestamp}")},
    attributes=(Whole("change", unit="sequence number", optional=True),),  # none until a foreign log is adopted
)

LOGGING_SERVICE = Entity("LOGGING_SERVICE", STATE, LoggingService, key=("SERVICES", "{service}"))

LOG_VOLUME = Entity(
    "LOG_VOLUME",
    STATE,
    key=("VOLUME#{interval}#{log_type}#{service}", "{start}#{kept_until}"),
    attributes=(
        Text("interval", longest=6, in_key_alone=True),  # MINUTE, HOUR or DAY
        Text("log_type", longest=11, in_key_alone=True),
        Text("service", longest=LONGEST_FOREIGN_SERVICE, in_key_alone=True),  # empty for all services together
        Whole("start", least=0, digits=SECOND_DIGITS, unit="epoch seconds", in_key_alone=True),
        Whole("kept_until", least=0, unit="epoch seconds, 0 for ever", in_key_alone=True),
        *(Whole(level, optional=True) for level in LEVELS),  # number of logs
        Whole("ttl", unit="epoch seconds", optional=True),
    ),
)

CHANGES = SequenceEntities.of(STATE, "CHANGES", "SERVICE_LOGS", keys="logs", number="change", expires=True)

ADOPTION = adoption_state(STATE)

ENTITIES = (SERVICE_LOG, LOGGING_SERVICE, LOG_VOLUME, CHANGES.change, CHANGES.latest, ADOPTION)

BY_TIME = Ordering("servicelogs", SERVICE_LOG, LOGS.primary)
ServiceLog.cursor = BY_TIME.cursors()


def key_of(node_key: str) -> Key | None:
    """The primary key that a global id names; None if no log can have it."""
    place, at, service_name = node_key.partition("@")
    if at and place.isascii() and place.isdigit() and len(place) <= 17:
        return possible_key(SERVICE_LOG, service_name, timestamp_of(int(place)))
    if at and _EXACT.fullmatch(place) and repr(timestamp := float(place)) == place:
        return possible_key(SERVICE_LOG, service_name, timestamp)
    return None
