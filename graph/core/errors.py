"""The errors that are raised on purpose: one root, one class for each cause. Those of a domain stand with it.

    GraphError
      ├── BadRequest               the HTTP request
      │     └── CsrfPrevention
      ├── BadUserInput             an argument
      │     └── InvalidCursor
      ├── OperationResolutionFailure
      ├── QueryTooComplex          the document, or its cost
      ├── PersistedQueryNotFound, -NotSupported, -NotInList
      │                            a document that is named by its hash
      ├── Unauthenticated          the caller has no valid token
      ├── Forbidden                the caller's token lacks a scope
      ├── KeySetUnavailable        the identity provider does not answer
      ├── RateLimited              the caller has spent the points of this minute
      ├── TooManySubscriptions     the caller has too many open
      ├── ExecutionTimeout         the operation took too long
      ├── Overloaded               too many requests are in progress
      ├── DatabaseUnavailable      the store
      └── InternalServerError      anything unforeseen

A message is for the client and says what to do. `__cause__` and `detail` are for the operator: they
are logged and never sent.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class GraphError(Exception):
    """Base of every error raised on purpose."""

    code: ClassVar[str]  # sent as extensions.code; part of the API, so never renamed
    status: int  # for the request log, and for an HTTP answer if nothing was executed
    detail: str | None = None  # only for the operator: tables, files, addresses and causes
    headers: Mapping[str, str] = MappingProxyType({})  # of the HTTP answer

    @property
    def extensions(self) -> dict[str, str]:
        """The code, and the code of a broader error, if there is one, as `classification`."""
        above = [kind for kind in type(self).__mro__[1:] if issubclass(kind, GraphError)]
        broader = [kind.code for kind in above if "code" in vars(kind) and kind.code != self.code]
        return {"code": self.code, **({"classification": broader[0]} if broader else {})}


class BadRequest(GraphError):
    """The HTTP request holds nothing that can be executed."""

    code, status = "BAD_REQUEST", 400

    def __init__(self, message: str, *, status: int = 400, allow: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {"Allow": allow} if allow else {}  # the accepted methods


class CsrfPrevention(BadRequest):
    """A browser would send this request for any web page, without a preflight."""

    code = "CSRF_PREVENTION"

    def __init__(self) -> None:
        super().__init__(
            "Any web page can make a browser send this request: add the header `GraphQL-Require-Preflight: 1`, "
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


class NotThere(BadUserInput):
    """There is no such object, or it is another user's."""

    code, status = "NOT_FOUND", 404

    def __init__(self, argument: str, kind: str) -> None:
        super().__init__(f"There is no {kind} with the id that `{argument}` names.")


class TooMany(BadUserInput):
    """The caller has as many objects of a kind as it may have."""

    code = "TOO_MANY"

    def __init__(self, most: int, kinds: str) -> None:
        super().__init__(f"You have {most:,} {kinds}, which is the limit: delete one first.")


class OperationResolutionFailure(GraphError):
    """The document has several operations and none is named, or the named one does not exist."""

    code, status = "OPERATION_RESOLUTION_FAILURE", 400

    def __init__(self) -> None:
        super().__init__("Name one of the document's operations in `operationName`.")


class QueryTooComplex(GraphError):
    """The document is too large, too deep or too expensive. Nothing was executed."""

    code, status = "QUERY_TOO_COMPLEX", 400


class PersistedQueryNotFound(GraphError):
    """The hash names no stored document. Apollo's clients then send the document itself."""

    code, status = "PERSISTED_QUERY_NOT_FOUND", 200
    headers: Mapping[str, str] = {"Cache-Control": "private, no-cache, must-revalidate"}

    def __init__(self) -> None:
        super().__init__("PersistedQueryNotFound")  # clients recognise this text


class PersistedQueryNotSupported(GraphError):
    """The client uses another version of persisted queries."""

    code, status = "PERSISTED_QUERY_NOT_SUPPORTED", 200

    def __init__(self) -> None:
        super().__init__("PersistedQueryNotSupported")  # clients recognise this text


class PersistedQueryNotInList(GraphError):
    """The service executes only the documents of a list."""

    code, status = "PERSISTED_QUERY_NOT_IN_LIST", 403

    def __init__(self) -> None:
        super().__init__("This document is not in the service's list of persisted documents: send one that is.")


class Unauthenticated(GraphError):
    """The request has no token, or one that is not valid."""

    code, status = "UNAUTHENTICATED", 401
    headers: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}


class Forbidden(GraphError):
    """The caller is authenticated, but lacks a scope."""

    code, status = "FORBIDDEN", 403


class KeySetUnavailable(GraphError):
    """The keys that check tokens cannot be fetched, so no caller can be authenticated."""

    code, status = "KEY_SET_UNAVAILABLE", 503

    def __init__(self, detail: str) -> None:
        super().__init__("Tokens cannot be checked at the moment: try again, or query public data without a token.")
        self.detail = detail


class RateLimited(GraphError):
    """The caller has used up the points of this minute."""

    code, status = "RATE_LIMITED", 429

    def __init__(self, retry_after_s: int, why: str = "You have spent the points of this minute") -> None:
        super().__init__(f"{why}: try again in {retry_after_s} s.")
        self.retry_after_s = retry_after_s
        self.headers = {"Retry-After": str(retry_after_s)}


class TooManySubscriptions(GraphError):
    """The client has reached its limit of open subscriptions or connections."""

    code, status = "TOO_MANY_SUBSCRIPTIONS", 429

    def __init__(self, most: int, what: str) -> None:
        super().__init__(f"You have {most:,} {what}, which is the limit: end one first.")


class ExecutionTimeout(GraphError):
    """The operation took too long and was cancelled."""

    code, status = "TIMEOUT", 504

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The operation took longer than {seconds:g} s and was cancelled: ask for less at once.")


class Overloaded(GraphError):
    """Too many requests are in progress, or too many connections are open."""

    code, status = "OVERLOADED", 503
    headers: Mapping[str, str] = {"Retry-After": "1"}

    def __init__(self) -> None:
        super().__init__("Too many requests are in progress: try again.")


class DatabaseUnavailable(GraphError):
    """The store cannot be reached, is overloaded, or is not set up."""

    code, status = "DATABASE_UNAVAILABLE", 503
    detail: str

    def __init__(self, detail: str) -> None:
        super().__init__("The store does not answer at the moment. No change was made in part: try again.")
        self.detail = detail


class InternalServerError(GraphError):
    """Anything unforeseen. Its trace is logged with the request id that the message names."""

    code, status = "INTERNAL_SERVER_ERROR", 500

    def __init__(self, request_id: str) -> None:
        super().__init__(f"The service failed unexpectedly. Report it with the request id {request_id}.")


def outcome_of(error: BaseException | None) -> tuple[int, str | None]:
    """The status and code of a request for its log: 200 and None without an error."""
    if error is None:
        return 200, None
    known = error if isinstance(error, GraphError) else InternalServerError
    return known.status, known.code
