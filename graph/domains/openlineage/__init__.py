"""OpenLineage: the routes to which its clients send events, which tell of runs and of data files."""

from collections.abc import Sequence

from graph.domain import Domain, Resources
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.openlineage.intake import LineageIntake
from graph.domains.openlineage.routes import lineage_routes


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the intake of events."""
    services = resources.services
    return [LineageIntake(services.of(DataFiles), services.of(Registration), services.of(Runs))]


DOMAIN = Domain(
    name="openlineage",
    part_of="data_files",
    open=open_services,
    routes=lineage_routes,
)
