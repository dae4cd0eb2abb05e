"""Strategies for Hypothesis: logs with many ties, in crowded and in quiet times, and what may be asked of them."""

from typing import Any

from hypothesis import strategies as st

from graph.domains.service_logs.model import LogLevel, NewLog, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection
from tests.domains.service_logs.builders import DAY, MICROSECOND, MIDNIGHT_NS, NOON_NS, SECOND

SERVICES = ("hot", "late", "quiet", "käse #1 ")  # the second one becomes hot between two batches
TRACE = "5b8efff7" * 4
DAYS_KEPT: dict[str, Any] = {"application_log_days": 1, "system_log_days": 3, "audit_log_days": 0}

moments = st.sampled_from(
    [
        MIDNIGHT_NS - DAY,  # the first moment of yesterday
        MIDNIGHT_NS - DAY // 2,
        MIDNIGHT_NS - 3 * MICROSECOND,  # a crowd there spills over into today
        MIDNIGHT_NS,
        MIDNIGHT_NS + 60 * SECOND - MICROSECOND,
        NOON_NS - 3600 * SECOND,
        NOON_NS,
        NOON_NS + MICROSECOND,
    ]
)
times = st.builds(lambda moment, ns: moment + ns, moments, st.sampled_from([0, 0, 0, 1, 2000, SECOND]))
metadata = st.none() | st.dictionaries(
    st.sampled_from(["user", "ms"]), st.sampled_from(["anna", 500, True, None, {"a": [1]}]), max_size=2
)
new_logs = st.builds(
    NewLog,
    service=st.sampled_from(SERVICES),
    message=st.sampled_from(["paid", "Refunded", "déclined: 100%", ""]),
    time_ns=times,
    log_type=st.sampled_from(ServiceLogType),
    severity=st.integers(1, 24),
    metadata=metadata,
    trace_id=st.none() | st.sampled_from([TRACE, TRACE.upper(), "0" * 32]),
)
batches = st.lists(new_logs, max_size=25)

slots = times.map(lambda time_ns: time_ns // 1000)
names = st.lists(st.sampled_from([*SERVICES, "unknown", "", "x" * 65, "\ud800", "hot#3"]), max_size=3).map(tuple)


def _selection(bounds: tuple[int | None, int | None], **others: Any) -> ServiceLogSelection:
    first, last = bounds
    if first is not None and last is not None and first > last:
        first, last = last, first
    return ServiceLogSelection(first=first, last=last, **others)


selections = st.builds(
    _selection,
    st.just((None, None)) | st.tuples(st.none() | slots, st.none() | slots),
    services=st.none() | names,
    types=st.none() | st.lists(st.sampled_from(ServiceLogType), max_size=3).map(tuple),
    levels=st.none() | st.none() | st.lists(st.sampled_from(LogLevel), max_size=3).map(tuple),
    min_severity=st.none() | st.none() | st.integers(1, 24),
    text=st.none() | st.none() | st.sampled_from(["a", "DECLINED", "0%", "nowhere"]),
    trace_id=st.none() | st.none() | st.sampled_from([TRACE.upper(), "1" * 32]),
    metadata=st.just(())
    | st.just(())
    | st.sampled_from([(("user", "anna"),), (("ms", "500"), ("user", "true")), (("user", "null"),), (("ms", "5"),)]),
)
positions = st.fixed_dictionaries(
    {
        "timestamp": st.builds(lambda slot, more: (slot + more) / 1_000_000, slots, st.integers(-1, 6)),
        "service_name": st.sampled_from(["hot#0", "hot#5", "late", "late#9", "quiet", "a"]),
    }
)
