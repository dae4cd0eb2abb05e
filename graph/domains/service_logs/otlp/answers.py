"""The answers to requests: what was rejected, and errors."""

from graph.core.errors import GraphError
from graph.domains.service_logs.model import Rejection, WriteReport

MOST_NAMED = 10  # rejected records in one answer

# Codes of google.rpc by the status of HTTP, as its `code.proto` maps them.
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 408: 4, 413: 3, 415: 3, 429: 8, 503: 14}
_INTERNAL = 13


def message_of(report: WriteReport, warning: str) -> str:
    """The first rejected records, by their place in the request, with the reasons, and what was ignored."""
    named = [_named(rejection) for rejection in report.rejections[:MOST_NAMED]]
    rest = report.rejected - len(named)
    return "; ".join(filter(None, [*named, f"and {rest:,} more" if rest else "", warning]))


def _named(rejection: Rejection) -> str:
    return f"record {rejection.index}: {rejection.code.value}: {rejection.message}"


def code_of(error: GraphError) -> int:
    """The code of an error, as google.rpc numbers them."""
    return _CODES.get(error.status, _INTERNAL)


def headers_of(error: GraphError) -> dict[str, str]:
    """The headers of an error. A sender that may try again learns when."""
    retry = {"Retry-After": "1"} if error.status in (429, 503) else {}
    return {**retry, **error.headers}
