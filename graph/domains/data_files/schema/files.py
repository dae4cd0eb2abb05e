"""Data files: their type, and the lists of them."""

from datetime import date, datetime
from typing import Annotated, Any

import strawberry
from strawberry.scalars import JSON
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.selected import needs
from graph.api.sizes import Cost, ListSize
from graph.core.paging import Page
from graph.domains.data_files import model
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.schema.filters import DataFileFilter
from graph.domains.data_files.schema.loading import files
from graph.domains.data_files.schema.metadata import AdditionalMetadata, FileCalibration, SortableMetadata, parts
from graph.domains.data_files.schema.revisions import DataFileRevisionConnection
from graph.domains.data_files.schema.values import ByteCount
from graph.domains.data_files.scopes import FILES_READ
from graph.domains.data_files.selection import FileSelection
from graph.store.ordering import PageRequest

USUAL_PARTS = 5  # for the price

_PART = Cost(weight="2")
_NAMED = needs("file-name")


@strawberry.type(description="A data file, as its latest revision is.")
class DataFile(relay.Node):
    name: str = strawberry.field(description="Its name, which is unique.")
    namespace: str | None = strawberry.field(description="Where it is, as OpenLineage names that.")
    revision: int = strawberry.field(description="The number of the latest revision, from 1.")
    level: str | None = strawberry.field(description=f"The level: {', '.join(model.LEVELS)}, or another one.")
    product: str | None = strawberry.field(description="The product.")
    archive_time: datetime | None = strawberry.field(description="When it was archived.")
    ingest_time: datetime | None = strawberry.field(description="When it was ingested.")
    algorithm_version: str | None = strawberry.field(description="The version of the algorithm that made it.")
    checksum: str | None = strawberry.field(
        description="The checksum of its content, hexadecimal digits: MD5, SHA-1, SHA-256 or SHA-512 by their number."
    )
    size: ByteCount | None = strawberry.field(description="Its size, bytes.")
    url: str | None = strawberry.field(description="Where it is.")
    metadata: JSON | None = strawberry.field(description="What else its registration told of it.")
    applicable_dates: list[date] = strawberry.field(
        description="The UTC days that its data apply to.", directives=[ListSize(assumed_size=USUAL_PARTS)]
    )
    registered_at: datetime = strawberry.field(description="When its latest revision was registered.")

    @strawberry.field(
        description="What its data are, for each day that they apply to.",
        graphql_type=list[SortableMetadata],
        directives=[ListSize(assumed_size=USUAL_PARTS), _PART],
        metadata=_NAMED,
    )
    @staticmethod
    async def sortable(file: strawberry.Parent[model.DataFile], info: Info[Context, None]) -> Any:
        return [part for part in await info.context.loader(parts, None).load(file.name) if part.is_sortable]

    @strawberry.field(
        description="Its further metadata.",
        graphql_type=list[AdditionalMetadata],
        directives=[ListSize(assumed_size=USUAL_PARTS), _PART],
        metadata=_NAMED,
    )
    @staticmethod
    async def additional(file: strawberry.Parent[model.DataFile], info: Info[Context, None]) -> Any:
        found = await info.context.loader(parts, None).load(file.name)
        return [part for part in found if not part.is_sortable and not part.is_calibration]

    @strawberry.field(
        description="What it calibrates, if it is a calibration.",
        graphql_type=list[FileCalibration],
        directives=[ListSize(assumed_size=1), _PART],
        metadata=_NAMED,
    )
    @staticmethod
    async def calibrations(file: strawberry.Parent[model.DataFile], info: Info[Context, None]) -> Any:
        return [part for part in await info.context.loader(parts, None).load(file.name) if part.is_calibration]

    @connection_field(
        DataFileRevisionConnection,
        model.REVISIONS,
        model.FileRevision,
        description="Its revisions, the latest first.",
        directives=[relay.PAGE_SIZE, Cost(weight="5")],
        metadata=_NAMED,
    )
    @staticmethod
    async def revisions(
        file: strawberry.Parent[model.DataFile], info: Info[Context, None], page: PageRequest
    ) -> Page[model.FileRevision]:
        return await info.context.service(DataFiles).revisions(file.name, page)

    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        return isinstance(record, model.DataFile)


@strawberry.type(description="A page of data files.")
class DataFileConnection(relay.Connection[DataFile]):
    pass


@strawberry.type
class DataFileQueries:
    @strawberry.field(
        description="The data file with this name; null if it is not registered.",
        graphql_type=DataFile | None,
        directives=[RequiresScope(scope=FILES_READ)],
    )
    async def data_file(
        self, info: Info[Context, None], name: Annotated[str, strawberry.argument(description="Its name.")]
    ) -> Any:
        return await info.context.loader(files, None).load(name)

    @connection_field(
        DataFileConnection,
        model.BY_APPLICABLE_DATE,
        model.DataFile,
        description="Data files by the days that they apply to, the newest first. A file that applies to several of "
        "the selected days is listed once, at the first of them. Files without such a day are not listed.",
        directives=[RequiresScope(scope=FILES_READ)],
    )
    async def data_files(
        self,
        info: Info[Context, None],
        page: PageRequest,
        filter: Annotated[DataFileFilter | None, strawberry.argument(description="All files by default.")] = None,
    ) -> Page[Any]:
        selection = filter.selection() if filter else FileSelection()
        return await info.context.service(DataFiles).page(selection, page)
