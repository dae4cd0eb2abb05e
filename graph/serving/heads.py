"""Limits the head of a request while it is parsed.

uvicorn keeps all headers of a request, however many come. This class refuses a request at the first header
or byte over the limit: within one chunk of data, across many chunks, in the trailers of a chunked body, and
in any request of a pipeline.

The parser reports the parts of a head and their sizes, but not their positions in the data. So a piece of
data that holds only head counts as a whole. Of a piece in which a head begins or ends, only what the parser
reports counts.
"""

from abc import ABC, abstractmethod
from typing import Any

from graph.core.errors import BadRequest
from graph.serving.pieces import PacedParsing

MOST_HEAD_BYTES = 64 * 1024  # with the URL and any trailers; a browser sends 2 kB, and a token here has 8 kB at most
MOST_HEADERS = 100  # with any trailers, as Apache takes; a browser behind two proxies sends 30
TOO_LARGE = f"The head of a request may have {MOST_HEAD_BYTES:,} bytes and {MOST_HEADERS} headers: send less."


class HeadTooLarge(Exception):
    """Stops the parser. The client receives `TOO_LARGE`."""


class BoundedHeads(PacedParsing, ABC):
    """A connection of HTTP/1.1 that refuses a request whose head is too large."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._is_too_large = False
        self.in_head = True  # or between two requests, where the next byte begins a head
        self._in_trailers = False
        self._head_bytes = 0  # of the incoming request, its trailers included
        self._headers = 0  # likewise
        self._most_bytes = 0  # `_head_bytes` if the whole present piece is head
        self._piece_bytes = 0  # of the present piece
        self._only_head = True  # whether the present piece has held only head so far

    def parse(self, piece: bytes) -> None:
        """Parse a piece, and count its bytes."""
        self._piece_bytes, self._only_head = len(piece), self.in_head or self._in_trailers
        self._limit_count()
        super().parse(piece)
        if self._only_head and not self.drops_rest:
            self._head_bytes = self._most_bytes
            if self._head_bytes > MOST_HEAD_BYTES:
                self._is_too_large = True
                self.send_400_response(TOO_LARGE)

    # What the parser reports

    def on_message_begin(self) -> None:
        """A request begins."""
        self._begin_head()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """The URL, or a part of it."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. A trailer is dropped: it must not pass for a header that was there from the start."""
        self._headers += 1
        self._count(len(name) + len(value) + len(": \r\n"))
        if not self._in_trailers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete."""
        super().on_headers_complete()
        self._end_head()

    def on_chunk_header(self) -> None:
        """The size of a chunk of the body. Trailers follow the last one, whose size is 0."""
        self._end_head()
        self._in_trailers = True
        self._limit_count()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._end_head()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._end_head()
        super().on_message_complete()
        self._begin_head()

    def _begin_head(self) -> None:
        self._head_bytes = self._headers = 0
        self.in_head, self._in_trailers = True, False
        self._limit_count()

    def _end_head(self) -> None:
        self.in_head = self._in_trailers = self._only_head = False

    def _limit_count(self) -> None:
        """Set the most that the head may count. A reported header may lie in earlier pieces, which count already."""
        self._most_bytes = self._head_bytes + self._piece_bytes

    def _count(self, size: int) -> None:
        """Add to the size of the head.

        Raises:
            HeadTooLarge: The head is too large. The parser stops, and uvicorn refuses the request.
        """
        self._head_bytes = min(self._head_bytes + size, self._most_bytes)
        if self._head_bytes > MOST_HEAD_BYTES or self._headers > MOST_HEADERS:
            self._is_too_large = True
            raise HeadTooLarge

    def send_400_response(self, msg: str) -> None:
        """Answer a request that the parser has refused. uvicorn has logged the client's mistake."""
        self.drops_rest = True
        if self._is_too_large:
            self.refuse_request(BadRequest(TOO_LARGE, status=431))
        else:
            self.refuse_request(BadRequest("This is not a request of HTTP/1.1."))

    @abstractmethod
    def refuse_request(self, error: BadRequest) -> None:
        """Answer with the error, then close the connection."""
