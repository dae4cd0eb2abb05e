"""A domain: one value with everything that a family of records adds to the service.

    DOMAIN = Domain(
        name="sightings",
        requires=("earthquakes",),
        entities=(SIGHTING,),
        scopes=(SIGHTINGS_READ,),
        open=open_services,
        queries=(SightingQueries,),
        nodes=(Sighting,),
    )

No code outside `graph.domains` names a domain. The application, the command line, the schema and the
settings are assembled from a tuple of these values. To add a domain, name it in `graph.domains`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import httpx
from starlette.routing import BaseRoute

from graph.access.callers import Scope
from graph.api.nodes import Node
from graph.api.recording import Recording
from graph.api.schema import Contribution, Scalars
from graph.core.clock import Clock
from graph.core.services import Services
from graph.observability.metrics import Metrics
from graph.settings import Misconfigured, Settings, SettingsPart
from graph.store.contract import Database
from graph.store.design import TableDesign
from graph.store.entity import Entity, same_key
from graph.work.endings import Endings

__all__ = [
    "Contribution",
    "Domain",
    "Resources",
    "Scope",
    "Services",
    "Settings",
    "SettingsPart",
    "Task",
    "WebPage",
]
"""Everything that a domain's value is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a domain needs to open its services. It is a service too, so tasks and commands can use it."""

    database: Database
    clock: Clock
    http: httpx.AsyncClient
    settings: Settings
    metrics: Metrics  # a domain registers its own here
    recording: Recording  # records work that is not done by a root field
    endings: Endings  # functions to call before the process ends
    services: Services  # the services of the domains before this one


@asynccontextmanager
async def _no_services(resources: Resources) -> AsyncIterator[Sequence[object]]:
    yield ()


async def _no_readiness(services: Services) -> Mapping[str, Any]:
    return {}


async def _nothing_to_prepare(services: Services) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Task:
    """Background work of each serving process. It is restarted after a crash, and cancelled at the end."""

    name: str  # for the logs
    work: Callable[[Services], Awaitable[object]]  # the task ends when it returns


@dataclass(frozen=True, slots=True)
class WebPage:
    """A web page, whose address `serve` prints at its start."""

    name: str
    path: str
    scopes: Sequence[Scope]  # the scopes that its token needs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """One domain. Its queries, mutations and subscriptions are Strawberry types, whose fields join the root types."""

    name: str
    requires: tuple[str, ...] = ()  # domains that it builds on; they come before it
    part_of: str | None = None  # the host that it extends; `GRAPH_DOMAINS` means a host with its parts
    entities: tuple[Entity, ...] = ()  # each names its table
    scopes: tuple[Scope, ...] = ()
    settings: type[SettingsPart] | None = None

    open: Callable[[Resources], AbstractAsyncContextManager[Sequence[object]]] = _no_services
    """Opens the services that resolvers use: at most one of each class."""

    queries: tuple[type, ...] = ()
    mutations: tuple[type, ...] = ()
    subscriptions: tuple[type, ...] = ()
    nodes: tuple[Node, ...] = ()  # types whose objects `node` finds, each with its loader and scope
    contributions: tuple[Contribution, ...] = ()  # fields added to types of the domains that it requires
    scalars: Scalars = field(default_factory=dict)

    routes: Callable[[Settings], Sequence[BaseRoute]] = lambda settings: ()
    """Its HTTP routes. `graph.transport.routes` makes routes that authenticate their callers."""

    pages: Callable[[Settings], Sequence[WebPage]] = lambda settings: ()
    tasks: tuple[Task, ...] = ()
    commands: tuple[click.Command, ...] = ()  # `graph.command_line` explains how to write one
    options: tuple[click.Option, ...] = ()  # options of `serve` for its settings
    examples: Path | None = None
    """Folder of GraphiQL's tabs, in order of their names: `*.graphql`, and `*.json` for variables."""

    prepare: Callable[[Services], Awaitable[str | None]] = _nothing_to_prepare
    """Called once before any process serves. The text that it returns is shown to the operator."""

    readiness: Callable[[Services], Awaitable[Mapping[str, Any]]] = _no_readiness
    """Its part of the answer of `/readyz`. It does not decide whether the service is ready."""


class ImproperDomains(ValueError):
    """The tuple of domains is wrong, so they cannot be assembled."""


def checked(domains: Sequence[Domain]) -> tuple[Domain, ...]:
    """Check the order, the names and the entities of domains, and return them.

    Raises:
        ImproperDomains: Two have the same name, one comes before a domain that it requires, or items of two entities
            could have the same key.
    """
    before: set[str] = set()
    for domain in domains:
        if domain.name in before:
            raise ImproperDomains(f"there are two domains {domain.name!r}")
        for name in domain.requires:
            if name not in before:
                raise ImproperDomains(f"the domain {domain.name!r} requires {name!r}, which must come before it")
        before.add(domain.name)
    for one, other in combinations(entities_of(domains), 2):
        if same_key(one, other):
            raise ImproperDomains(f"{one.name} and {other.name} of {one.table.name} could have the same key")
    return tuple(domains)


def switched_on(domains: Sequence[Domain], names: Sequence[str]) -> tuple[Domain, ...]:
    """The domains that `GRAPH_DOMAINS` names, in the order of `domains`.

    A host stands for itself and its parts, or for itself and those of its parts that are named too. `-NAME` leaves a
    domain out. Without names to switch on, all domains are on.

    Raises:
        Misconfigured: There is no domain of a name, or a domain is missing that another one requires.
    """
    known = {domain.name: domain for domain in domains}
    off = {name.removeprefix("-") for name in names if name.startswith("-")}
    named = [name for name in names if not name.startswith("-")]
    for name in (*named, *sorted(off)):
        if name not in known:
            raise Misconfigured(f"GRAPH_DOMAINS: there is no domain {name!r}; these are: {', '.join(known)}")
    whole = set(named) - {known[name].part_of for name in named}  # hosts that mean all of their parts
    on = [
        domain
        for domain in domains
        if domain.name not in off and (not named or domain.name in named or domain.part_of in whole)
    ]
    served = {domain.name for domain in on}
    for domain in on:
        for name in domain.requires:
            if name not in served:
                raise Misconfigured(
                    f"GRAPH_DOMAINS: {domain.name!r} requires {name!r}: name {name!r} too, or leave out {domain.name!r}"
                )
    return checked(on)


def exact_names(domains: Sequence[Domain], on: Collection[Domain]) -> tuple[str, ...]:
    """The names for `GRAPH_DOMAINS` that switch on exactly these of the domains."""
    return tuple(domain.name if domain in on else f"-{domain.name}" for domain in domains)


def scopes_of(domains: Sequence[Domain]) -> tuple[Scope, ...]:
    """All scopes of the domains, in order of their names."""
    return tuple(sorted(scope for domain in domains for scope in domain.scopes))


def entities_of(domains: Sequence[Domain]) -> tuple[Entity, ...]:
    """All entities of the domains."""
    return tuple(entity for domain in domains for entity in domain.entities)


def tables_of(domains: Sequence[Domain]) -> tuple[TableDesign, ...]:
    """All tables of the domains, each once: several domains may share a table."""
    return tuple({entity.table.name: entity.table for entity in entities_of(domains)}.values())
