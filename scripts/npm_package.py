"""Fetches npm packages with `npm pack` and a pinned hash, and unpacks each once into the cache."""

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


class Unavailable(RuntimeError):
    """The package cannot be fetched; the message says why."""


def cache() -> Path:
    """The folder of what npm has fetched."""
    cached = os.environ.get("XDG_CACHE_HOME") or Path(__file__).resolve().parent.parent / ".cache"
    return Path(cached) / "npm"


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """One version of a package, with the hash of its tarball."""

    name: str
    version: str
    sha512: str  # base64
    needed: str = "package"  # the folder of the tarball that is unpacked

    @property
    def folder(self) -> Path:
        """Its folder in the cache."""
        return cache() / f"{self.name}-{self.version}"

    def fetched(self) -> Path:
        """Fetch the package if the cache does not have it. Returns its folder."""
        if self.folder.is_dir():
            return self.folder
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder.parent) as scratch:
            unpacked = self._unpack(self._pack(Path(scratch)), Path(scratch))
            # A rename is atomic, so another process never sees an incomplete folder.
            with suppress(OSError):
                unpacked.rename(self.folder)
        if not self.folder.is_dir():
            raise Unavailable(f"{self.folder} could not be written")
        return self.folder

    def _pack(self, scratch: Path) -> Path:
        npm = shutil.which("npm")
        if npm is None:
            raise Unavailable(f"`npm` is needed to fetch {self.name}")
        command = [npm, "pack", "--silent", f"{self.name}@{self.version}"]
        packed = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if packed.returncode:
            raise Unavailable(f"`npm pack {self.name}@{self.version}` failed: {packed.stderr.strip()}")
        named = self.name.removeprefix("@").replace("/", "-")  # `@scope/name` as `scope-name`
        tarball = scratch / f"{named}-{self.version}.tgz"
        found = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
        if found != self.sha512:
            raise Unavailable(f"{tarball.name} is not the pinned one: its sha512 is {found}")
        return tarball

    def _unpack(self, tarball: Path, scratch: Path) -> Path:
        with tarfile.open(tarball) as archive:
            wanted = [member for member in archive if member.name.startswith(f"{self.needed}/")]
            archive.extractall(scratch, wanted, filter="data")
        return scratch / self.needed
