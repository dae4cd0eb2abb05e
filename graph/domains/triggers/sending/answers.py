"""What came of an attempt: a receiver's answer, or why there is none. All of it can be stored as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from graph.core.described import DescribedText
from graph.core.names import is_line, is_readable
from graph.domains.triggers.sending.destinations import EndpointRefused

EXCERPT_BYTES = 1000


class Failure(DescribedText):
    """Why an attempt got no answer."""

    REFUSED_ADDRESS = "refused address", "The address is not public, so nothing was sent."
    NAME_NOT_RESOLVED = "name not resolved", "The host's name could not be resolved."
    CONNECTION_FAILED = "connection failed", "The connection could not be made, or was cut before an answer."
    TLS_FAILED = "TLS failed", "The certificate was refused, or TLS failed otherwise."
    TIMED_OUT = "timed out", "There was no answer in time."
    INVALID_ANSWER = "invalid answer", "The answer was not HTTP, or too large."

    @staticmethod
    def of(error: BaseException) -> "Failure":
        """The cause of an error."""
        return next(failure for kind, failure in _CAUSES.items() if isinstance(error, kind))


# In this order, since the kinds overlap: every error of TLS or of a name is one of a connection.
_CAUSES: Mapping[type[Exception], Failure] = {
    EndpointRefused: Failure.REFUSED_ADDRESS,
    TimeoutError: Failure.TIMED_OUT,
    aiohttp.ClientConnectorDNSError: Failure.NAME_NOT_RESOLVED,
    aiohttp.ClientSSLError: Failure.TLS_FAILED,
    aiohttp.ClientConnectionError: Failure.CONNECTION_FAILED,
    OSError: Failure.CONNECTION_FAILED,
    RuntimeError: Failure.CONNECTION_FAILED,  # uvloop's, where asyncio raises an OSError
    aiohttp.ClientError: Failure.INVALID_ANSWER,
}
CAUSES = tuple(_CAUSES)


@dataclass(frozen=True, slots=True)
class SendResult:
    """What came of an attempt. It has either a status or an error.

    The status is the receiver's decision. If the body ends early or never, the excerpt is what arrived of it.
    """

    latency_ms: int  # of the whole attempt
    status: int | None = None
    error: Failure | None = None
    excerpt: str = ""  # the first 1,000 bytes of the body, as text
    retry_after_s: float | None = None  # the wait that the receiver asks for; None if it asks for none


def excerpt_of(body: bytes) -> str:
    """The beginning of a body, as text. What is not UTF-8, or unseen but for tabs and line ends, becomes U+FFFD."""
    text = body[:EXCERPT_BYTES].decode(errors="replace")
    if is_line(text):
        return text
    return "".join(each if is_readable(each) or each in "\t\r\n" else "\ufffd" for each in text)
