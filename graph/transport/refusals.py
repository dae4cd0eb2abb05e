"""Records the requests that were refused before any root field ran, of HTTP and of WebSockets alike.

A route beside the graph, such as a download, is recorded like a root field.

Root fields record themselves. Where none ran, nothing else would say that a client fails: its document cannot be
parsed, is not valid or costs too much, its variables do not fit, its token lacks a scope. Each such request has one
record with one stable route, a status and a code, and nothing of what the client sent.

Refused requests cost a client nothing but a point. So one that has no point left is not recorded, and the
recorder keeps fewer of these records than of others.
"""

from graphql import ExecutionResult

from graph.api.recording import Record, Recording
from graph.core.clock import Clock
from graph.core.errors import RateLimited
from graph.observability.requests import Answer
from graph.transport.admission import Admitted
from graph.transport.errors import outcome, refusal_of

ROUTE = "/graphql"


class Refusals:
    """Records refused requests."""

    def __init__(self, recording: Recording, clock: Clock) -> None:
        self._recording = recording
        self.clock = clock

    def add(
        self,
        error: Exception,
        answer: Answer,
        request_id: str,
        began: int,
        admitted: Admitted | None = None,
        *,
        route: str = ROUTE,
    ) -> None:
        """Record a request, unless a root field has begun or its client has spent all points.

        Args:
            error: why it was refused.
            answer: knows the operation's type, if the document was understood so far.
            request_id: UUID v4.
            began: when the request began, epoch milliseconds.
            admitted: the operation, if it was admitted.
            route: the stable path of a request beside the graph.
        """
        if isinstance(error, RateLimited) or (admitted and admitted.context.is_recorded):
            return
        status, code = outcome(error)
        self._recording.add(
            Record(
                request_id=request_id,
                timestamp=began,
                route=route,
                writes=answer.operation == "mutation",
                status=status,
                latency_ms=max(self.clock() - began, 0),
                error=code,
                is_refusal=True,
            )
        )

    def add_failed(self, result: ExecutionResult, admitted: Admitted, began: int) -> None:
        """Record an operation whose result has errors although no root field has begun.

        graphql-core refuses some values of variables only when it comes to their field.
        """
        if result.errors:
            self.add(refusal_of(result.errors[0]), admitted.answer, admitted.client.request_id, began, admitted)
