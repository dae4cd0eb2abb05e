"""Every error that this service raises on purpose: one root, one class a cause.

    GraphError
      ├── BadUserInput             an argument
      │     └── InvalidCursor
      ├── UpstreamUnavailable      USGS does not answer
      ├── InvalidUpstreamResponse  USGS answers something else than a catalogue
      └── DatabaseUnavailable      the store

A message is for the client and says what to do; what only an operator may know stands in
`__cause__` or in `detail`, which are logged and never sent.
"""

from typing import ClassVar


class GraphError(Exception):
    """Base of every error raised on purpose."""

    code: ClassVar[str]  # sent as extensions.code; part of the API, so never renamed
    status: ClassVar[int]  # what the request log records


class BadUserInput(GraphError):
    """An argument is out of its range, or contradicts another one."""

    code, status = "BAD_USER_INPUT", 400


class InvalidCursor(BadUserInput):
    """The cursor was not issued by this connection."""

    code, status = "INVALID_CURSOR", 400

    def __init__(self, argument: str) -> None:
        super().__init__(f"`{argument}` is not a cursor of this connection: pass an edge's `cursor` back unchanged.")


class UpstreamUnavailable(GraphError):
    """USGS could not be reached, or kept refusing."""

    code, status = "UPSTREAM_UNAVAILABLE", 503


class InvalidUpstreamResponse(GraphError):
    """USGS answered, but not with a catalogue."""

    code, status = "INVALID_UPSTREAM_RESPONSE", 502


class DatabaseUnavailable(GraphError):
    """The store cannot be reached, is overloaded, or is not set up."""

    code, status = "DATABASE_UNAVAILABLE", 503

    def __init__(self, detail: str) -> None:
        super().__init__("The catalogue's store does not answer at the moment. Nothing was half-done: try again.")
        self.detail = detail  # for the operator: names tables, files and causes
