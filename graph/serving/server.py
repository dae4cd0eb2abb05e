"""Runs the service: the checks at the start, the socket, the processes and the shutdown.

On SIGTERM or SIGINT the service drains (see `drain`), finishes requests in progress, flushes the
request logs, and exits with status 0.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from tempfile import TemporaryDirectory

import click
import uvicorn
from starlette.types import ASGIApp

from graph.access.authentication import shared_secret
from graph.access.callers import Scope
from graph.access.rate import rates
from graph.app import GRAPH_PATH, OWN_PATHS, build_entrance, create_app
from graph.core import garbage
from graph.domain import Domain, routes_of, scopes_of, switched_on
from graph.domains import installed
from graph.observability.logs import configure_logging, log_unhandled
from graph.observability.metrics import SHARED_FOLDER
from graph.opening import open_services
from graph.pages import packages
from graph.serving.connections import connection_class
from graph.serving.drain import DrainingServer
from graph.serving.limits import ConnectionLimits
from graph.serving.sockets import socket_class
from graph.serving.workers import Workers
from graph.settings import Settings
from graph.transport.request import MOST_BODY_BYTES

BACKLOG = 2048  # connections that wait to be accepted
SWITCH_S = 0.0001  # the longest that the event loop waits for a thread's Python code
PAGE_TOKEN_S = 24 * 3600
TRUSTED_PROXIES = "FORWARDED_ALLOW_IPS"  # uvicorn's variable; without it, uvicorn trusts 127.0.0.1


class Unprotected(click.ClickException):
    """The settings would let anybody use the service."""

    exit_code = 2


async def prepare(settings: Settings, domains: Sequence[Domain]) -> None:
    """Check the settings and prepare the domains, once, before any process serves.

    Raises:
        DatabaseUnavailable: The store cannot be used.
        Misconfigured: Something else that the settings name cannot be used.
        ImproperDomains: A domain contradicts another one.
    """
    on = switched_on(domains, settings.domains)
    routes_of(on, settings, OWN_PATHS)
    build_entrance(settings, domains)  # reads the list of persisted documents
    rates(settings)
    async with open_services(settings, domains) as services:
        for domain in on:
            if done := await domain.prepare(services):
                click.echo(done, err=True)


def check_callers(settings: Settings) -> None:
    """Refuse to listen to other machines while callers cannot be authenticated."""
    if not (settings.jwt_secret or settings.jwks_url or _is_loopback(settings.host)):
        raise Unprotected(
            f"to listen on {settings.host}, where others can connect, set GRAPH_JWT_SECRET or GRAPH_JWKS_URL; "
            "without them this listens on 127.0.0.1 alone"
        )


def serve(settings: Settings, domains: Sequence[Domain]) -> None:
    """Listen and serve until a signal ends it.

    Args:
        settings: for every process.
        domains: all domains. Several processes can only serve those that are installed.
    """
    on = switched_on(domains, settings.domains)
    configure_logging(settings.log_level, settings.log_format)
    with _listening(settings) as listener:
        host, port, *_ = listener.getsockname()
        shown = f"[{host}]" if ":" in host else host
        origin = f"http://{shown}:{port}"
        click.echo(f"GraphiQL: {origin}{GRAPH_PATH}{_fragment(settings, 'graphiql', scopes_of(on))}", err=True)
        for page in (page for domain in on for page in domain.pages(settings)):
            click.echo(
                f"{page.name}: {origin}{page.path}{_fragment(settings, page.name.lower(), page.scopes)}", err=True
            )
        if not packages.packaged():
            click.echo(packages.NOT_PACKAGED, err=True)
        log_unhandled()
        if settings.workers == 1:
            _serve_here(settings, domains, listener)
        else:
            with TemporaryDirectory(prefix="quakegraph-metrics-") as folder:
                os.environ[SHARED_FOLDER] = folder  # for the workers, which inherit it
                Workers(settings.workers, partial(_work, settings), listener).run()


def _work(settings: Settings, listener: socket.socket, all_end: Callable[[], bool]) -> None:
    """Serve as one of several processes. Logging is not configured here yet."""
    configure_logging(settings.log_level, settings.log_format)
    log_unhandled()
    try:
        _serve_here(settings, installed(), listener, all_end)
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)  # multiprocessing would print it
        sys.exit(1)


def _serve_here(
    settings: Settings, domains: Sequence[Domain], listener: socket.socket, all_end: Callable[[], bool] | None = None
) -> None:
    # Signals that come before uvicorn handles them, and the one that uvicorn raises again at its end. They are only
    # noted: Python drops what a handler raises in a destructor or in a weak reference's callback.
    noted: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: noted.append(number))
    app = create_app(settings, domains=domains)
    server = DrainingServer(configuration(app, settings), settings.drain, all_end=all_end, early_signals=noted)
    garbage.settle()
    sys.setswitchinterval(SWITCH_S)
    server.run(sockets=[listener])


def configuration(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """uvicorn's configuration for the application."""
    limits = ConnectionLimits(settings.request_timeout, settings.max_connections)
    return uvicorn.Config(
        app,
        http=connection_class(limits),
        log_config=None,
        access_log=False,  # `observability.requests` logs more
        ws=socket_class(limits),
        ws_max_size=MOST_BODY_BYTES,
        ws_per_message_deflate=False,  # it would take more memory than the rest of an idle WebSocket
        ws_ping_interval=None,  # the protocol above has its own
        proxy_headers=bool(os.environ.get(TRUSTED_PROXIES)),  # by default, any local client could forge its address
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_timeout,
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _fragment(settings: Settings, page: str, scopes: Iterable[Scope]) -> str:
    """A URL fragment with a token for a web page, if only this machine can connect.

    No server and no log sees the fragment of a URL.
    """
    needed = list(scopes)
    if settings.jwt_secret or settings.jwks_url or not needed:
        return ""
    return f"#token={shared_secret(settings).issue(page, needed, PAGE_TOKEN_S)}"


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
