"""Loads files, revisions and runs: those that resolvers ask for at the same time by one reading."""

from collections.abc import Mapping, Sequence

from strawberry.types import Info

from graph.api.context import Context
from graph.domains.data_files import model
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.work.account import charge_rows


async def files(context: Context, _: None, names: Sequence[str]) -> list[model.DataFile | None]:
    """The registered ones of these files, in the same order."""
    found = await context.service(DataFiles).by_name(names)
    return [found.get(name) for name in names]


async def versions(context: Context, _: None, wanted: Sequence[Version]) -> list[model.FileRevision | None]:
    """The registered ones of these versions, in the same order."""
    found = await context.service(DataFiles).by_version(wanted)
    return [found.get(version) for version in wanted]


async def runs(context: Context, _: None, run_ids: Sequence[str]) -> list[model.Run | None]:
    """The recorded ones of these runs, in the same order."""
    found = await context.service(Runs).by_id(run_ids)
    return [found.get(run_id) for run_id in run_ids]


async def files_by_name(
    context: Context, names: Sequence[str], attributes: frozenset[str] | None
) -> Mapping[str, model.DataFile]:
    """The registered ones of these files, by their names."""
    return await context.service(DataFiles).by_name(names, attributes)


async def revisions_by_reference(
    context: Context, references: Sequence[str], attributes: frozenset[str] | None
) -> Mapping[str, model.FileRevision]:
    """The registered ones of these revisions, by their references."""
    wanted = [version for each in references if (version := Version.of(each))]
    found = await context.service(DataFiles).by_version(wanted, attributes)
    return {version.reference: revision for version, revision in found.items()}


async def run_of(info: Info[Context, None], run_id: str | None) -> model.Run | None:
    """The run with this id; None for none."""
    return None if run_id is None else await info.context.loader(runs, None).load(run_id)


async def revisions_of(info: Info[Context, None], wanted: Sequence[Version]) -> list[model.FileRevision]:
    """The registered ones of these versions, of which a run may have thousands.

    Raises:
        QueryTooComplex: The operation in progress may not read so many.
    """
    await charge_rows(read=len(wanted))
    found = await info.context.loader(versions, None).load_many(wanted)
    return [revision for revision in found if revision is not None]
