"""What is told of each request of the graph, wherever it is told: a count, a span and a line of the log."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from graph.telemetry.logs import get_logger
from graph.telemetry.metrics import OK, Metrics, Operation
from graph.telemetry.tracing import Tracing

ABANDONED, ABANDONED_STATUS = "ABANDONED", 499  # the client left before it had an answer
LONGEST_NAME = 100  # characters of an operation's name, which a client chooses

logger = get_logger(__name__)


@dataclass(slots=True)
class Answer:
    """What becomes of a request. Whoever answers it fills this in; untouched, nobody was answered."""

    operation: Operation = "none"  # type of the operation, once it is known
    name: str | None = None  # of the operation
    code: str = ABANDONED  # of the first error, or OK
    status: int = ABANDONED_STATUS  # of HTTP
    points: int | None = None  # that it cost


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Tells of requests."""

    metrics: Metrics
    tracing: Tracing

    @contextmanager
    def request(self, headers: Mapping[str, str]) -> Iterator[Answer]:
        """Around a request of the graph, from its arrival until its answer is ready to be sent."""
        answer, started = Answer(), perf_counter()
        with self.tracing.operation(headers) as span:
            try:
                yield answer
            finally:
                seconds = perf_counter() - started
                answer.name = answer.name[:LONGEST_NAME] if answer.name else None
                known = None if answer.operation == "none" else answer.operation
                span.end(known, answer.name, None if answer.code == OK else answer.code)
                self.metrics.request(answer.operation, answer.code, seconds)
                _say(answer, seconds)


def _say(answer: Answer, seconds: float) -> None:
    """The line that an operator looks for: how a request went. Never its document or variables.

    What went well is a line for debugging, since the request logs have it, and writing it would
    take longer than to answer a small query.
    """
    told: dict[str, object] = {}
    if answer.name:
        told["operation_name"] = answer.name
    if answer.points is not None:
        told["points"] = answer.points
    logger.log(
        logging.DEBUG if answer.code == OK else logging.INFO,
        "Answered",
        operation=answer.operation,
        code=answer.code,
        status=answer.status,
        milliseconds=round(seconds * 1000, 1),
        **told,
    )
