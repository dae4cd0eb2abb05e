"""Every error that this service raises on purpose: one root, one class a cause.

    GraphError
      ├── BadRequest               the HTTP request
      │     └── CsrfPrevention
      ├── BadUserInput             an argument
      │     └── InvalidCursor
      ├── OperationResolutionFailure
      ├── QueryTooComplex          the document, or what it would cost
      ├── PersistedQueryNotFound, -NotSupported, -NotInList
      │                            a document that is named instead of sent
      ├── Unauthenticated          the caller: nobody, or with a token that is not good
      ├── Forbidden                the caller: known, and without the scope
      ├── KeySetUnavailable        whoever issues the tokens
      ├── RateLimited              the caller: too much in too short a time
      ├── TooManySubscriptions     the caller: too many that are open
      ├── ExecutionTimeout         the operation took too long
      ├── Overloaded               all connections are taken
      ├── UpstreamFailure          USGS
      │     ├── UpstreamUnavailable      does not answer
      │     └── InvalidUpstreamResponse  answers something else than a catalogue
      ├── DatabaseUnavailable      the store
      └── InternalServerError      anything unforeseen

A message is for the client and says what to do; what only an operator may know stands in
`__cause__` or in `detail`, which are logged and never sent.
"""

from collections.abc import Mapping
from typing import ClassVar


class GraphError(Exception):
    """Base of every error raised on purpose."""

    code: ClassVar[str]  # sent as extensions.code; part of the API, so never renamed
    status: int  # what the request log records, and the answer to a request of which nothing was executed
    detail: str | None = None  # for the operator alone: names tables, files, addresses and causes

    @property
    def headers(self) -> Mapping[str, str]:
        """What HTTP says beside the status."""
        return {}

    @property
    def extensions(self) -> dict[str, str]:
        """The code; where it is a case of a broader one, that too, for clients that only know the latter."""
        above = [kind for kind in type(self).__mro__[1:] if issubclass(kind, GraphError)]
        broader = [kind.code for kind in above if "code" in vars(kind)]
        return {"code": self.code, **({"classification": broader[0]} if broader else {})}


