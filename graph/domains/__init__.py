"""The domains of the service, each after those that it builds on. A new domain is added here."""

from graph.domains import (
    area_watches,
    data_files,
    earthquakes,
    export,
    libera,
    openlineage,
    otlp,
    own_logs,
    payload_files,
    provenance_exports,
    request_logs,
    service_logs,
    sightings,
    statistics,
    triggers,
    watches,
)

DOMAINS = (
    earthquakes.DOMAIN,
    statistics.DOMAIN,
    export.DOMAIN,
    request_logs.DOMAIN,
    service_logs.DOMAIN,
    otlp.DOMAIN,
    own_logs.DOMAIN,
    triggers.DOMAIN,
    watches.DOMAIN,
    sightings.DOMAIN,
    area_watches.DOMAIN,
    data_files.DOMAIN,
    provenance_exports.DOMAIN,
    libera.DOMAIN,
    openlineage.DOMAIN,
    payload_files.DOMAIN,
)
