"""Installs what a `package-lock.json` pins by hashes, with `npm ci`, once into the cache; or the newest versions.

No script of a package is run. A changed lock makes another folder, and leaves the earlier one.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from scripts.npm_package import Unavailable, cache

OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")


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
            _npm(project, "ci")
            # A rename is atomic, so another process never sees an incomplete folder.
            with suppress(OSError):
                project.rename(kept)
    if not kept.is_dir():
        raise Unavailable(f"{kept} could not be written")
    return kept / "node_modules"


def newest(folder: Path, target: Path, *others: str) -> Path:
    """Install the newest version of each package that the `package.json` in this folder names, and of some others.

    Returns the `node_modules` in the target, which is made.
    """
    named = json.loads((folder / "package.json").read_bytes())["dependencies"]
    target.mkdir()
    (target / "package.json").write_text(json.dumps({"dependencies": dict.fromkeys([*named, *others], "*")}))
    _npm(target, "install")
    return target / "node_modules"


def _npm(project: Path, command: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("`npm` is needed to install packages")
    done = subprocess.run([npm, command, *OPTIONS], cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"`npm {command}` failed: {done.stderr.strip()}")
