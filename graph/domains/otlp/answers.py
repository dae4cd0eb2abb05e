"""The answers to requests: what was rejected or changed, and errors."""

from collections.abc import Iterable
from itertools import islice

from graph.core.errors import GraphError
from graph.domains.service_logs.model import WriteReport

MOST_NAMED = 10  # rejected records in one answer, and as many that were changed

# Codes of google.rpc by the status of HTTP, as its `code.proto` maps them.
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 408: 4, 413: 3, 415: 3, 429: 8, 503: 14}
_INTERNAL = 13


def message_of(report: WriteReport, warning: str) -> str:
    """The first rejected and changed records, by their place in the request, with reasons, and what was ignored."""
    reasons = (f"record {each.index}: {each.code.value}: {each.message}" for each in report.rejections)
    rejected = _listed(reasons, report.rejected)
    changed = _listed((f"record {index}: {what}" for index, what in report.changed.items()), len(report.changed))
    return "; ".join(filter(None, [*rejected, *changed, warning]))


def _listed(given: Iterable[str], number: int) -> list[str]:
    """The first of them, and how many more there are."""
    rest = number - MOST_NAMED
    return [*islice(given, MOST_NAMED), f"and {rest:,} more" if rest > 0 else ""]


def code_of(error: GraphError) -> int:
    """The code of an error, as google.rpc numbers them."""
    return _CODES.get(error.status, _INTERNAL)


def headers_of(error: GraphError) -> dict[str, str]:
    """The headers of an error. A sender that may try again learns when."""
    retry = {"Retry-After": "1"} if error.status in (429, 503) else {}
    return {**retry, **error.headers}
