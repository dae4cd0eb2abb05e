"""Revisions of data files, which runs use and generate."""

import strawberry
from strawberry import auto

from graph.api import relay
from graph.api.context import Info, load_by
from graph.api.fields import field
from graph.api.record_type import record_type
from graph.domains.data_files import model
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.schema.loading import file_of, load_versions, revisions_of, run_of
from graph.domains.data_files.scopes import FILES_READ

_ONE = 2


@record_type(
    model.FileRevision,
    load=load_by(DataFiles, DataFiles.by_reference),
    scope=FILES_READ,
    pages="a file's revisions",
    hidden={"namespace", "metadata", "applicable_dates"},
)
class DataFileRevision(relay.Node):
    number: auto = strawberry.field(name="revision")

    @field("The file, as its latest revision is.", cost=_ONE)
    @staticmethod
    async def file(revision: strawberry.Parent[model.FileRevision], info: Info) -> model.DataFile:
        return await file_of(info, revision.name)

    @field("The run that generated it; null if none is known.", cost=_ONE, reads=["generated-by"])
    @staticmethod
    async def generated_by(revision: strawberry.Parent[model.FileRevision], info: Info) -> model.Run | None:
        return await run_of(info, revision.generated_by)

    @field(
        "The run that generated the next revision; null without one, or if no run is known.",
        cost=_ONE,
        reads=["invalidated-by", "invalidated-at"],
    )
    @staticmethod
    async def invalidated_by(revision: strawberry.Parent[model.FileRevision], info: Info) -> model.Run | None:
        if revision.invalidated_by or not revision.invalidated_at:
            return await run_of(info, revision.invalidated_by)
        # A run may have generated the next one after it was registered.
        after = await info.context.loader(load_versions, None).load(Version(revision.name, revision.number + 1))
        return await run_of(info, after.generated_by) if after else None

    @field("The revisions that it was made from: all that its run used.", size=10, cost=5, reads=["generated-by"])
    @staticmethod
    async def derived_from(revision: strawberry.Parent[model.FileRevision], info: Info) -> list[model.FileRevision]:
        run = await run_of(info, revision.generated_by)
        return await revisions_of(info, run.used) if run else []

    @field("The revision before it; null for the first one.", cost=_ONE)
    @staticmethod
    async def revision_of(revision: strawberry.Parent[model.FileRevision], info: Info) -> model.FileRevision | None:
        before = Version(revision.name, revision.number - 1)
        return await info.context.loader(load_versions, None).load(before) if before.revision else None
