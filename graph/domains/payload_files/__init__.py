"""The files of payloads: each payload of the catalogue is a data file, and its ingest is a run that uses it."""

from collections.abc import Sequence
from functools import partial

from graph.domain import Contribution, Domain, Resources
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.schema.files import DataFile
from graph.domains.earthquakes.schema.events import Event, EventVersion
from graph.domains.earthquakes.schema.revisions import EventRevision
from graph.domains.payload_files.files import IngestRun
from graph.domains.payload_files.schema import SourceOfEvent, SourceOfRevision, VersionsOfFile
from graph.domains.payloads.receiving import Payloads


async def open_services(resources: Resources) -> Sequence[object]:
    """Record the ingests of payloads from now on."""
    services = resources.services
    services.of(Payloads).recorders.append(partial(IngestRun, services.of(Runs)))
    return []


DOMAIN = Domain(
    name="payload_files",
    requires=("earthquakes", "payloads"),
    part_of="data_files",
    open=open_services,
    contributions=(
        Contribution(DataFile, VersionsOfFile),
        Contribution(Event, SourceOfEvent),
        Contribution(EventVersion, SourceOfEvent),
        Contribution(EventRevision, SourceOfRevision),
    ),
)
