"""From versions of events to the files that they came from, and back."""

from collections.abc import Mapping, Sequence

import strawberry

from graph.api.connection_field import connection_field
from graph.api.context import Context, Info
from graph.api.fields import field
from graph.core.paging import Page
from graph.domains.data_files import model
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.scopes import FILES_READ
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.payload_files.files import files_of_changes, payload_of
from graph.domains.payloads.versions import VERSIONS, PayloadVersion, PayloadVersions
from graph.store.ordering import PageRequest


async def _files(context: Context, changes: Sequence[int], _: None) -> Mapping[int, model.DataFile]:
    return await files_of_changes(context.service(DataFiles), context.service(PayloadVersions), changes)


async def _file(info: Info, version: Event | EventRevision) -> model.DataFile | None:
    change = version.item.get("arrival")
    return None if change is None else await info.context.loader(_files, None).load(change)


class SourceOfEvent:
    @field(
        "The file that this version came from; null if that is not known, as of what other "
        "programs stored, and of a file that is being ingested.",
        scope=FILES_READ,
        cost=4,
        reads=["arrival"],
    )
    @staticmethod
    async def source_file(event: strawberry.Parent[Event], info: Info) -> model.DataFile | None:
        return await _file(info, event)


class SourceOfRevision:
    @field(
        "The file that this version came from; null if that is not known.", scope=FILES_READ, cost=4, reads=["arrival"]
    )
    @staticmethod
    async def source_file(revision: strawberry.Parent[EventRevision], info: Info) -> model.DataFile | None:
        return await _file(info, revision)


class VersionsOfFile:
    @connection_field(
        "The versions of events that came from this file, in the order in which they were stored.",
        VERSIONS,
        scope=EVENTS_READ,
        cost=10,
        reads=["file-name"],
    )
    @staticmethod
    async def event_versions(
        file: strawberry.Parent[model.DataFile], info: Info, page: PageRequest
    ) -> Page[PayloadVersion]:
        return await info.context.service(PayloadVersions).page(payload_of(file.name) or "-", page.paging)
