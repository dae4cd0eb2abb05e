"""A small domain: people report that they felt an earthquake. It adds a field to `Event`, and keeps nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import click
import strawberry
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from strawberry.types import Info

from graph.api.context import Context
from graph.api.recording import recorded
from graph.api.scopes import RequiresScope
from graph.command_line import CommandLine, store_option
from graph.core.errors import BadUserInput
from graph.domain import Contribution, Domain, Resources, Scope, Services, SettingsPart, Task
from graph.domains.earthquakes import model
from graph.domains.earthquakes.schema.events import Event
from graph.transport.routes import route

REPORTS_WRITE = Scope("reports:write")


class ReportSettings(SettingsPart):
    most_reports: int = Field(3, ge=1, description="Reports that are taken.")


class Reports:
    """The reports of one process."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.event_ids: list[str] = []
        self.is_watched = asyncio.Event()

    def file(self, event_id: str) -> int:
        """Take a report; how many there are."""
        if len(self.event_ids) >= self.most:
            raise BadUserInput(f"There are {self.most} reports, which is as many as are taken.")
        self.event_ids.append(event_id)
        return len(self.event_ids)


@asynccontextmanager
async def open_services(resources: Resources) -> AsyncIterator[Sequence[object]]:
    reports = Reports(resources.settings.part(ReportSettings).most_reports)
    filed = resources.metrics.counter("reports", "Reports that were filed.")
    resources.metrics.total(filed, lambda: len(reports.event_ids))
    yield (reports,)


@strawberry.type
class EventReports:
    @strawberry.field(description="How many people felt it.")
    @staticmethod
    def reports(event: strawberry.Parent[model.Event], info: Info[Context, None]) -> int:
        return info.context.service(Reports).event_ids.count(event.event_id)


@strawberry.type
class ReportQueries:
    @strawberry.field(description="How many reports there are.")
    def report_count(self, info: Info[Context, None]) -> int:
        return len(info.context.service(Reports).event_ids)


def _facts(context: Context, arguments: Mapping[str, Any], result: int | None) -> Mapping[str, Any]:
    return {"event_id": arguments["event_id"], "result_count": result}


@strawberry.type
class ReportMutations:
    @strawberry.mutation(
        description="Report that an earthquake was felt.",
        directives=[RequiresScope(scope=REPORTS_WRITE)],
        metadata=recorded(facts=_facts),
    )
    async def file_report(
        self, info: Info[Context, None], event_id: Annotated[str, strawberry.argument(description="Which.")]
    ) -> int:
        return info.context.service(Reports).file(event_id)


@strawberry.type
class ReportSubscriptions:
    @strawberry.subscription(description="The numbers up to that of the reports.")
    async def reports_counted(self, info: Info[Context, None]) -> AsyncGenerator[int, None]:
        for number in range(len(info.context.service(Reports).event_ids)):
            yield number + 1


async def export(request: Request, services: Services) -> Response:
    return JSONResponse(services.of(Reports).event_ids)


async def watch(services: Services) -> None:
    services.of(Reports).is_watched.set()


async def readiness(services: Services) -> Mapping[str, Any]:
    return {"reports": {"watched": services.of(Reports).is_watched.is_set()}}


@click.command("count-reports")
@store_option
@click.pass_obj
def count_reports(line: CommandLine, store: str | None) -> None:
    """Tell how many reports are taken."""

    async def most(services: Services) -> int:
        return services.of(Reports).most

    click.echo(line.run(line.settings(store=store), most))


REPORTS = Domain(
    name="reports",
    requires=("earthquakes",),
    scopes=(REPORTS_WRITE,),
    settings=ReportSettings,
    open=open_services,
    queries=(ReportQueries,),
    mutations=(ReportMutations,),
    subscriptions=(ReportSubscriptions,),
    contributions=(Contribution(Event, EventReports),),
    routes=lambda settings: [route("/reports", export, scope=REPORTS_WRITE)],
    tasks=(Task("watching reports", watch),),
    commands=(count_reports,),
    examples=Path(__file__).parent / "examples",
    readiness=readiness,
)
