"""A domain: one value with everything that a family of records adds to the service, and which values fit together.

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
settings are assembled from these values. A distribution adds a domain by an entry point of the same name:

    [project.entry-points."quakegraph.domains"]
    sightings = "quakegraph_sightings:DOMAIN"

Such a plug-in may import this module, `graph.command_line`, `graph.settings`, the folders `access`, `api`, `core`,
`feed`, `geography`, `observability`, `pages`, `runtime`, `transport` and `work`, `graph.store` without its engines, and
the domains that it requires. It imports nothing from `graph.api.fast`, and no name that begins with `_`. Its tests may
import `graph.app`, `graph.opening` and `graph.domains`, too.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import httpx
from starlette.routing import BaseRoute

from graph import __version__
from graph.access.callers import Scope
from graph.api.recording import Recording
from graph.api.schema import Contribution, SchemaPart
from graph.core.clock import Clock
from graph.core.services import Services
from graph.feed.adoption import Adoption
from graph.observability.metrics import Metrics
from graph.settings import Misconfigured, Settings, SettingsPart
from graph.store.contract import Database
from graph.store.design import TableDesign
from graph.store.entity import Entity
from graph.store.shared_keys import same_key
from graph.work.endings import Endings

__all__ = [
    "Adoption",
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

ORIGIN = f"quakegraph {__version__}"


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
    closing: AsyncExitStack  # closes at the end what a domain has opened, the last first
    services: Services  # the services of the domains before this one


async def _no_services(resources: Resources) -> Sequence[object]:
    return ()


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
class Domain(SchemaPart):
    """One domain. Its queries, mutations and subscriptions are classes whose fields join the root types."""

    origin: str = ORIGIN  # the distribution that it comes from; that of a plug-in is read from its entry point
    requires: tuple[str, ...] = ()  # domains that it builds on, apart from its host
    part_of: str | None = None  # the host that it extends; `GRAPH_DOMAINS` means a host with its parts
    entities: tuple[Entity, ...] = ()  # each names its table
    settings: type[SettingsPart] | None = None

    open: Callable[[Resources], Awaitable[Sequence[object]]] = _no_services
    """Opens the services that resolvers use: at most one of each class."""

    routes: Callable[[Settings], Sequence[BaseRoute]] = lambda settings: ()
    """Its HTTP routes. `graph.transport.routes` makes routes that authenticate their callers."""

    pages: Callable[[Settings], Sequence[WebPage]] = lambda settings: ()
    tasks: tuple[Task, ...] = ()
    adoptions: tuple[Adoption, ...] = ()  # how items of other programs are taken up; their states are entities of its
    commands: tuple[click.Command, ...] = ()  # `graph.command_line` explains how to write one
    options: tuple[click.Option, ...] = ()  # options of `serve` for its settings
    examples: Path | None = None
    """Folder of GraphiQL's tabs, in order of their names: `*.graphql`, and `*.json` for variables."""

    prepare: Callable[[Services], Awaitable[str | None]] = _nothing_to_prepare
    """Called once before any process serves. The text that it returns is shown to the operator."""

    readiness: Callable[[Services], Awaitable[Mapping[str, Any]]] = _no_readiness
    """Its part of the answer of `/readyz`. It does not decide whether the service is ready."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Its host, and what it requires: they come before it."""
        return (*self.requires, self.part_of) if self.part_of else self.requires

    def __str__(self) -> str:
        return f"{self.name!r} of {self.origin}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokenDomain(Domain):
    """A plug-in that cannot be used, under the name of its entry point."""

    fault: str


