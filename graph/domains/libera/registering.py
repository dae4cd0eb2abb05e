"""Registers what was collected: the data files, then the runs of the manifests.

sources → read in a thread → files whose content is new → registered
manifests whose files are registered → the versions of their inputs → runs
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

from graph.core.clock import Clock
from graph.core.days import datetime_of
from graph.core.errors import BadUserInput
from graph.domains.data_files.model import DataFile, FileRevision
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.libera.collecting import CollectedFiles, DataSource, PathRejection
from graph.domains.libera.described import listed_file
from graph.domains.libera.file_contents import MD5, FileProblem, read_source
from graph.domains.libera.manifests import Manifest, ManifestFile
from graph.store.ordering import PageRequest

REGISTERED_AT_ONCE = 200  # files
MD5_DIGITS = 32
MOST_REVISIONS = 100  # of a file, the latest ones, that are compared


@dataclass(slots=True)
class FilesReport:
    """What became of the paths."""

    registered: int = 0  # new files, and new revisions of known ones
    skipped: int = 0  # files whose content is registered under their name
    ignored: int = 0
    ignored_paths: list[PathRejection] = field(default_factory=list)  # the first ones
    rejected: int = 0
    runs: int = 0  # recorded now or before
    rejections: list[PathRejection] = field(default_factory=list)

    def reject(self, rejections: Iterable[PathRejection]) -> None:
        """Add paths that are not registered."""
        self.rejections += rejections
        self.rejected = len(self.rejections)


class FileRegistering:
    """Registers files of Libera in a store."""

    def __init__(self, files: DataFiles, registration: Registration, runs: Runs, clock: Clock) -> None:
        self._files = files
        self._registration = registration
        self._runs = runs
        self._clock = clock

    async def register(self, collected: CollectedFiles, advance: Callable[[int], None]) -> FilesReport:
        """Register everything. A file that cannot be registered keeps no other from it, except the run that made it."""
        report = FilesReport(ignored=collected.ignored, ignored_paths=collected.ignored_paths)
        report.reject(collected.rejections)
        listed = {file.name for manifest in collected.manifests for file in manifest.files}
        made: dict[str, NewFile] = {}  # the registered files that manifests list
        sources = list(collected.sources.values())
        for first in range(0, len(sources), REGISTERED_AT_ONCE):
            for file in await self._register(sources[first : first + REGISTERED_AT_ONCE], report):
                if file.name in listed:
                    made[file.name] = file
            advance(min(first + REGISTERED_AT_ONCE, len(sources)))
        for manifest in collected.manifests:
            await self._record(manifest, made, report)
        return report

    async def _register(self, sources: Iterable[DataSource], report: FilesReport) -> list[NewFile]:
        """Register some files. Returns those that are registered, with the checksums by which they are."""
        done, new, shown = [], [], []
        for source in sources:
            try:
                read = await asyncio.to_thread(read_source, source)
            except FileProblem as problem:
                report.reject([PathRejection(source.shown, str(problem))])
                continue
            file = replace(read, ingest_time=datetime_of(self._clock() // 1000 * 1000))
            if known := await _version_with(self._files, file):
                report.skipped += 1
                done.append(replace(file, checksum=known.checksum))
            else:
                new.append(file)
                shown.append(source.shown)
        registered = await self._registration.register(new)
        report.registered += registered.registered
        report.skipped += registered.skipped
        report.reject(PathRejection(shown[each.index], each.message) for each in registered.rejections)
        rejected = {each.index for each in registered.rejections}
        return [*done, *(file for index, file in enumerate(new) if index not in rejected)]

    async def _record(self, manifest: Manifest, made: dict[str, NewFile], report: FilesReport) -> None:
        """Record the run of a manifest, if it tells its inputs and all of its files are registered."""
        if manifest.inputs is None or not manifest.files:
            return
        if missing := [file.name for file in manifest.files if file.name not in made]:
            message = f"The run is not recorded: {len(missing):,} of its files are rejected, such as {missing[0]!r}."
            report.reject([PathRejection(manifest.name.text, message)])
            return
        used = [await self._used(file, report) for file in manifest.inputs]
        try:
            await self._runs.record(_run_of(manifest, used, [made[file.name] for file in manifest.files]))
        except BadUserInput as error:
            report.reject([PathRejection(manifest.name.text, f"The run is not recorded: {error}")])
        else:
            report.runs += 1

    async def _used(self, listed: ManifestFile, report: FilesReport) -> UsedFile:
        """The version of an input that the run used: the one with its content, however many are newer.

        Content that differs from all of the registered ones is a new version.
        """
        file = listed_file(listed)
        if known := await _version_with(self._files, file):
            return UsedFile(file.name, known.number)
        latest = (await self._files.by_name([file.name])).get(file.name)
        if latest is not None and _has_md5(latest):
            report.registered += (await self._registration.register([file])).registered
        return UsedFile(file.name, may_be_unknown=True)


async def _version_with(files: DataFiles, file: NewFile) -> FileRevision | None:
    """The latest version with the content of a file, by SHA-256 or MD5; None if there is none."""
    wanted = _digests(file.checksum, file.metadata.get(MD5))
    page = await files.revisions(file.name, PageRequest.of_first(MOST_REVISIONS))
    return next((each for each in page.records if wanted & _of_revision(each)), None)


def _has_md5(file: DataFile) -> bool:
    """Whether its MD5 is known, so that it can be compared with what a manifest lists."""
    return MD5 in (file.metadata or {}) or len(file.checksum or "") == MD5_DIGITS


def _of_revision(revision: FileRevision) -> Set[str]:
    return _digests(revision.checksum, (revision.metadata or {}).get(MD5))


def _digests(*digests: str | None) -> Set[str]:
    return {each for each in digests if each}


def _run_of(manifest: Manifest, used: Sequence[UsedFile], generated: Sequence[NewFile]) -> RunReport:
    """The run of a manifest.

    Its algorithm is named by what it makes, `AZROT-CK+ELSCAN-CK`, since a manifest does not name it. Its version is
    that of its files, if they have the same one. A manifest has no times of the run.
    """
    versions = {file.algorithm_version for file in generated}
    return RunReport(
        run_id=str(manifest.name.run_id),
        algorithm="+".join(sorted({file.product for file in generated if file.product})),
        version=versions.pop() if len(versions) == 1 else None,
        configuration_hash=manifest.configuration_hash,
        facets={"manifest": manifest.name.text},
        used=used,
        generated=generated,
    )
