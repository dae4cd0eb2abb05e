"""Ports that a test reserves before a server listens there."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port that no other test gets. Connections are refused while no server of this test listens there.

    A free port that is not reserved may go to another test's server, which would answer in place of this test's.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # so that a server can use the same port
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])
