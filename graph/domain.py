"""A domain: all that one family of records gives the service, in one value.

    DOMAIN = Domain(
        name="sightings",
        requires=("earthquakes",),
        entities=(SIGHTING,),
        scopes=(SIGHTINGS_READ,),
        open=open_services,
        queries=(SightingQueries,),
        nodes=(Node(Sighting, load=sightings_by_key, scope=SIGHTINGS_READ),),
    )

Nothing outside `graph.domains` knows one: the application, the command line, the schema, the
settings and all else are assembled from a tuple of these. To add a domain is to name it in
`graph.domains`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import httpx
from starlette.routing import BaseRoute

from graph.access.callers import Scope
from graph.api.nodes import Node
from graph.api.recording import Recording
from graph.api.schema import Contribution
from graph.core.clock import Clock
from graph.core.services import Services
from graph.observability.metrics import Metrics
from graph.settings import Misconfigured, Settings, SettingsPart
from graph.store.contract import Database
from graph.store.design import TableDesign
from graph.store.entity import Entity
from graph.work.endings import Endings

__all__ = [
    "Contribution",
    "Domain",
    "Node",
    "Resources",
    "Scope",
    "Services",
    "Settings",
    "SettingsPart",
    "Task",
    "WebPage",
]
"""What the author of a domain needs for its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a domain opens its services with. A service itself, so that a task or a command finds it too."""

    database: Database
    clock: Clock
    http: httpx.AsyncClient
    settings: Settings
    metrics: Metrics  # where a domain registers its own
    recording: Recording  # where work is recorded that no root field does
    endings: Endings  # told before the process ends
    services: Services  # of the domains before this one


@asynccontextmanager
async def _no_services(resources: Resources) -> AsyncIterator[Sequence[object]]:
    yield ()


async def _nothing_to_tell(services: Services) -> Mapping[str, Any]:
    return {}


async def _nothing_to_prepare(services: Services) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Task:
    """Work in the background of each process that serves, started again where it crashes, and cancelled at the end."""

    name: str  # for the logs
    work: Callable[[Services], Awaitable[object]]  # where it returns, the task has ended


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page for people, which `serve` names at its start."""

    name: str
    path: str
    scopes: Sequence[Scope]  # that its token needs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """One domain. Types of the graph are classes of Strawberry, each of whose fields becomes one of the root type."""

    name: str
    requires: tuple[str, ...] = ()  # domains that it builds on, which must come before it
    entities: tuple[Entity, ...] = ()  # which name their tables
    scopes: tuple[Scope, ...] = ()
    settings: type[SettingsPart] | None = None

    open: Callable[[Resources], AbstractAsyncContextManager[Sequence[object]]] = _no_services
    """Opens the services that resolvers ask for, of which each is the only one of its class."""

    queries: tuple[type, ...] = ()
    mutations: tuple[type, ...] = ()
    subscriptions: tuple[type, ...] = ()
    nodes: tuple[Node, ...] = ()
    contributions: tuple[Contribution, ...] = ()  # fields of types of the domains that it requires

    routes: Callable[[Settings], Sequence[BaseRoute]] = lambda settings: ()
    """HTTP routes of its own. `graph.transport.routes` makes one whose callers are known."""

    pages: Callable[[Settings], Sequence[WebPage]] = lambda settings: ()
    tasks: tuple[Task, ...] = ()
    commands: tuple[click.Command, ...] = ()  # of the command line; `graph.command_line` tells how to write one
    options: tuple[click.Option, ...] = ()  # of `serve`, for its settings
    examples: Path | None = (
        None  # folder of GraphiQL's tabs in order of their names: `*.graphql`, `*.json` of variables
    )

    prepare: Callable[[Services], Awaitable[str | None]] = _nothing_to_prepare
    """Called once before any process serves. What it answers is told to the operator."""

    readiness: Callable[[Services], Awaitable[Mapping[str, Any]]] = _nothing_to_tell
    """What `/readyz` tells of it. It does not decide whether the service is ready."""


class ImproperDomains(ValueError):
    """The domains cannot be assembled: a defect of their list."""


def checked(domains: Sequence[Domain]) -> tuple[Domain, ...]:
    """The same domains.

    Raises:
        ImproperDomains: Two have the same name, or one stands before what it requires.
    """
    before: set[str] = set()
    for domain in domains:
        if domain.name in before:
            raise ImproperDomains(f"there are two domains {domain.name!r}")
        for name in domain.requires:
            if name not in before:
                raise ImproperDomains(f"the domain {domain.name!r} requires {name!r}, which must stand before it")
        before.add(domain.name)
    return tuple(domains)


def switched_on(domains: Sequence[Domain], names: Sequence[str]) -> tuple[Domain, ...]:
    """Those of the domains that are named, in their own order; all of them where none is named.

    Raises:
        Misconfigured: A name is none of a domain, or what a named domain requires is not named.
    """
    if not names:
        return checked(domains)
    known = [domain.name for domain in domains]
    for name in names:
        if name not in known:
            raise Misconfigured(f"GRAPH_DOMAINS: there is no domain {name!r}; these are: {', '.join(known)}")
    on = [domain for domain in domains if domain.name in names]
    for domain in on:
        for name in domain.requires:
            if name not in names:
                raise Misconfigured(f"GRAPH_DOMAINS: {domain.name!r} requires {name!r}, which has to be named too")
    return checked(on)


def scopes_of(domains: Sequence[Domain]) -> tuple[Scope, ...]:
    """The scopes that there are, in order of their names."""
    return tuple(sorted(scope for domain in domains for scope in domain.scopes))


def entities_of(domains: Sequence[Domain]) -> tuple[Entity, ...]:
    """What the domains keep in their tables."""
    return tuple(entity for domain in domains for entity in domain.entities)


def tables_of(domains: Sequence[Domain]) -> tuple[TableDesign, ...]:
    """The tables of the domains, each once: several domains may stand in one."""
    return tuple({entity.table.name: entity.table for entity in entities_of(domains)}.values())
