"""Reads requests of OTLP in JSON that stand in files of logs."""

from collections.abc import Iterable, Mapping
from typing import Any

from graph.domains.otlp.json_format import Json
from graph.domains.otlp.reading import logs_of
from graph.domains.otlp.values import Unreadable
from graph.domains.service_logs.model import LogProblem, NewLog, RejectedLog

NO_TIME = -1  # epoch nanoseconds; of a record without a time, which is rejected like other logs without one


def logs_of_object(request: Mapping[str, Any]) -> Iterable[NewLog | RejectedLog]:
    """The logs of a request. A rejection stands for one that cannot be read."""
    try:
        otlp = Json()
        return logs_of(otlp, otlp.groups_of(request), NO_TIME)
    except Unreadable as error:
        return [RejectedLog(0, LogProblem.LOG_INVALID, str(error))]
