"""Runs: their type, and the query that finds one."""

from typing import Annotated

import strawberry

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info
from graph.api.fields import field
from graph.api.record_type import record_type
from graph.core.paging import Page
from graph.domains.data_files import model
from graph.domains.data_files.entities import USES
from graph.domains.data_files.provenance.edges import Edges, UsingRun
from graph.domains.data_files.schema.loading import load_runs, revisions_of
from graph.domains.data_files.scopes import FILES_READ
from graph.store.ordering import PageRequest

USUAL_FILES = 10  # that a run uses or generates, for the price


@record_type(model.Run, load=load_runs, scope=FILES_READ, key="run_id", pages="runs")
class Run(relay.Node):
    @field("The revisions that it used.", size=USUAL_FILES, cost=5, reads=["used"])
    @staticmethod
    async def used(run: strawberry.Parent[model.Run], info: Info) -> list[model.FileRevision]:
        return await revisions_of(info, run.used)

    @field("The revisions that it generated.", size=USUAL_FILES, cost=5, reads=["generated"])
    @staticmethod
    async def generated(run: strawberry.Parent[model.Run], info: Info) -> list[model.FileRevision]:
        return await revisions_of(info, run.generated)


class UsersOfRevision:
    @connection_field("The runs that used it, in order of their own ids.", USES, cost=5, reads=[])
    @staticmethod
    async def used_by(revision: strawberry.Parent[model.FileRevision], info: Info, page: PageRequest) -> Page[UsingRun]:
        return await info.context.service(Edges).runs_that_used(revision.version, page)


class RunQueries:
    @field("The run with this id; null if it is not recorded.", scope=FILES_READ)
    async def run(
        self,
        info: Info,
        run_id: Annotated[strawberry.ID, "Its global id, or its own id, a UUID."],
    ) -> model.Run | None:
        return await info.context.loader(load_runs, None).load(relay.key_of(Run, run_id, "runId"))
