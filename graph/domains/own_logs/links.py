"""How a request log leads to the lines of its request, and a line to its request log: by the request's id and its time.

Only logs of the service `quakegraph` lead to a request log. Other senders cannot write such logs.
"""

from graph.domains.request_logs.access_patterns import NearTime
from graph.domains.request_logs.model import RequestLog
from graph.domains.service_logs.model import OWN_SERVICE, REQUEST_ID, ServiceLog
from graph.domains.service_logs.selection import LogSelection

MARGIN_MS = 1000  # a line may be logged shortly before its request's field begins, or after it ends
LONGEST_REQUEST_MS = 120_000  # as GRAPH_INGEST_TIMEOUT is by default, the longest of the timeouts


def logs_of(request: RequestLog) -> LogSelection:
    """The own logs that belong to a request."""
    begin, end = request.timestamp - MARGIN_MS, request.timestamp + request.latency_ms + MARGIN_MS
    return LogSelection(
        first=1000 * begin,
        last=1000 * end + 999,
        services=(OWN_SERVICE,),
        metadata=((REQUEST_ID, request.request_id),),
    )


def request_of(log: ServiceLog) -> NearTime | None:
    """The id of the request that an own log belongs to, and when it may have begun. None for any other log."""
    request_id = (log.metadata or {}).get(REQUEST_ID)
    if log.service != OWN_SERVICE or not isinstance(request_id, str):
        return None
    time_ms = int(log.time_unix_nano) // 1_000_000
    return NearTime(request_id, time_ms - LONGEST_REQUEST_MS, time_ms + MARGIN_MS)
