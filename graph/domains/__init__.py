"""The domains of this distribution, and those that others add by entry points of the group `quakegraph.domains`.

Nobody else loads an entry point. One that cannot be loaded is a `BrokenDomain`, so that it ends a process only if
`GRAPH_DOMAINS` does not leave it out.
"""

from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from traceback import extract_tb

from graph.domain import BrokenDomain, Domain, in_a_line
from graph.domains import (
    area_watches,
    dashboard,
    data_files,
    earthquakes,
    export,
    fdsn,
    felt,
    libera,
    openlineage,
    otlp,
    own_logs,
    payload_files,
    payloads,
    provenance_exports,
    request_logs,
    service_logs,
    sightings,
    statistics,
    triggers,
    watches,
)

GROUP = "quakegraph.domains"

DOMAINS: tuple[Domain, ...] = (
    earthquakes.DOMAIN,
    statistics.DOMAIN,
    export.DOMAIN,
    fdsn.DOMAIN,
    payloads.DOMAIN,
    dashboard.DOMAIN,
    request_logs.DOMAIN,
    service_logs.DOMAIN,
    otlp.DOMAIN,
    own_logs.DOMAIN,
    triggers.DOMAIN,
    watches.DOMAIN,
    sightings.DOMAIN,
    felt.DOMAIN,
    area_watches.DOMAIN,
    data_files.DOMAIN,
    provenance_exports.DOMAIN,
    libera.DOMAIN,
    openlineage.DOMAIN,
    payload_files.DOMAIN,
)
"""Those of this distribution. A new one is added here."""


@cache
def installed() -> tuple[Domain, ...]:
    """All domains, on or off: those of this distribution, then the others by name. They are loaded once."""
    return (*DOMAINS, *map(_loaded, sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))))


def _loaded(entry: EntryPoint) -> Domain:
    """The domain of an entry point."""
    origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module
    fault = None
    try:
        domain = entry.load()
    except (Exception, SystemExit) as error:
        frames = [frame for frame in extract_tb(error.__traceback__)[1:] if "importlib" not in frame.filename]
        place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
        fault = f"cannot be imported: {in_a_line(error)}{place}"
    else:
        if not isinstance(domain, Domain):
            fault = f"is {entry.value}, which is no `graph.domain.Domain`"
        elif domain.name != entry.name:
            fault = f"calls itself {domain.name!r}: its entry point must have the same name"
    return BrokenDomain(name=entry.name, origin=origin, fault=fault) if fault else replace(domain, origin=origin)
