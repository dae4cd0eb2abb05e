"""Loads files, revisions and runs: those that resolvers ask for at the same time by one reading."""

from collections.abc import Sequence
from typing import cast

from graph.api.context import Info, load_by
from graph.domains.data_files import model
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.work.account import charge_rows

load_files = load_by(DataFiles, DataFiles.by_name)
load_versions = load_by(DataFiles, DataFiles.by_version)
load_runs = load_by(Runs, Runs.by_id)


async def file_of(info: Info, name: str) -> model.DataFile:
    """The registered file of this name."""
    return cast("model.DataFile", await info.context.loader(load_files, None).load(name))


async def run_of(info: Info, run_id: str | None) -> model.Run | None:
    """The run with this id; None for none."""
    return None if run_id is None else await info.context.loader(load_runs, None).load(run_id)


async def revisions_of(info: Info, wanted: Sequence[Version]) -> list[model.FileRevision]:
    """The registered ones of these versions, of which a run may have thousands.

    Raises:
        QueryTooComplex: The operation in progress may not read so many.
    """
    await charge_rows(read=len(wanted))
    found = await info.context.loader(load_versions, None).load_many(wanted)
    return [revision for revision in found if revision is not None]
