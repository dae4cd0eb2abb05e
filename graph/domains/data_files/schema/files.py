"""Data files: their type, and the lists of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import strawberry
from strawberry import auto

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info
from graph.api.fields import field, shows
from graph.api.record_type import record_type
from graph.api.sizes import ListSize
from graph.core.paging import Page
from graph.domains.data_files import model
from graph.domains.data_files.entities import BY_APPLICABLE_DATE, REVISIONS
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.schema.filters import DataFileFilter
from graph.domains.data_files.schema.loading import load_files
from graph.domains.data_files.schema.metadata import AdditionalMetadata, SortableMetadata, load_parts
from graph.domains.data_files.scopes import FILES_READ
from graph.domains.data_files.selection import FileSelection
from graph.store.ordering import PageRequest

USUAL_PARTS = 5  # for the price

_PART = 2  # points
_NAMED = ["file-name"]


@record_type(model.DataFile, load=load_files, scope=FILES_READ, key="name", pages="data files")
class DataFile(relay.Node):
    name: auto = shows("Its name, which is unique.")
    level: auto = shows(f"The level: {', '.join(model.LEVELS)}, or another one.")
    checksum: auto = shows(
        "The checksum of its content, hexadecimal digits: MD5, SHA-1, SHA-256 or SHA-512 by their number."
    )
    applicable_dates: auto = strawberry.field(directives=[ListSize(assumed_size=USUAL_PARTS)])
    registered_at: auto = shows("When its latest revision was registered.")

    @field(
        "What its data are, for each day that they apply to.",
        of=list[SortableMetadata],
        size=USUAL_PARTS,
        cost=_PART,
        reads=_NAMED,
    )
    @staticmethod
    async def sortable(file: strawberry.Parent[model.DataFile], info: Info) -> Any:
        return [part for part in await _parts(file, info) if part.is_sortable]

    @field("Its further metadata.", of=list[AdditionalMetadata], size=USUAL_PARTS, cost=_PART, reads=_NAMED)
    @staticmethod
    async def additional(file: strawberry.Parent[model.DataFile], info: Info) -> Any:
        return [part for part in await _parts(file, info) if not part.is_sortable and not part.is_calibration]

    @field("What it calibrates, if it is a calibration.", size=1, cost=_PART, reads=_NAMED)
    @staticmethod
    async def calibrations(file: strawberry.Parent[model.DataFile], info: Info) -> list[model.Calibration]:
        return [model.Calibration(part.item) for part in await _parts(file, info) if part.is_calibration]

    @connection_field("Its revisions, the latest first.", REVISIONS, cost=5, reads=["file-name", "revision"])
    @staticmethod
    async def revisions(
        file: strawberry.Parent[model.DataFile], info: Info, page: PageRequest
    ) -> Page[model.FileRevision]:
        return replace(await info.context.service(DataFiles).revisions(file.name, page), total=file.revision)


async def _parts(file: model.DataFile, info: Info) -> Sequence[model.MetadataPart]:
    return await info.context.loader(load_parts, None).load(file.name) or ()


class DataFileQueries:
    @field("The data file with this name; null if it is not registered.", scope=FILES_READ)
    async def data_file(self, info: Info, name: Annotated[str, "Its name."]) -> model.DataFile | None:
        # A name may be any text, also one that reads as a global id: `node` takes these.
        return await info.context.loader(load_files, None).load(name)

    @connection_field(
        "Data files by the days that they apply to, the newest first. A file that applies to several of "
        "the selected days is listed once, at the first of them. Files without such a day are not listed.",
        BY_APPLICABLE_DATE,
        scope=FILES_READ,
    )
    async def data_files(
        self,
        info: Info,
        page: PageRequest,
        filter: Annotated[DataFileFilter | None, "All files by default."] = None,
    ) -> Page[model.DataFile]:
        selection = filter.selection if filter else FileSelection()
        return await info.context.service(DataFiles).page(selection, page)
