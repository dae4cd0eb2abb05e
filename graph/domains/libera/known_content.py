"""Finds the version of a file that has a content. So a manifest binds its run to what was used, not to the latest."""

from collections.abc import Set

from graph.domains.data_files.model import DataFile, FileRevision
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.reading import DataFiles
from graph.domains.libera.file_contents import MD5
from graph.store.ordering import PageRequest

MD5_DIGITS = 32
MOST_REVISIONS = 100  # of a file, the latest ones, that are compared


async def version_with(files: DataFiles, file: NewFile) -> FileRevision | None:
    """The latest version with the content of a file, by SHA-256 or MD5; None if there is none."""
    wanted = _digests(file.checksum, file.metadata.get(MD5))
    page = await files.revisions(file.name, PageRequest.of_first(MOST_REVISIONS))
    return next((each for each in page.records if wanted & _of(each)), None)


def has_md5(file: DataFile) -> bool:
    """Whether its MD5 is known, so that it can be compared with what a manifest lists."""
    return MD5 in (file.metadata or {}) or len(file.checksum or "") == MD5_DIGITS


def _of(revision: FileRevision) -> Set[str]:
    return _digests(revision.checksum, (revision.metadata or {}).get(MD5))


def _digests(*digests: str | None) -> Set[str]:
    return {each for each in digests if each}
