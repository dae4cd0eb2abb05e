"""Records each GraphQL request as a metric, a span and a line of the log."""

import logging
from dataclasses import dataclass
from typing import Literal

from graph.observability.logs import get_logger
from graph.observability.metrics import OK, REQUEST_SECONDS, Metrics
from graph.observability.timed import Timed
from graph.observability.tracing import OperationSpan

ABANDONED, ABANDONED_STATUS = "ABANDONED", 499  # the client left before it had an answer
LONGEST_NAME = 100  # characters of an operation's name, which a client chooses

Operation = Literal["query", "mutation", "subscription", "none"]
"""Type of a request's operation; `none` if the request was refused before its type was known."""

logger = get_logger(__name__)
stdlib_logger = logging.getLogger(__name__)  # checked first, since building an unused line takes time


@dataclass(slots=True)
class RequestOutcome:
    """The outcome of a request. The code that answers fills it in; by default the client left unanswered."""

    operation: Operation = "none"  # type of the operation, once it is known
    name: str | None = None  # of the operation
    code: str = ABANDONED  # of the first error, or OK
    status: int = ABANDONED_STATUS  # of HTTP
    points: int | None = None  # its cost
    limit: int | None = None  # of its cost


def timed_requests(metrics: Metrics) -> Timed:
    """The metrics of requests, by their operation and the code of their first error or OK."""
    requests = metrics.timed(
        metrics.counter("requests", "Requests by their operation and first error.", "operation", "code"),
        *("request", "Time to answer a request.", "operation", REQUEST_SECONDS),
    )
    for operation in ("query", "mutation", "subscription"):
        requests.declare(operation, OK)
    return requests


def record(answer: RequestOutcome, seconds: float, span: OperationSpan, metrics: Timed) -> None:
    """Record a request whose answer is ready to be sent. The seconds are those since it was received."""
    answer.name = answer.name[:LONGEST_NAME] if answer.name else None
    known = None if answer.operation == "none" else answer.operation
    span.end(known, answer.name, None if answer.code == OK else answer.code)
    metrics.add(answer.operation, answer.code, seconds)
    _log(answer, seconds)


def _log(answer: RequestOutcome, seconds: float) -> None:
    """Log the outcome of a request, never its document or variables.

    A success is logged at DEBUG: the request logs record it anyway, and writing the line would take
    longer than answering a small query.
    """
    level = logging.DEBUG if answer.code == OK else logging.INFO
    if not stdlib_logger.isEnabledFor(level):
        return
    fields: dict[str, object] = {}
    if answer.name:
        fields["operation_name"] = answer.name
    if answer.points is not None:
        fields["points"] = answer.points
    logger.log(
        level,
        "Answered",
        operation=answer.operation,
        code=answer.code,
        status=answer.status,
        milliseconds=round(seconds * 1000, 1),
        **fields,
    )
