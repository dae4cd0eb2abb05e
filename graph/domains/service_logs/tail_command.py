"""`quakegraph logs tail`: prints the newest logs in order of time, then each further one as it is stored.

Nothing that a service wrote can end a line or command a terminal: what cannot be printed is escaped.
"""

from collections.abc import Callable
from contextlib import aclosing

import click
import orjson

from graph.domain import Services
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.model import ServiceLog, ServiceLogLevel
from graph.domains.service_logs.selection import ServiceLogSelection, as_text
from graph.observability.logs import escaped, shown
from graph.store.ordering import PageRequest

COLOURS = {
    ServiceLogLevel.DEBUG: "bright_black",
    ServiceLogLevel.INFO: "green",
    ServiceLogLevel.WARN: "yellow",
    ServiceLogLevel.ERROR: "red",
}


async def tail_logs(
    services: Services, *, selection: Callable[[], ServiceLogSelection], lines: int, follow: bool, as_json: bool
) -> None:
    """Print logs; with `follow`, until this is cancelled.

    The subscription begins before the newest logs are read. So none is missed between the two, and those that are
    stored meanwhile come twice; they are printed once.

    Args:
        selection: raises BadUserInput where it is impossible.
        lines: how many of the newest logs.
    """
    selected, text_of = selection(), _json if as_json else _line
    async with aclosing(await services.of(ServiceLogBroadcast).logs(selected)) as notices:
        printed = set[tuple[tuple[str, str], str]]()  # another program may replace a log by one with the same key
        if lines:
            page = await services.of(ServiceLogs).page(selected, PageRequest.of_first(lines))
            for log in reversed(page.records):
                printed.add((log.identity, log.log_id))
                click.echo(text_of(log))
        if not follow:
            return
        async for notice in notices:
            if notice.dropped:
                click.echo(f"{notice.dropped:,} logs were dropped: they came faster than they were printed.", err=True)
            elif (live := notice.record) and (live.identity, live.log_id) not in printed:
                click.echo(text_of(live))


def _line(log: ServiceLog) -> str:
    """A log as one line. The colour is removed where standard output is no terminal."""
    time = log.logged_at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    level = click.style(f"{log.level.name:<5}", fg=COLOURS[log.level])
    metadata = "".join(f" {escaped(name)}={shown(as_text(value))}" for name, value in (log.metadata or {}).items())
    return f"{time} {level} {escaped(log.service)}: {escaped(log.message)}{metadata}"


def _json(log: ServiceLog) -> str:
    """A log as an object with the graph's names, without what it does not have."""
    values = {
        "service": log.service,
        "type": log.log_type.name,
        "level": log.level.name,
        "severityNumber": log.severity_number,
        "severityText": log.severity_text,
        "message": log.message,
        "timeUnixNano": log.time_unix_nano,
        "logId": log.log_id,
        "metadata": log.metadata,
        "traceId": log.trace_id,
        "spanId": log.span_id,
        "eventName": log.event_name,
    }
    return orjson.dumps({name: value for name, value in values.items() if value is not None}).decode()
