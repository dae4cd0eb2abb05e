"""A receiver of webhooks in a process of its own: it notes when each one came, and answers or hangs.

    python -m benchmarks.triggers.receiver PORT

`POST /ok` is answered at once, `POST /hang` never, `/drip` slowly, `/large` with 100 MB, and `/redirect` with another
place. `GET /count` answers with the number of webhooks that came to `/ok`, and `GET /arrivals` with the JSON of
`[[webhook-id, monotonic nanoseconds], …]` since the last time that it was asked.
"""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
from aiohttp import web

from benchmarks.cache import CHECKOUT
from benchmarks.contenders import clean_environment
from benchmarks.cpus import on_cpu

TIMEOUT_S = 60
POLL_S = 0.02
LARGE = 100 * 1024 * 1024  # bytes
PIECE = bytes(64 * 1024)


def application() -> web.Application:
    """The receiver's application."""
    arrivals: list[tuple[str, int]] = []
    number = 0

    async def ok(request: web.Request) -> web.Response:
        nonlocal number
        await request.read()
        arrivals.append((request.headers.get("webhook-id", ""), time.monotonic_ns()))
        number += 1
        return web.Response()

    async def hang(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(3600)
        return web.Response()

    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(ConnectionError):
            while True:
                await response.write(b".")
                await asyncio.sleep(0.1)
        return response

    async def large(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(LARGE)})
        await response.prepare(request)
        with suppress(ConnectionError):
            for _ in range(LARGE // len(PIECE)):
                await response.write(PIECE)
        return response

    async def redirect(_: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "/ok"})

    async def count(_: web.Request) -> web.Response:
        return web.json_response(number)

    async def take_arrivals(_: web.Request) -> web.Response:
        taken = list(arrivals)
        del arrivals[: len(taken)]
        return web.json_response(taken)

    app = web.Application(client_max_size=1024 * 1024)
    for path, handler in (("ok", ok), ("hang", hang), ("drip", drip), ("large", large), ("redirect", redirect)):
        app.router.add_post(f"/{path}", handler)
    app.router.add_get("/count", count)
    app.router.add_get("/arrivals", take_arrivals)
    return app


class Receiver:
    """A running receiver, as the benchmark asks it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=TIMEOUT_S, trust_env=False)
        self._seen: dict[str, int] = {}

    def url(self, path: str = "ok") -> str:
        """Where webhooks are sent."""
        return f"http://127.0.0.1:{self._port}/{path}"

    def count(self) -> int:
        """The number of webhooks so far."""
        return int(self._http.get("/count").json())

    def wait_for(self, number: int, *, seconds: float = 600) -> None:
        """Wait until so many webhooks have come."""
        end = time.monotonic() + seconds
        while (found := self.count()) < number:
            if time.monotonic() > end:
                raise RuntimeError(f"only {found} of {number} webhooks came")
            time.sleep(POLL_S)

    def arrivals(self) -> dict[str, int]:
        """The first arrival of each webhook so far, monotonic nanoseconds, by its id."""
        for webhook_id, at in self._http.get("/arrivals").json():
            self._seen.setdefault(webhook_id, at)
        return self._seen


@contextmanager
def receiving(cpu: int | None) -> Iterator[Receiver]:
    """Run a receiver for the time of the `with`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with on_cpu(cpu):
        command = [sys.executable, "-m", "benchmarks.triggers.receiver", str(port)]
        process = subprocess.Popen(command, cwd=CHECKOUT, env=clean_environment())
    try:
        for _ in range(round(TIMEOUT_S / POLL_S)):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(POLL_S)
        yield Receiver(port)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT_S)


def main() -> None:
    """Receive, until this is killed."""
    web.run_app(application(), host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None, backlog=4096)


if __name__ == "__main__":
    main()
