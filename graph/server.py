"""Running the service: the checks before, the socket, the processes, and a clean end.

On SIGTERM or SIGINT no new connection is taken, requests in flight are finished, the request
logs are flushed, and the process ends with status 0.
"""

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from tempfile import TemporaryDirectory

import click
import uvicorn
from uvicorn.supervisors import Multiprocess

from graph import graphiql
from graph.app import GRAPH_PATH, create_app, load_sample, open_parts
from graph.authentication import shared_secret
from graph.callers import Scope
from graph.logs import configure_logging
from graph.metrics import SHARED_FOLDER
from graph.own_secret import UnusableSecret
from graph.settings import Settings

BACKLOG = 2048  # connections that wait to be accepted
GRAPHIQL_TOKEN_S = 24 * 3600


class Unprotected(click.ClickException):
    """The settings would let anybody in."""

    exit_code = 2


async def prepare(settings: Settings) -> None:
    """Do once, before any process serves, what none of them should do alone.

    Raises:
        DatabaseUnavailable: The store cannot be used.
    """
    async with open_parts(settings) as parts:
        if settings.demo and (report := await load_sample(parts)):
            click.echo(f"Loaded {report.upserted:,} real events of a week in 2023 as a demo.", err=True)


def check_callers(settings: Settings) -> None:
    """Refuse to be reached by others while nobody could be told apart."""
    if not (settings.jwt_secret or settings.jwks_url or _is_loopback(settings.host)):
        raise Unprotected(
            f"to listen on {settings.host}, where others can connect, set GRAPH_JWT_SECRET or GRAPH_JWKS_URL; "
            "without them this listens on 127.0.0.1 alone"
        )


def serve(settings: Settings) -> None:
    """Listen and serve until a signal ends it."""
    configure_logging(settings.log_level, settings.log_format)
    with _listening(settings) as listener:
        host, port, *_ = listener.getsockname()
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"GraphiQL: http://{shown}:{port}{GRAPH_PATH}{_fragment(settings)}", err=True)
        if not graphiql.bundled():
            click.echo(graphiql.NOT_BUNDLED, err=True)
        # uvicorn raises the signal again when it is done; by then, all that is left is to go.
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGINT, _leave)
        if settings.workers == 1:
            uvicorn.Server(_configuration(settings)).run(sockets=[listener])
        else:
            with TemporaryDirectory(prefix="quakegraph-metrics-") as folder:
                os.environ |= settings.environment() | {SHARED_FOLDER: folder}  # which each process reads for itself
                Multiprocess(_configuration(settings), [listener]).run()


def _configuration(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(settings) if settings.workers == 1 else "graph.server:create_worker_app",
        factory=settings.workers > 1,
        workers=settings.workers,
        log_config=None,
        access_log=False,  # `telemetry` says more
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_timeout,
    )


def create_worker_app() -> object:
    """The application in a process of its own, which has no logging yet."""
    settings = Settings()
    configure_logging(settings.log_level, settings.log_format)
    return create_app(settings)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _fragment(settings: Settings) -> str:
    """A token for GraphiQL where only this machine can connect: no server and no log sees a URL's fragment."""
    if settings.jwt_secret or settings.jwks_url:
        return ""
    try:
        token = shared_secret(settings).issue("graphiql", list(Scope), GRAPHIQL_TOKEN_S)
    except UnusableSecret as error:
        raise click.ClickException(str(error)) from None
    return f"#token={token}"


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]  # what follows repeats the address
        raise click.ClickException(f"cannot listen on {settings.host}:{settings.port}: {reason}") from None
    with listener:
        listener.set_inheritable(True)
        yield listener


def _leave(number: int, frame: object) -> None:
    sys.exit(0)
