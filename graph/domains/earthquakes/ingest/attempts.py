"""Attempts on USGS that are made for ever: their state beside a lease, the pause after a failure, and its warning."""

from collections.abc import Callable
from typing import Self

from graph.core.errors import GraphError, outcome_of
from graph.domains.earthquakes.model import MILLIS
from graph.domains.earthquakes.usgs.errors import UpstreamFailure
from graph.runtime.lease import JobResult, LeaseState
from graph.store.attributes import Text, Whole
from graph.store.records import Record, optional

LONGEST_PAUSE_S = 1800.0  # between failed attempts, unless attempts are further apart anyway
LONGEST_WAIT_S = 86_400.0  # the longest `Retry-After`: a wrong header must not end the attempts

Between = Callable[[float, float], float]
"""Picks a pause between two bounds, in seconds."""


class Attempts(Record):
    """How the attempts of all processes went. A process leaves this for the next one, in the item of the lease."""

    last_success = optional("lastSuccess", MILLIS)  # its beginning
    last_error = optional("lastError", Text())  # a stable code; it is kept after a success
    last_error_at = optional("lastErrorAt", MILLIS)
    failures_in_a_row = optional("failures", Whole())  # since the last success

    @classmethod
    def of(cls, lease: LeaseState) -> Self:
        """The state beside a lease. It is empty before the first attempt."""
        return cls(lease.attributes)

    @property
    def failures(self) -> int:
        """Failures in a row, up to the latest attempt."""
        return self.failures_in_a_row or 0

    def failed(self, error: Exception, *, now: int, every_s: float, between: Between) -> JobResult:
        """The result of a failed attempt, with a pause before the next one.

        Args:
            now: epoch milliseconds.
            every_s: the shortest pause, and the one from which they grow.
        """
        pause = _pause_s(self.failures, error, every_s=every_s, between=between)
        failed = {"lastError": str(outcome_of(error)[1]), "lastErrorAt": now, "failures": self.failures + 1}
        return JobResult(now + round(1000 * pause), failed)


def _pause_s(failures: int, error: Exception, *, every_s: float, between: Between) -> float:
    """Half to all of an exponential pause after so many failures before this one, or what USGS asks for."""
    longest = min(every_s * 2 ** min(failures + 1, 16), LONGEST_PAUSE_S)
    retry_after_s = error.retry_after_s if isinstance(error, UpstreamFailure) else None
    return max(every_s, between(longest / 2, longest), min(retry_after_s or 0.0, LONGEST_WAIT_S))


def warn(log: Callable[..., object], text: str, error: Exception) -> None:
    """Log a failure by the method of a logger; a defect with its trace."""
    known = isinstance(error, GraphError)
    cause = (error.detail or str(error)) if isinstance(error, GraphError) else repr(error)
    log(text, code=outcome_of(error)[1], cause=cause, exc_info=not known)
