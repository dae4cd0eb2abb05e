"""The errors for answers of USGS with an unexpected status."""

from collections.abc import Mapping
from http import HTTPStatus

import httpx

from graph.core.errors import InvalidUpstreamResponse, UpstreamFailure, UpstreamUnavailable
from graph.core.retry_after import seconds_to_wait

MAX_RETRY_AFTER_S = 60.0  # the longest wait for one retry; if USGS asks for a longer one, the fetch fails

_ADVICE: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "narrow the window, raise `minMagnitude` or lower `limit`, since too many events may match",
    HTTPStatus.FORBIDDEN: "tell the operator of this service: USGS may have blocked it",
    HTTPStatus.NOT_FOUND: "tell the operator of this service: what it requests is no longer there",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "narrow the window, raise `minMagnitude` or lower `limit`",
}


def refusal(response: httpx.Response, *, now: int) -> UpstreamFailure:
    """The error for an answer with an unexpected status; `now` in epoch milliseconds."""
    status = response.status_code
    if status != HTTPStatus.TOO_MANY_REQUESTS and not response.is_server_error:
        advice = _ADVICE.get(status, "change the request, or tell the operator of this service")
        message = f"USGS refused the request with status {status}: {advice}."
        return InvalidUpstreamResponse(message, refused_with=status)
    wait_s = seconds_to_wait(response.headers.get("Retry-After", ""), now=now) or 0.0
    if wait_s > MAX_RETRY_AFTER_S:
        message = f"USGS is overloaded (status {status}): try again in {wait_s:.0f} seconds, as it asks."
    else:
        message = f"USGS is overloaded or out of order (status {status}): try again later."
    return UpstreamUnavailable(message, retry_after_s=wait_s)
