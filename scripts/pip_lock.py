"""Installs the packages that a lock file pins by their hashes, once into the cache and not into this environment.

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

INSTALL = ("pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:")


def installed(lock: Path) -> Path:
    """Install what the lock file pins, if the cache does not have it. Returns the folder."""
    cached = os.environ.get("XDG_CACHE_HOME") or Path(__file__).resolve().parent.parent / ".cache"
    kept = Path(cached) / "pip" / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            packages = Path(scratch, "packages")
            command = [sys.executable, "-m", "uv", *INSTALL, "--target", str(packages), "-r", str(lock)]
            subprocess.run(command, check=True)
            # A rename is atomic, so another process never sees an incomplete folder.
            with suppress(OSError):
                packages.rename(kept)
    return kept
