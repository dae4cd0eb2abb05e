"""A small domain: people report that they felt an earthquake. It has what the example domain does without.

It adds a field to `Event`, tells facts of its mutation to the request log, and says whether it is ready.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import strawberry

from graph.api.context import Context, Info
from graph.api.fields import field
from graph.core.errors import BadUserInput
from graph.domain import Contribution, Domain, Resources, Scope, Services
from graph.domains.earthquakes import model
from graph.domains.earthquakes.schema.events import Event

REPORTS_WRITE = Scope("reports:write")
MOST = 1


class Reports:
    """The reports of one process."""

    def __init__(self) -> None:
        self.event_ids: list[str] = []


@asynccontextmanager
async def open_services(resources: Resources) -> AsyncIterator[Sequence[object]]:
    yield (Reports(),)


@strawberry.type
class EventReports:
    @field("How many people felt it.")
    @staticmethod
    def reports(event: strawberry.Parent[model.Event], info: Info) -> int:
        return info.context.service(Reports).event_ids.count(event.event_id)


def _facts(context: Context, arguments: Mapping[str, Any], result: int | None) -> Mapping[str, Any]:
    return {"event_id": arguments["event_id"], "result_count": result}


@strawberry.type
class ReportMutations:
    @field("Report that an earthquake was felt.", scope=REPORTS_WRITE, facts=_facts)
    async def file_report(self, info: Info, event_id: Annotated[str, "Which."]) -> int:
        reports = info.context.service(Reports).event_ids
        if len(reports) >= MOST:
            raise BadUserInput("No more reports are taken.")
        reports.append(event_id)
        return len(reports)


async def readiness(services: Services) -> Mapping[str, Any]:
    return {"reports": {"filed": len(services.of(Reports).event_ids)}}


REPORTS = Domain(
    name="reports",
    requires=("earthquakes",),
    scopes=(REPORTS_WRITE,),
    open=open_services,
    mutations=(ReportMutations,),
    contributions=(Contribution(Event, EventReports),),
    readiness=readiness,
)
