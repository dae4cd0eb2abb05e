"""Running the service: the checks before, the socket, the processes, and a clean end.

On SIGTERM or SIGINT no new connection is taken, requests in flight are finished, the request
logs are flushed, and the process ends with status 0.
"""

import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
import uvicorn
from uvicorn.supervisors import Multiprocess

from graph import graphiql
from graph.app import GRAPH_PATH, create_app, load_sample, open_parts
from graph.settings import Settings

BACKLOG = 2048  # connections that wait to be accepted


async def prepare(settings: Settings) -> None:
    """Do once, before any process serves, what none of them should do alone.

    Raises:
        DatabaseUnavailable: The store cannot be used.
    """
    async with open_parts(settings) as parts:
        if settings.demo and (report := await load_sample(parts)):
            click.echo(f"Loaded {report.upserted:,} real events of a week in 2023 as a demo.", err=True)


def serve(settings: Settings) -> None:
    """Listen and serve until a signal ends it."""
    configure_logging(settings)
    with _listening(settings) as listener:
        host, port, *_ = listener.getsockname()
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"GraphiQL: http://{shown}:{port}{GRAPH_PATH}", err=True)
        if not graphiql.bundled():
            click.echo(graphiql.NOT_BUNDLED, err=True)
        # uvicorn raises the signal again when it is done; by then, all that is left is to go.
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGINT, _leave)
        if settings.workers == 1:
            uvicorn.Server(_configuration(settings)).run(sockets=[listener])
        else:
            os.environ |= settings.environment()  # which each process reads for itself
            Multiprocess(_configuration(settings), [listener]).run()


def configure_logging(settings: Settings) -> None:
    """Write logs to standard error, a line each."""
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("httpx", "botocore", "aiobotocore"):  # they log every request
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _configuration(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(settings) if settings.workers == 1 else "graph.server:create_worker_app",
        factory=settings.workers > 1,
        workers=settings.workers,
        log_config=None,
        access_log=False,  # the request logs say more
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_timeout,
    )


def create_worker_app() -> object:
    """The application in a process of its own, which has no logging yet."""
    settings = Settings()
    configure_logging(settings)
    return create_app(settings)


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
