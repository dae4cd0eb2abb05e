"""From versions of events to the files that they came from, and back."""

from collections.abc import Sequence
from typing import Any

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.selected import needs
from graph.api.sizes import Cost
from graph.core.paging import Page
from graph.domains.data_files import model
from graph.domains.data_files.schema.files import DataFile
from graph.domains.data_files.scopes import FILES_READ
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.schema.revisions import EventRevisionConnection
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.payload_files.files import SourceFiles, payload_of
from graph.domains.payloads.versions import PayloadOrder, PayloadVersion, PayloadVersions
from graph.store.ordering import PageRequest

_SOURCE = [RequiresScope(scope=FILES_READ), Cost(weight="4")]


async def _files(context: Context, _: None, changes: Sequence[int]) -> list[model.DataFile | None]:
    found = await context.service(SourceFiles).of_changes(changes)
    return [found.get(number) for number in changes]


async def _file(info: Info[Context, None], version: Event | EventRevision) -> model.DataFile | None:
    change = version.item.get("arrival")
    return None if change is None else await info.context.loader(_files, None).load(change)


@strawberry.type
class SourceOfEvent:
    @strawberry.field(
        description="The file that this version came from; null if that is not known, as of what other "
        "programs stored, and of a file that is being ingested.",
        graphql_type=DataFile | None,
        directives=_SOURCE,
        metadata=needs("arrival"),
    )
    @staticmethod
    async def source_file(event: strawberry.Parent[Event], info: Info[Context, None]) -> Any:
        return await _file(info, event)


@strawberry.type
class SourceOfRevision:
    @strawberry.field(
        description="The file that this version came from; null if that is not known.",
        graphql_type=DataFile | None,
        directives=_SOURCE,
        metadata=needs("arrival"),
    )
    @staticmethod
    async def source_file(revision: strawberry.Parent[EventRevision], info: Info[Context, None]) -> Any:
        return await _file(info, revision)


@strawberry.type
class VersionsOfFile:
    @connection_field(
        EventRevisionConnection,
        PayloadOrder(),
        PayloadVersion,
        description="The versions of events that came from this file, in the order in which they were stored.",
        directives=[RequiresScope(scope=EVENTS_READ), relay.PAGE_SIZE, Cost(weight="10")],
        metadata=needs("file-name"),
    )
    @staticmethod
    async def event_versions(
        file: strawberry.Parent[model.DataFile], info: Info[Context, None], page: PageRequest
    ) -> Page[PayloadVersion]:
        return await info.context.service(PayloadVersions).page(payload_of(file.name) or "-", page.paging)
