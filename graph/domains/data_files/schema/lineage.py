"""Lineage, as a field of data files, and the plan of what to make again."""

from collections.abc import Sequence
from typing import Annotated

import strawberry

from graph.api.context import Info
from graph.api.fields import field, shows
from graph.api.record_type import record_type, value_type
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.domains.data_files import model
from graph.domains.data_files.errors import UnknownVersion
from graph.domains.data_files.provenance import lineage as provenance
from graph.domains.data_files.provenance import reprocessing
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.lineage import FURTHEST, MOST_NODES, Direction, ProvenanceRelation
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.schema.loading import revisions_of, run_of
from graph.domains.data_files.scopes import FILES_READ
from graph.work.account import charge_rows

USUAL_NODES = 200
USUAL_GROUP = 10  # for the price; what is read is charged besides


@record_type(Version, "A revision of a file, by its name and number.")
class DataFileVersion:
    name: str = shows("The name of the file.")
    revision: int = shows("The number of the revision.")


@record_type(provenance.LineageNode)
class LineageNode:
    @field("The run that generated it; null if none is known.", cost=2)
    @staticmethod
    async def run(node: strawberry.Parent[provenance.LineageNode], info: Info) -> model.Run | None:
        return await run_of(info, node.file.generated_by)


@record_type(provenance.LineageLink, "An edge between a run and a revision.")
class LineageEdge:
    relation: ProvenanceRelation = shows("What the run did.")
    run_id: strawberry.ID = shows("The run's own id.")
    version: DataFileVersion = shows("The revision.", name="file")


@strawberry.type(description="What was left out of a lineage.")
class LineageTruncation:
    omitted_nodes: int = strawberry.field(
        description="Revisions that are known and left out. There may be more behind them."
    )
    frontier: list[DataFileVersion] = strawberry.field(
        description="The revisions whose own edges were not all followed. Ask for their lineage to go on.",
        directives=[ListSize(assumed_size=USUAL_GROUP)],
    )


@record_type(provenance.Lineage)
class Lineage:
    is_complete: bool = shows(
        "Whether nothing was left out within `depth`, and the runs that made files of derived levels "
        "(L1A, L1B, L2) are known.",
        name="complete",
    )

    # Long lists have coroutines, so that the executor completes them in pieces.

    @field("The revisions, the nearest first.")
    @staticmethod
    async def nodes(lineage: strawberry.Parent[provenance.Lineage]) -> list[provenance.LineageNode]:
        return lineage.nodes

    @field("What runs used and generated of them.")
    @staticmethod
    async def edges(lineage: strawberry.Parent[provenance.Lineage]) -> list[provenance.LineageLink]:
        await charge_rows(read=len(lineage.edges))  # a run may have a thousand of them for each node
        return lineage.edges

    @field("What was left out; null for nothing.")
    @staticmethod
    def truncated(lineage: strawberry.Parent[provenance.Lineage]) -> LineageTruncation | None:
        if not lineage.is_truncated:
            return None
        frontier = [version for each in dict.fromkeys(lineage.frontier) if (version := Version.of(each))]
        return LineageTruncation(
            omitted_nodes=lineage.omitted, frontier=[DataFileVersion(**each._asdict()) for each in frontier]
        )


class LineageOfFile:
    @field(
        "The lineage of a revision.",
        size=ListSize(slicing_arguments=["maxNodes"], sized_fields=["nodes", "edges"], assumed_size=USUAL_NODES),
        cost=10,
        reads=["revision"],
    )
    @staticmethod
    async def lineage(
        file: strawberry.Parent[model.DataFile],
        info: Info,
        direction: Annotated[Direction, "Which way."],
        depth: Annotated[int, f"Runs to follow, 1 to {FURTHEST}."] = 1,
        max_nodes: Annotated[int, f"The most revisions in each direction, 1 to {MOST_NODES:,}."] = USUAL_NODES,
        revision: Annotated[int | None, "The latest one by default."] = None,
    ) -> provenance.Lineage:
        for name, value, most in (("depth", depth, FURTHEST), ("maxNodes", max_nodes, MOST_NODES)):
            if not 1 <= value <= most:
                raise BadUserInput(f"`{name}` must lie between 1 and {most:,}.")
        version = Version(file.name, file.revision if revision is None else revision)
        if not await info.context.service(DataFiles).by_version([version], frozenset()):
            raise UnknownVersion(*version)
        return await provenance.lineage_of(info.context.service(Edges), version, direction, depth, max_nodes)


value_type(reprocessing.FileGroup, "ReprocessingGroup", files={"size": USUAL_GROUP})


@record_type(reprocessing.Stage)
class ReprocessingStage:
    @field("The files, by product and day.", size=USUAL_GROUP)
    @staticmethod
    async def groups(stage: strawberry.Parent[reprocessing.Stage]) -> Sequence[reprocessing.FileGroup]:
        return stage.groups


@record_type(reprocessing.ReprocessingPlan)
class ReprocessingPlan:
    files: int = shows("The number of files.")
    stages: list[ReprocessingStage] = shows(
        "The stages, each after the one before.", directives=[ListSize(assumed_size=USUAL_GROUP)]
    )

    @field("The revisions of the calibration's file that have the version.", size=1, cost=2)
    @staticmethod
    async def calibrations(
        plan: strawberry.Parent[reprocessing.ReprocessingPlan], info: Info
    ) -> list[model.FileRevision]:
        return await revisions_of(info, plan.of)


class ReprocessingQueries:
    @field(
        "All that was made from a version of a calibration, directly or not, in the order in which it can "
        "be made again.",
        scope=FILES_READ,
        cost=50,
    )
    async def affected_by(
        self,
        info: Info,
        calibration: Annotated[str, "The name of the calibration's file."],
        version: Annotated[str, "The version of the calibration, or of the file's algorithm."],
    ) -> reprocessing.ReprocessingPlan:
        versions = await info.context.service(DataFiles).with_version(calibration, version)
        if not versions:
            raise BadUserInput(f"No revision of {calibration!r} is registered with the version {version!r}.")
        return await reprocessing.plan_of(info.context.service(Edges), versions)
