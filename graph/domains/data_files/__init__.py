"""Data files: which file has the data of a day, from what it was made, and what to make again."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Contribution, Domain, Resources, Services, Task
from graph.domains.data_files.adopting import ADOPTIONS
from graph.domains.data_files.calibrations import Calibrations
from graph.domains.data_files.entities import ENTITIES
from graph.domains.data_files.provenance.abandoned import AbandonedRuns
from graph.domains.data_files.provenance.demo import prepare
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.schema.calibrations import CalibrationQueries
from graph.domains.data_files.schema.files import DataFile, DataFileQueries
from graph.domains.data_files.schema.lineage import LineageOfFile, ReprocessingQueries
from graph.domains.data_files.schema.revisions import DataFileRevision
from graph.domains.data_files.schema.runs import Run, RunQueries, UsersOfRevision
from graph.domains.data_files.schema.values import SCALARS
from graph.domains.data_files.schema.writing import DataFileMutations
from graph.domains.data_files.scopes import FILES_READ, FILES_WRITE


async def open_services(resources: Resources) -> Sequence[object]:
    """Open what reads and writes data files and runs."""
    database, clock = resources.database, resources.clock
    runs = Runs(database, clock)
    return (
        DataFiles(database),
        Calibrations(database),
        Registration(database, clock),
        runs,
        Edges(database),
        AbandonedRuns(database, runs, clock),
    )


async def end_abandoned_runs(services: Services) -> None:
    """End the runs of ingests whose process was killed."""
    await services.of(AbandonedRuns).end_forever()


DOMAIN = Domain(
    name="data_files",
    requires=("earthquakes",),  # whose demo has data files too
    entities=ENTITIES,
    scopes=(FILES_READ, FILES_WRITE),
    open=open_services,
    queries=(DataFileQueries, CalibrationQueries, RunQueries, ReprocessingQueries),
    mutations=(DataFileMutations,),
    nodes=(
        DataFile,
        DataFileRevision,
        Run,
    ),
    contributions=(
        Contribution(DataFile, LineageOfFile),
        Contribution(DataFileRevision, UsersOfRevision),
    ),
    scalars=SCALARS,
    adoptions=ADOPTIONS,
    tasks=(Task("ending abandoned runs", end_abandoned_runs),),
    examples=Path(__file__).parent / "examples",
    prepare=prepare,
)
