"""What the service logs must answer, found by looking at every log."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from unicodedata import category, normalize

from graph.core.paging import Paging, Position
from graph.domains.service_logs.model import LogLevel, ServiceLog, ServiceLogType
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import LogInterval, LogVolume, VolumeBy


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
    interval: LogInterval,
    by: VolumeBy,
    first: int,
    last: int,
    services: Sequence[str] | None = None,
) -> list[LogVolume]:
    """The volume of all stored logs. Periods are counted whole."""
    counts: Counter[tuple[int, str]] = Counter()
    series = {VolumeBy.LEVEL: "level", VolumeBy.TYPE: "log_type", VolumeBy.SERVICE: "service"}[by]
    for log in logs:
        second = int(log.time_unix_nano) // 1_000_000_000
        start = second - second % interval.value
        if first - first % interval.value <= start <= last and (services is None or log.service in services):
            counts[start, log.service if series == "service" else log.item[series]] += 1
    read: dict[VolumeBy, Callable[[str], Any]] = {VolumeBy.LEVEL: LogLevel.__getitem__, VolumeBy.TYPE: ServiceLogType}
    convert = read.get(by, str)
    return [LogVolume(start, counts[start, name], **{series: convert(name)}) for start, name in sorted(counts)]
