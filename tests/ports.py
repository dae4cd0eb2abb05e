"""Ports of this machine that a test keeps, also while nobody listens there."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port at which connections are refused until the test has somebody listen there, once or several times.

    The system gives it to nobody else. A port that was only found free may belong to another test's server a moment
    later, and would answer in its place.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else nobody could listen there
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])
