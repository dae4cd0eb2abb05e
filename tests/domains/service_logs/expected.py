"""Logs for Hypothesis, and what a page or a volume of them must be: found by looking at each."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from unicodedata import category, normalize

from hypothesis import strategies as st

from graph.core.paging import Paging, Position
from graph.domains.service_logs.model import LEVELS, NewLog, ServiceLog, ServiceLogLevel, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import ServiceLogInterval, ServiceLogVolume, VolumeBy
from tests.domains.service_logs.builders import DAY, MICROSECOND, MIDNIGHT_NS, NOON_NS, SECOND, is_counted
from tests.domains.service_logs.foreign_logs import a_log_entry

SERVICES = ("hot", "late", "quiet", "käse #1 ")  # the second one becomes hot between two batches
TRACE = "5b8efff7" * 4
DAYS_KEPT: dict[str, Any] = {"application_log_days": 2, "system_log_days": 4, "audit_log_days": 0}

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
foreign_logs = st.builds(
    lambda moment, **others: a_log_entry(timestamp=moment // SECOND, **others),
    moments,
    service_name=st.sampled_from([*SERVICES, "foreign", "foreign#3", "late#9", "hot#5"]),
    message=st.sampled_from(["paid", "Refunded", "déclined: 100%"]),
    level=st.sampled_from(LEVELS),
    log_type=st.sampled_from([each.value for each in ServiceLogType]),
    metadata=st.fixed_dictionaries({}, optional={"user": st.just("anna"), "ms": st.just(500)}),
    ttl=st.sampled_from([NOON_NS // SECOND + hours * 3600 for hours in (1, 24, 36, 100)]),
)

slots = times.map(lambda time_ns: time_ns // 1000)
names = st.lists(st.sampled_from([*SERVICES, "foreign", "unknown", "", "x" * 65, "\ud800", "hot#3"]), max_size=3).map(
    tuple
)


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
    levels=st.none() | st.none() | st.lists(st.sampled_from(ServiceLogLevel), max_size=3).map(tuple),
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


def selects(selection: ServiceLogSelection, log: ServiceLog) -> bool:
    """Whether the log is meant."""
    time = int(log.time_unix_nano) // 1000
    metadata = {name: _as_text(value) for name, value in (log.metadata or {}).items()}
    return (
        (selection.first is None or time >= selection.first)
        and (selection.last is None or time <= selection.last)
        and (selection.services is None or log.service in selection.services)
        and (selection.types is None or log.log_type in selection.types)
        and (selection.levels is None or log.level in selection.levels)
        and (selection.min_severity is None or log.severity_number >= selection.min_severity)
        and (selection.text is None or _plain(selection.text) in _plain(log.message))
        and (selection.trace_id is None or log.trace_id == selection.trace_id.lower())
        and all(metadata.get(name) == value for name, value in selection.metadata)
    )


def _plain(text: str) -> str:
    return "".join(each for each in normalize("NFD", text) if category(each) != "Mn").lower()


def _as_text(value: Any) -> str:
    names = {True: "true", False: "false", None: "null"}
    return (
        value
        if isinstance(value, str)
        else names[value]
        if value is None or value is True or value is False
        else str(value)
    )


def place(log: ServiceLog) -> tuple[float, str]:
    """What all lists of logs are ordered by."""
    return log.timestamp, log.service_name


def expected_page(
    logs: Sequence[ServiceLog], selection: ServiceLogSelection, paging: Paging, *, forward: bool
) -> list[str]:
    """The ids of a page. `logs` are all stored ones."""
    order = sorted((log for log in logs if selects(selection, log)), key=place, reverse=not forward)

    def is_behind(log: ServiceLog, cursor: Position) -> bool:
        at = place(ServiceLog(dict(cursor)))
        return place(log) > at if forward else place(log) < at

    after = [log for log in order if paging.after is None or is_behind(log, paging.after)]
    last = None if paging.before is None else place(ServiceLog(dict(paging.before)))
    ids = [
        log.log_id
        for log in after
        if paging.before is None or not (is_behind(log, paging.before) or place(log) == last)
    ]
    return ids[max(len(ids) - paging.size, 0) :] if paging.backward else ids[: paging.size]


def expected_volume(
    logs: Sequence[ServiceLog],
    interval: ServiceLogInterval,
    by: VolumeBy,
    first: int,
    last: int,
    services: Sequence[str] | None = None,
    *,
    now: int,
) -> list[ServiceLogVolume]:
    """The volume of all logs that were written. Periods are counted whole.

    Args:
        now: the time, epoch milliseconds.
    """
    counts: Counter[tuple[int, str]] = Counter()
    series = {VolumeBy.LEVEL: "level", VolumeBy.TYPE: "log_type", VolumeBy.SERVICE: "service"}[by]
    for log in logs:
        second = int(log.time_unix_nano) // 1_000_000_000
        start = second - second % interval.value
        is_chosen = services is None or log.service in services
        if is_chosen and first - first % interval.value <= start <= last and is_counted(log, interval, now):
            counts[start, log.service if series == "service" else log.item[series]] += 1
    read: dict[VolumeBy, Callable[[str], Any]] = {
        VolumeBy.LEVEL: ServiceLogLevel.__getitem__,
        VolumeBy.TYPE: ServiceLogType,
    }
    convert = read.get(by, str)
    return [ServiceLogVolume(start, counts[start, name], **{series: convert(name)}) for start, name in sorted(counts)]
