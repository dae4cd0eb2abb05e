"""Finds the revision of a file that is a version of a dataset in OpenLineage."""

from collections.abc import Iterable, Mapping

from graph.domains.data_files.claims import settle
from graph.domains.data_files.datasets import number_of
from graph.domains.data_files.entities import FILE_REVISION
from graph.domains.data_files.references import Version
from graph.store.conditions import AnyOf, Compare
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query

DatasetVersion = tuple[str, str]
"""The name of a file, and a version of its dataset."""


async def revisions_with(
    database: Database, files: Mapping[str, Item], versions: Iterable[DatasetVersion]
) -> dict[DatasetVersion, Item]:
    """The registered revisions with these versions, as `datasets.dataset_version` tells them.

    Args:
        files: the files as they are, by name.
    """
    found = {}
    for name, version in set(versions):
        if item := await _latest_with(database, files[name], version):
            found[name, version] = item
    await settle(database, _by_reference(found.values()))
    return found


async def _latest_with(database: Database, file: Item, version: str) -> Item | None:
    name = file["file-name"]
    if file.get("dataset-version") == version:
        return await database.get(FILE_REVISION.key_for(name, file["revision"]))
    named = AnyOf((Compare("dataset-version", "=", version), Compare("generated-by", "=", version)))
    page = await database.query(Query(entity=FILE_REVISION, partitions=[(name,)], where=named, forward=False))
    await settle(database, _by_reference(page.items))
    for item in page.items:
        if version in (item.get("dataset-version"), item.get("generated-by")):
            return item
    numbered = Version.of(f"{name}@{number_of(version)}")
    by_number = await database.get(FILE_REVISION.key_for(*numbered)) if numbered else None
    return by_number if by_number and "dataset-version" not in by_number else None


def _by_reference(revisions: Iterable[Item]) -> dict[str, Item]:
    return {Version.of_item(item).reference: item for item in revisions}
