"""Exports of whole lists of events: pages of the catalogue → an encoder → an HTTP body or a file."""

from collections.abc import Sequence

from graph.domain import Contribution, Domain, Resources
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.schema.events import EventConnection, EventVersionConnection
from graph.domains.export.commands import export
from graph.domains.export.exporting import ExportMetrics, Exports
from graph.domains.export.routes import export_routes
from graph.domains.export.schema import ExportOfEvents


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the exports, and their metrics."""
    exports = Exports(resources.database, resources.services.of(Catalogue), resources.clock)
    return exports, ExportMetrics(resources.metrics)


DOMAIN = Domain(
    name="export",
    part_of="earthquakes",
    open=open_services,
    contributions=(Contribution(EventConnection, ExportOfEvents), Contribution(EventVersionConnection, ExportOfEvents)),
    routes=export_routes,
    commands=(export,),
)
