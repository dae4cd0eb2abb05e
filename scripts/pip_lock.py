"""Installs what a lock file pins by hashes, once into the cache and not into this environment; or the newest versions.

This is for a program whose bounds exclude those of the environment. With the folder as `PYTHONPATH`, Python finds
its packages first.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

INSTALL = (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--only-binary", ":all:")


def installed(lock: Path) -> Path:
    """Install what the lock file pins, if the cache does not have it. Returns the folder."""
    cached = os.environ.get("XDG_CACHE_HOME") or Path(__file__).resolve().parent.parent / ".cache"
    kept = Path(cached) / "pip" / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            packages = Path(scratch, "packages")
            subprocess.run([*INSTALL, "--require-hashes", "--target", packages, "-r", lock], check=True)
            # A rename is atomic, so another process never sees an incomplete folder.
            with suppress(OSError):
                packages.rename(kept)
    return kept


def newest(target: Path, *names: str) -> Path:
    """Install the newest version of each package, whatever this environment has, into a folder. Returns it."""
    subprocess.run([*INSTALL, "--upgrade", "--target", target, *names], check=True)
    return target
