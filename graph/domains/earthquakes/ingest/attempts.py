"""The pauses after failures of what is tried again for ever, and the warning of the first failure in a row."""

from collections.abc import Callable

from graph.core.errors import GraphError, UpstreamFailure, outcome_of

LONGEST_PAUSE_S = 1800.0  # between failed attempts, unless attempts are further apart anyway
LONGEST_WAIT_S = 86_400.0  # the longest `Retry-After`: a wrong header must not end the attempts

Between = Callable[[float, float], float]
"""Picks a pause between two bounds, in seconds."""


def pause_s(failures: int, error: Exception, *, every_s: float, between: Between) -> float:
    """Half to all of an exponential pause after so many failures before this one, or what USGS asks for.

    Args:
        every_s: the shortest pause, and the one from which they grow.
    """
    longest = min(every_s * 2 ** min(failures + 1, 16), LONGEST_PAUSE_S)
    retry_after_s = error.retry_after_s if isinstance(error, UpstreamFailure) else None
    return max(every_s, between(longest / 2, longest), min(retry_after_s or 0.0, LONGEST_WAIT_S))


def warn(log: Callable[..., object], text: str, error: Exception) -> None:
    """Log a failure by the method of a logger; a defect with its trace."""
    known = isinstance(error, GraphError)
    cause = (error.detail or str(error)) if isinstance(error, GraphError) else repr(error)
    log(text, code=outcome_of(error)[1], cause=cause, exc_info=not known)
