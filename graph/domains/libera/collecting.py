"""Collects the data files to register from paths: files, folders and output manifests. Nothing large is read yet.

Links are followed where they are given as a path, and not within folders. Within folders, what is no data file of
Libera is ignored; given as a path, it is rejected.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph.core.names import is_line
from graph.domains.libera.manifests import LARGEST_MANIFEST, BrokenManifest, Manifest, ManifestFile, read_manifest
from graph.domains.libera.names import Level0Name, ManifestKind, ManifestName, ProductName, UnknownName, parse_name

MOST_IGNORED_NAMED = 1000


@dataclass(frozen=True, slots=True)
class PathRejection:
    """A path that is not registered, and why."""

    path: str
    message: str


@dataclass(slots=True)
class DataSource:
    """A data file to register: where it is, and what a manifest tells of it."""

    name: ProductName | Level0Name
    path: Path | None = None  # None for a file that is only listed
    md5: str | None = None  # of the manifest
    manifest: Path | None = None  # that lists it
    record: Path | None = None  # of a Level 0 file: its construction record, given or beside it

    @property
    def shown(self) -> str:
        """The path or the name, for people."""
        return shown(self.path or self.name.text)


@dataclass(slots=True)
class CollectedFiles:
    """What is to be registered."""

    sources: dict[str, DataSource] = field(default_factory=dict)  # by the name of the file
    manifests: list[Manifest] = field(default_factory=list)  # of outputs
    rejections: list[PathRejection] = field(default_factory=list)
    ignored: int = 0  # files in folders, and what holds no data
    ignored_paths: list[PathRejection] = field(default_factory=list)  # the first ones

    def reject(self, path: Path | str, message: str) -> None:
        """Add a path that is not registered."""
        self.rejections.append(PathRejection(shown(path), message))

    def ignore(self, path: Path | str, why: str) -> None:
        """Count a path that is left alone. That is no failure: folders have other files, too."""
        self.ignored += 1
        if len(self.ignored_paths) < MOST_IGNORED_NAMED:
            self.ignored_paths.append(PathRejection(shown(path), f"Ignored: {why}"))


def shown(path: Path | str) -> str:
    """A path for people, without control characters."""
    text = str(path)
    return text if is_line(text) else ascii(text)


def collect(paths: Sequence[str]) -> CollectedFiles:
    """Look at what is there. What is wrong becomes a rejection."""
    collected = CollectedFiles()
    manifests: list[tuple[Path, ManifestName]] = []
    for path, is_given in _files(paths, collected):
        try:
            name = parse_name(path.name)
        except UnknownName as error:
            if is_given:
                collected.reject(path, str(error))
            else:
                collected.ignore(path, str(error))
            continue
        if isinstance(name, ManifestName):
            manifests.append((path, name))
        else:
            _add(collected, path, name)
    for path, manifest_name in manifests:
        if manifest_name.kind is ManifestKind.INPUT:
            collected.ignore(path, "The output manifest has the same files, and what was made of them.")
        else:
            _add_manifest(collected, path, manifest_name)
    for source in collected.sources.values():
        if isinstance(source.name, Level0Name):
            source.record = _record_of(source, source.name.construction_record, collected)
    return collected


def _record_of(source: DataSource, record: str, collected: CollectedFiles) -> Path | None:
    given = collected.sources.get(record)
    beside = source.path.with_name(record) if source.path else None
    return given.path if given else beside if beside and beside.is_file() else None


def _files(paths: Sequence[str], collected: CollectedFiles) -> Iterator[tuple[Path, bool]]:
    """The regular files, each with whether it was given as a path."""
    for text in paths:
        path = Path(text)
        try:
            mode = path.stat().st_mode
        except OSError as error:
            collected.reject(path, f"It cannot be read: {_reason(error)}.")
            continue
        except ValueError:  # each version of Python says this in other words
            collected.reject(path, "It cannot be read: no file can have this path.")
            continue
        if stat.S_ISDIR(mode):
            yield from ((each, False) for each in _within(path, collected))
        elif stat.S_ISREG(mode):
            yield path, True
        else:
            collected.reject(path, "It is neither a file nor a folder.")


def _within(folder: Path, collected: CollectedFiles) -> Iterator[Path]:
    """The regular files in a folder and below, in order of their names."""

    def reject(error: OSError) -> None:
        collected.reject(error.filename, f"It cannot be read: {_reason(error)}.")

    for place, folders, names in os.walk(folder, onerror=reject):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path
            else:
                collected.ignore(path, "It is no regular file.")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _add(collected: CollectedFiles, path: Path, name: ProductName | Level0Name) -> None:
    if not name.holds_data:
        collected.ignore(path, "It only announces files, and holds no data.")
        return
    source = collected.sources.setdefault(name.text, DataSource(name, path))
    if source.path != path:
        collected.reject(path, f"A file with the same name is given, too: {source.shown}.")


def _add_manifest(collected: CollectedFiles, path: Path, name: ManifestName) -> None:
    """Add the files of an output manifest, and the manifest if they are possible."""
    try:
        with path.open("rb") as file:
            manifest = read_manifest(name, file.read(LARGEST_MANIFEST + 1))
        listed = [(each, _known(each, collected)) for each in manifest.files]
    except BrokenManifest as error:
        collected.reject(path, str(error))
    except OSError as error:
        collected.reject(path, f"It cannot be read: {_reason(error)}.")
    else:
        for each, source in listed:
            source.md5, source.manifest = each.md5, path
            source.path = source.path or _place(each, path.parent)
            collected.sources[source.name.text] = source
        collected.manifests.append(manifest)


def _known(listed: ManifestFile, collected: CollectedFiles) -> DataSource:
    """The source of a file that a manifest lists; BrokenManifest if it cannot be one."""
    try:
        name = parse_name(listed.name)
    except UnknownName as error:
        raise BrokenManifest(f"It lists a file with an impossible name: {error}") from error
    if isinstance(name, ManifestName):
        raise BrokenManifest(f"It lists a manifest, {listed.name!r}.")
    source = collected.sources.get(listed.name, DataSource(name))
    if source.md5 not in (None, listed.md5):
        raise BrokenManifest(f"It lists {listed.name!r} with another checksum than a manifest before.")
    return source


def _place(listed: ManifestFile, folder: Path) -> Path | None:
    """Where a listed file is: at its path, or beside the manifest; None if it is elsewhere."""
    places = [folder / listed.name]
    if "://" not in listed.path:
        places.insert(0, folder / listed.path)
    return next((place for place in places if place.is_file()), None)
