"""What fails at USGS: it does not answer, or answers with something that is no catalogue."""

from graph.core.errors import GraphError


class UpstreamFailure(GraphError):
    """USGS gave no catalogue. Holds what the request log records of the attempts."""

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        size: int | None = None,
        sha256: str | None = None,
        refused_with: int | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s  # when another attempt may succeed; None if it would fail again
        self.size = size  # bytes of the last answer's body; None if it was not read to its end
        self.sha256 = sha256  # of the same body, in hexadecimal digits
        self.refused_with = refused_with  # status of the last answer, if it was a refusal
        self.retries = 0  # attempts made after the first


class UpstreamUnavailable(UpstreamFailure):
    """USGS could not be reached, or kept refusing."""

    code, status = "UPSTREAM_UNAVAILABLE", 503


class InvalidUpstreamResponse(UpstreamFailure):
    """USGS answered, but not with a catalogue."""

    code, status = "INVALID_UPSTREAM_RESPONSE", 502
