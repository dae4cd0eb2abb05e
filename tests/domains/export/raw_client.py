"""An HTTP client that takes an answer as slowly as a test wants, or leaves in the middle of it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from urllib.parse import urlencode, urlsplit

from tests.bearers import bearer
from tests.processes import TIMEOUT_S
from tests.service import Service

RECEIVED_AT_ONCE = 4096  # bytes of the socket's buffer, so that the service soon waits


@dataclass
class Answering:
    """An answer that is being read."""

    response: HTTPResponse
    connection: socket.socket

    def read(self, size: int) -> bytes:
        """The next bytes of the body."""
        return self.response.read(size)

    def rest(self) -> bytes:
        """All other bytes. Raises `IncompleteRead` if the connection is cut."""
        return self.response.read()


@contextmanager
def asking(service: Service, path: str, **parameters: str) -> Iterator[Answering]:
    """Ask for a path, and close the connection at the end, whatever has been read."""
    at = urlsplit(service.url)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_AT_ONCE)
        connection.settimeout(TIMEOUT_S)
        connection.connect((at.hostname, at.port))
        head = [f"GET {path}?{urlencode(parameters)} HTTP/1.1", f"Host: {at.netloc}"]
        head += [f"{name}: {value}" for name, value in bearer().items()]
        connection.sendall("\r\n".join([*head, "", ""]).encode())
        with HTTPResponse(connection) as response:
            response.begin()
            yield Answering(response, connection)
