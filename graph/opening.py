"""Reads the settings of a process, then opens its store and the services of its domains, in order."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from graph.api.recording import Recording
from graph.core.clock import Clock, now_ms
from graph.core.errors import GraphError
from graph.core.http_client import http_client
from graph.domain import (
    ORIGIN,
    Domain,
    ImproperDomains,
    Resources,
    Services,
    entities_of,
    in_a_line,
    switched_on,
    tables_of,
)
from graph.observability.metrics import Metrics
from graph.observability.tracing import Tracing
from graph.settings import DomainNames, Misconfigured, Settings, settings_class
from graph.store.contract import Database
from graph.store.location import StoreLocation
from graph.store.meter import MeteredDatabase
from graph.store.metrics import StoreMetrics
from graph.work.endings import Endings


def read_settings(domains: Sequence[Domain], **given: Any) -> Settings:
    """Read the settings of the domains that are on. Given values override the environment.

    Raises:
        ValidationError: A value is wrong.
        Misconfigured: The named domains cannot be switched on.
        ImproperDomains: They contradict each other.
    """
    named = {name: value for name, value in given.items() if name in DomainNames.model_fields}
    return settings_of(switched_on(domains, DomainNames(**named).domains))(**given)


def settings_of(domains: Sequence[Domain]) -> type[Settings]:
    """The class of settings for exactly these domains."""
    return settings_class(*(domain.settings for domain in domains if domain.settings))


@asynccontextmanager
async def open_services(
    settings: Settings,
    domains: Sequence[Domain],
    *,
    clock: Clock = now_ms,
    metrics: Metrics | None = None,
    tracing: Tracing = Tracing(),  # noqa: B008 - it has no state
) -> AsyncIterator[Services]:
    """Open the services of the domains that are on, without their background tasks.

    Raises:
        DatabaseUnavailable: The store does not answer, or a table is missing.
        ImproperDomains: A plug-in cannot open its services: another domain has the same metric, for example.
    """
    metrics = metrics or Metrics()
    on = switched_on(domains, settings.domains)
    async with AsyncExitStack() as stack:
        meter = StoreMetrics(metrics, [table.name for table in tables_of(on)])
        database = await stack.enter_async_context(_open_store(settings, on, clock, meter, tracing))
        services = Services()
        resources = Resources(
            database=database,
            clock=clock,
            http=await stack.enter_async_context(http_client()),
            settings=settings,
            metrics=metrics,
            recording=Recording(metrics),
            endings=Endings(),
            closing=stack,
            services=services,
        )
        services.add(resources)
        for domain in on:
            metrics.owner = str(domain)
            try:
                for service in await domain.open(resources):
                    services.add(service)
            except Exception as error:
                if domain.origin == ORIGIN or isinstance(error, GraphError | Misconfigured):
                    raise
                raise ImproperDomains(domain, f"cannot be opened: {in_a_line(error)}") from error
        yield services


@asynccontextmanager
async def _open_store(
    settings: Settings, domains: Sequence[Domain], clock: Clock, meter: StoreMetrics, tracing: Tracing
) -> AsyncIterator[Database]:
    """Open the tables of the domains."""
    location = StoreLocation.of(settings.store)
    async with location.open(
        entities_of(domains),
        environment=settings.environment,
        clock=clock,
        meter=meter,
        timeout_s=settings.store_timeout,
    ) as database:
        spans = tracing.store(location.engine)
        yield MeteredDatabase(database, spans) if spans else database
