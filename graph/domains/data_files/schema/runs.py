"""Runs: their type, and the query that finds one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
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
from graph.domains.data_files.model import RunState
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.users import Users
from graph.domains.data_files.schema.loading import revisions_of, runs
from graph.domains.data_files.schema.revisions import DataFileRevision
from graph.domains.data_files.scopes import FILES_READ
from graph.store.ordering import PageRequest

USUAL_FILES = 10  # that a run uses or generates, for the price


@strawberry.type(description="A run of an algorithm: what it used, and what it generated.")
class Run(relay.Node):
    run_id: strawberry.ID = strawberry.field(description="The run's own id, a UUID.")
    algorithm: str = strawberry.field(description="The algorithm, or the job of a scheduler.")
    version: str | None = strawberry.field(description="The version of the algorithm.")
    namespace: str | None = strawberry.field(description="The namespace of the job, in OpenLineage.")
    producer: str | None = strawberry.field(description="What has reported the run, a URI.")
    state: RunState = strawberry.field(description="How it went.")
    started_at: datetime | None = strawberry.field(description="When it began.")
    ended_at: datetime | None = strawberry.field(description="When it ended; null if that is unknown.")
    configuration_hash: str | None = strawberry.field(description="The hash of its configuration.")
    facets: JSON | None = strawberry.field(
        description="What else was told of it: facets of OpenLineage, or the name of its manifest."
    )
    recorded_at: datetime = strawberry.field(description="When it was first recorded.")

    @strawberry.field(
        description="The revisions that it used.",
        graphql_type=list[DataFileRevision],
        directives=[ListSize(assumed_size=USUAL_FILES), Cost(weight="5")],
        metadata=needs("used"),
    )
    @staticmethod
    async def used(run: strawberry.Parent[model.Run], info: Info[Context, None]) -> Any:
        return await revisions_of(info, run.used)

    @strawberry.field(
        description="The revisions that it generated.",
        graphql_type=list[DataFileRevision],
        directives=[ListSize(assumed_size=USUAL_FILES), Cost(weight="5")],
        metadata=needs("generated"),
    )
    @staticmethod
    async def generated(run: strawberry.Parent[model.Run], info: Info[Context, None]) -> Any:
        return await revisions_of(info, run.generated)

    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        return isinstance(record, model.Run)


@strawberry.type(description="A page of runs.")
class RunConnection(relay.Connection[Run]):
    pass


@strawberry.type
class UsersOfRevision:
    @connection_field(
        RunConnection,
        model.USES,
        model.Run,
        description="The runs that used it, in order of their own ids.",
        directives=[Cost(weight="5")],
        metadata=needs(),
    )
    @staticmethod
    async def used_by(
        revision: strawberry.Parent[model.FileRevision], info: Info[Context, None], page: PageRequest
    ) -> Page[model.UsingRun]:
        return await info.context.service(Users).page(revision.version, page)


async def runs_by_id(
    context: Context, run_ids: Sequence[str], attributes: frozenset[str] | None
) -> Mapping[str, model.Run]:
    """The recorded ones of these runs, by their ids."""
    return await context.service(Runs).by_id(run_ids, attributes)


@strawberry.type
class RunQueries:
    @strawberry.field(
        description="The run with this id; null if it is not recorded.",
        graphql_type=Run | None,
        directives=[RequiresScope(scope=FILES_READ)],
    )
    async def run(
        self,
        info: Info[Context, None],
        run_id: Annotated[strawberry.ID, strawberry.argument(description="Its own id, a UUID.")],
    ) -> Any:
        return await info.context.loader(runs, None).load(run_id)
