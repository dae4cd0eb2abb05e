"""A server of HTTP in a thread of its own, on a free port of this machine.

uvicorn looks every 0.1 s whether it should end, and then whether its connections have. Tests end a thousand servers.
"""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from types import SimpleNamespace

import uvicorn

LOOK_EVERY_S = 0.01

uvicorn.server.asyncio = SimpleNamespace(  # type: ignore[assignment,attr-defined]
    **vars(asyncio) | {"sleep": lambda seconds: asyncio.sleep(min(seconds, LOOK_EVERY_S))}
)


@contextmanager
def in_thread(server: uvicorn.Server) -> Iterator[str]:
    """Run a server. Yields the URL of its root once it has started: what it opens belongs to who runs it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                thread.join(0.001)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
