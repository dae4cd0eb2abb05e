"""What is ingested, kept compressed in a folder, from which the catalogue can be rebuilt."""

from collections.abc import Sequence

from graph.domain import Domain, Resources
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.payloads.commands import rebuild_catalogue
from graph.domains.payloads.keeping import PayloadFolder
from graph.domains.payloads.receiving import Payloads
from graph.domains.payloads.settings import PayloadSettings
from graph.domains.payloads.versions import PayloadVersions


async def open_services(resources: Resources) -> Sequence[object]:
    """Receive what is ingested, and keep it if that is wanted."""
    kept = resources.settings.part(PayloadSettings).keep_payloads
    revises = resources.settings.part(EarthquakeSettings).revisions == "keep"
    payloads = Payloads(resources.clock, PayloadFolder(kept, revises=revises) if kept else None)
    resources.services.of(Ingest).hand_payloads_to(payloads, bodies=kept is not None)
    resources.closing.push_async_callback(payloads.close)
    return payloads, PayloadVersions(resources.database)


DOMAIN = Domain(
    name="payloads",
    part_of="earthquakes",
    settings=PayloadSettings,
    open=open_services,
    commands=(rebuild_catalogue,),
)
