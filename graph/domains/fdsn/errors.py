"""Refusals in the text that FDSN prescribes, and the one that only this service has: too much data."""

from datetime import datetime
from http import HTTPStatus

from graph.core.errors import GraphError, QueryTooComplex

VERSION = "1.2.0"  # of the specification, and of this implementation of it

SIMPLE = {413: "Request would return too much data"}


class TooMuchData(QueryTooComplex):
    """The answer would be too large."""

    status = 413


def status_of(error: GraphError) -> int:
    """The status of a refusal. What is too complex for a query would here return too much data."""
    return 413 if isinstance(error, QueryTooComplex) else error.status


def error_text(error: GraphError, *, usage: str, url: str, submitted: datetime) -> str:
    """A refusal as text.

    Args:
        usage: the address of the usage page.
        url: that was requested.
        submitted: the time of the request, UTC.

    Source: FDSN Web Service Specifications 1.2, "Error reporting".
    """
    status = status_of(error)
    simple = SIMPLE.get(status) or HTTPStatus(status).phrase
    return (
        f"Error {status}: {simple}\n\n"
        f"{error}\n\n"
        f"Usage details are available from {usage}\n\n"
        f"Request:\n{url}\n\n"
        f"Request Submitted:\n{submitted:%Y-%m-%dT%H:%M:%S}\n\n"
        f"Service version:\n{VERSION}\n"
    )