def in_a_line(error: BaseException) -> str:
    """An error of a plug-in, whatever it is, for a message of one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class ImproperDomains(ValueError):
    """The domains cannot be assembled. The message names the distribution of one that does not fit."""

    def __init__(self, domain: Domain, fault: str) -> None:
        left_out = f"`-{domain.name}` in GRAPH_DOMAINS leaves it out"
        super().__init__(f"{domain.origin}: the domain {domain.name!r} {fault}; {left_out}")


def chosen(domains: Sequence[Domain], names: Sequence[str]) -> list[Domain]:
    """The domains that `GRAPH_DOMAINS` means, whether or not they can be served together.

    A host stands for itself and its parts, or for itself and those of its parts that are named too. `-NAME` leaves a
    domain out, and its parts with it. Without names to switch on, all domains are on.
    """
    named, off = ({name.removeprefix("-") for name in names if name.startswith("-") is out} for out in (False, True))
    whole = named - {domain.part_of for domain in domains if domain.name in named}  # hosts that mean all of their parts
    return [
        domain
        for domain in domains
        if not off & {domain.name, domain.part_of} and (not named or domain.name in named or domain.part_of in whole)
    ]


def switched_on(domains: Sequence[Domain], names: Sequence[str]) -> tuple[Domain, ...]:
    """The domains that `GRAPH_DOMAINS` means, each after those that it needs, otherwise in the order of `domains`.

    Raises:
        Misconfigured: There is no domain of a name, or one that another domain needs is off.
        ImproperDomains: A domain is broken, needs one that is not installed, or contradicts another one.
    """
    on, known = chosen(domains, names), [domain.name for domain in domains]
    for name in names:
        if name.removeprefix("-") not in known:
            raise Misconfigured(
                f"GRAPH_DOMAINS: there is no domain {name.removeprefix('-')!r}; these are: {', '.join(known)}"
            )
    served = {domain.name for domain in on}
    for domain in on:
        if isinstance(domain, BrokenDomain):
            raise ImproperDomains(domain, domain.fault)
        for name in domain.needs:
            if name not in known:
                raise ImproperDomains(domain, f"requires the domain {name!r}, which is not installed")
            if name not in served:
                raise Misconfigured(
                    f"GRAPH_DOMAINS: {domain.name!r} requires {name!r}: name {name!r} too, or leave out {domain.name!r}"
                )
    return _in_order(tuple(on))


@cache
def _in_order(domains: tuple[Domain, ...]) -> tuple[Domain, ...]:
    """The domains, each after those that it needs, otherwise in the same order. They do not contradict each other."""
    refuse_twice("name", domains, lambda domain: [domain.name])
    refuse_twice("setting", domains, lambda domain: _variables(domain.settings), _variables(Settings))
    refuse_twice("scope", domains, lambda domain: domain.scopes)
    refuse_twice("entity", domains, lambda domain: [f"{each.name} of {each.table.name}" for each in domain.entities])
    _refuse_keys_of_two(domains)
    by_name = {domain.name: domain for domain in domains}
    placed: dict[str, Domain] = {}

    def place(domain: Domain, *above: str) -> None:
        if domain.name in above:
            circle = " → ".join((*above[above.index(domain.name) :], domain.name))
            raise ImproperDomains(domain, f"requires itself: {circle}")
        for name in domain.needs:
            if name not in placed:
                place(by_name[name], *above, domain.name)
        placed[domain.name] = domain

    for domain in domains:
        if domain.name not in placed:
            place(domain)
    return tuple(placed.values())


def refuse_twice(
    kind: str, domains: Iterable[Domain], names: Callable[[Domain], Iterable[str]], taken: Iterable[str] = ()
) -> None:
    """Refuse a name of some kind that two domains declare, or a domain and the service.

    Raises:
        ImproperDomains: There is such a name.
    """
    owners: dict[str, object] = dict.fromkeys(taken, "the service")
    for domain in domains:
        for name in dict.fromkeys(names(domain)):
            if name in owners:
                raise ImproperDomains(domain, f"declares the {kind} {name}, as {owners[name]} does")
            owners[name] = domain


def _variables(settings: type[SettingsPart] | None) -> Iterable[str]:
    """The variables of settings."""
    return [f"GRAPH_{name.upper()}" for name in settings.model_fields] if settings else ()


def _refuse_keys_of_two(domains: Sequence[Domain]) -> None:
    """Refuse two designs of one table, and items of two entities that could have the same key."""
    owned = [(domain, entity) for domain in domains for entity in domain.entities]
    for (owner, one), (domain, other) in combinations(owned, 2):
        if one.table.name == other.table.name and one.table != other.table:
            raise ImproperDomains(domain, f"designs the table {other.table.name} otherwise than {owner}")
        if same_key(one, other):
            raise ImproperDomains(
                domain,
                f"has {other.name} of {other.table.name}, which could have the same key as {one.name} of {owner}",
            )


def routes_of(domains: Sequence[Domain], settings: Settings, taken: Iterable[str] = ()) -> list[BaseRoute]:
    """All HTTP routes of the domains.

    Raises:
        ImproperDomains: Two domains have a route at one path, or one of them has a path that is taken.
    """
    routes = {domain: domain.routes(settings) for domain in domains}
    refuse_twice("route", domains, lambda domain: [getattr(route, "path", "") for route in routes[domain]], taken)
    return [route for some in routes.values() for route in some]


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
