"""Lineage, runs and revisions in the formats of other programs."""

from typing import Any

import strawberry
from strawberry.scalars import JSON

from graph.api.context import Info
from graph.api.fields import field
from graph.core.times import utc_time
from graph.domains.data_files import model
from graph.domains.data_files.provenance import lineage as provenance
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.schema.loading import load_runs, revisions_of, run_of
from graph.domains.provenance_exports.open_lineage import run_events
from graph.domains.provenance_exports.prov_json import prov_json
from graph.domains.provenance_exports.stac_item import stac_item
from graph.store.records import Record
from graph.work.account import charge_rows

READING = 10  # points
MOST_EVENTS = 2  # of a run


def _whole(record: type[Record]) -> list[str]:
    return [each.attribute for each in record.stored().values()]


class LineageExports:
    @field(
        "The lineage as a document of W3C PROV: its revisions, its runs and all relations between them.",
        of=JSON,
        cost=50,
    )
    @staticmethod
    async def prov_json(lineage: strawberry.Parent[provenance.Lineage], info: Info) -> Any:
        run_ids = {edge.run_id: None for edge in lineage.edges}
        await charge_rows(read=len(run_ids))
        found = await info.context.loader(load_runs, None).load_many([*run_ids])
        return await prov_json([node.file for node in lineage.nodes], [run for run in found if run is not None])


class RunExports:
    @field(
        "The events of OpenLineage that describe the run: its start, and its end if it has ended.",
        of=list[JSON],
        cost=READING,
        size=MOST_EVENTS,
        reads=_whole(model.Run),
    )
    @staticmethod
    async def open_lineage(run: strawberry.Parent[model.Run], info: Info) -> Any:
        found = await revisions_of(info, [*run.used, *run.generated])
        return run_events(run, {revision.version: revision for revision in found})


class RevisionExports:
    @field(
        "The revision as an item of STAC 1.1, without a footprint.",
        of=JSON,
        cost=READING,
        reads=_whole(model.FileRevision),
        before="usedBy",
    )
    @staticmethod
    async def stac_item(revision: strawberry.Parent[model.FileRevision], info: Info) -> Any:
        run = await run_of(info, revision.generated_by)
        return stac_item(revision, run, await _period(revision, info))


async def _period(revision: model.FileRevision, info: Info) -> Any:
    """The first and the last packet time. They are known of the latest revision alone."""
    if revision.invalidated_at:
        return None
    parts = await info.context.service(DataFiles).parts([revision.name])
    names = ("first-packet-time", "last-packet-time")
    times = [utc_time(part[name]) for part in parts.get(revision.name, ()) for name in names if name in part]
    return (min(times), max(times)) if times else None