class BadRequest(GraphError):
    """The HTTP request asks for nothing that can be executed."""

    code, status = "BAD_REQUEST", 400

    def __init__(self, message: str, *, status: int = 400, allow: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.allow = allow  # the methods that would do

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Allow": self.allow} if self.allow else {}


class CsrfPrevention(BadRequest):
    """The request is one that a browser sends for any page, without asking this service first."""

    code = "CSRF_PREVENTION"

    def __init__(self) -> None:
        super().__init__(
            "A browser may send such a request for any page: add the header `GraphQL-Require-Preflight: 1`, "
            "or send it by POST."
        )


class BadUserInput(GraphError):
    """An argument is out of its range, or contradicts another one."""

    code, status = "BAD_USER_INPUT", 400


class InvalidCursor(BadUserInput):
    """The cursor was not issued by this connection."""

    code, status = "INVALID_CURSOR", 400

    def __init__(self, argument: str) -> None:
        super().__init__(f"`{argument}` is not a cursor of this connection: pass an edge's `cursor` back unchanged.")


class OperationResolutionFailure(GraphError):
    """The document has several operations and none is named, or the named one is not there."""

    code, status = "OPERATION_RESOLUTION_FAILURE", 400

    def __init__(self) -> None:
        super().__init__("Name one of the document's operations in `operationName`.")


class QueryTooComplex(GraphError):
    """The document is larger, deeper or dearer than one operation may be. Nothing was executed."""

    code, status = "QUERY_TOO_COMPLEX", 400


class PersistedQueryNotFound(GraphError):
    """No document of that hash is kept. The client sends it along, as Apollo's clients do when they are told so."""

    code, status = "PERSISTED_QUERY_NOT_FOUND", 200

    def __init__(self) -> None:
        super().__init__("PersistedQueryNotFound")  # by which clients know it

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Cache-Control": "private, no-cache, must-revalidate"}


class PersistedQueryNotSupported(GraphError):
    """The client names documents by rules of another version."""

    code, status = "PERSISTED_QUERY_NOT_SUPPORTED", 200

    def __init__(self) -> None:
        super().__init__("PersistedQueryNotSupported")  # by which clients know it


class PersistedQueryNotInList(GraphError):
    """Only the documents of a list are executed here."""

    code, status = "PERSISTED_QUERY_NOT_IN_LIST", 403

    def __init__(self) -> None:
        super().__init__("This service executes the documents of its list alone, and this is none of them.")


class Unauthenticated(GraphError):
    """The caller has to say who they are: no token came, or one that does not hold."""

    code, status = "UNAUTHENTICATED", 401

    @property
    def headers(self) -> Mapping[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class Forbidden(GraphError):
    """The caller is known, and may not do this."""

    code, status = "FORBIDDEN", 403


class KeySetUnavailable(GraphError):
    """The keys that tokens are signed with cannot be fetched, so nobody can be recognised."""

    code, status = "KEY_SET_UNAVAILABLE", 503

    def __init__(self, detail: str) -> None:
        super().__init__("Tokens cannot be checked at the moment: try again, or ask what is open to all without one.")
        self.detail = detail


class RateLimited(GraphError):
    """The caller has used up the points of this minute."""

    code, status = "RATE_LIMITED", 429

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"Too much was asked in a minute: try again in {retry_after_s} s.")
        self.retry_after_s = retry_after_s

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Retry-After": str(self.retry_after_s)}


class TooManySubscriptions(GraphError):
    """The caller has as many subscriptions open as one may have."""

    code, status = "TOO_MANY_SUBSCRIPTIONS", 429

    def __init__(self, most: int, what: str) -> None:
        super().__init__(f"You have {most:,} {what}, which is as many as you may have: end one first.")


class ExecutionTimeout(GraphError):
    """The operation took longer than any may. What it had under way in the store was cancelled."""

    code, status = "TIMEOUT", 504

    def __init__(self, seconds: float) -> None:
        super().__init__(f"This took longer than {seconds:g} s and was given up: ask for less at once.")


class Overloaded(GraphError):
    """As many requests are being answered as there may be connections."""

    code, status = "OVERLOADED", 503

    def __init__(self) -> None:
        super().__init__("Too many requests are being answered at the moment: try again.")

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Retry-After": "1"}


class UpstreamFailure(GraphError):
    """USGS gave no catalogue: what the client is told, and what the request log records of it."""

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
        self.retry_after_s = retry_after_s  # another attempt may succeed after so long; None: it would fail alike
        self.size = size  # bytes of the last answer's body; None where it was not read to its end
        self.sha256 = sha256  # of the same, in hexadecimal digits
        self.refused_with = refused_with  # status of the last answer; None where it was no refusal
        self.retries = 0  # attempts made after the first


class UpstreamUnavailable(UpstreamFailure):
    """USGS could not be reached, or kept refusing."""

    code, status = "UPSTREAM_UNAVAILABLE", 503


class InvalidUpstreamResponse(UpstreamFailure):
    """USGS answered, but not with a catalogue."""

    code, status = "INVALID_UPSTREAM_RESPONSE", 502


class DatabaseUnavailable(GraphError):
    """The store cannot be reached, is overloaded, or is not set up."""

    code, status = "DATABASE_UNAVAILABLE", 503
    detail: str

    def __init__(self, detail: str) -> None:
        super().__init__("The catalogue's store does not answer at the moment. Nothing was half-done: try again.")
        self.detail = detail


class InternalServerError(GraphError):
    """Anything unforeseen. Its trace is logged under the request id that the client is told."""

    code, status = "INTERNAL_SERVER_ERROR", 500

    def __init__(self, request_id: str) -> None:
        super().__init__(f"Something went wrong here. Report it with the request id {request_id}.")


def outcome_of(error: BaseException | None) -> tuple[int, str | None]:
    """How a request ended, as its log records it: a status and a stable code, 200 and None without an error."""
    if error is None:
        return 200, None
    known = error if isinstance(error, GraphError) else InternalServerError
    return known.status, known.code
