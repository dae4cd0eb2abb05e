"""Installs the packages that a `package-lock.json` pins by their hashes, with `npm ci`, once into the cache.

No script of a package is run. A changed lock makes another folder, and leaves the earlier one.
"""

import hashlib
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from scripts.npm_package import Unavailable, cache

INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")


def installed(folder: Path) -> Path:
    """Install what the lock in this folder pins, if the cache does not have it. Returns the `node_modules`."""
    lock = (folder / "package-lock.json").read_bytes()
    kept = cache() / f"lock-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            project = Path(scratch, "project")
            project.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copy(folder / name, project)
            _install(project)
            # A rename is atomic, so another process never sees an incomplete folder.
            with suppress(OSError):
                project.rename(kept)
    if not kept.is_dir():
        raise Unavailable(f"{kept} could not be written")
    return kept / "node_modules"


def _install(project: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("`npm` is needed to install packages")
    done = subprocess.run([npm, *INSTALL], cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"`npm ci` failed: {done.stderr.strip()}")
