"""Which errors make a sender try again, and when."""

from graph.core.errors import (
    BadRequest,
    DatabaseUnavailable,
    Forbidden,
    GraphError,
    InternalServerError,
    KeySetUnavailable,
    Overloaded,
    RateLimited,
    Unauthenticated,
)
from graph.domains.otlp.answers import code_of, headers_of


def test_only_429_and_503_make_a_sender_try_again() -> None:
    answers: list[tuple[GraphError, int, int, dict[str, str]]] = [
        (RateLimited(30), 429, 8, {"Retry-After": "30"}),
        (Overloaded(), 503, 14, {"Retry-After": "1"}),
        (DatabaseUnavailable("the disk"), 503, 14, {"Retry-After": "1"}),
        (KeySetUnavailable("the provider"), 503, 14, {"Retry-After": "1"}),
        (Unauthenticated("no"), 401, 16, {"WWW-Authenticate": "Bearer"}),
        (Forbidden("no"), 403, 7, {}),
        (BadRequest("no"), 400, 3, {}),
        (BadRequest("late", status=408), 408, 4, {}),
        (InternalServerError("1"), 500, 13, {}),
    ]
    for error, status, code, headers in answers:
        assert (error.status, code_of(error), headers_of(error)) == (status, code, headers)
