"""Installs Node's packages into the cache, once, with `npm ci` and the hashes of the lock file."""

import hashlib
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cache import CACHE

SOURCES = Path(__file__).resolve().parent / "peers" / "node"
LEAST_NODE = 22  # required by better-sqlite3


class Unavailable(Exception):
    """Node or its packages are not available; the message says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A folder with the scripts and their packages, and the Node that runs them."""

    folder: Path
    program: str

    def command(self, script: str) -> list[str]:
        """The command that runs one of the scripts."""
        return [self.program, str(self.folder / script)]

    def release(self) -> str:
        """The version of Node."""
        return _release(self.program)

    def version(self, package: str) -> str:
        """The version of an installed package."""
        manifest = json.loads((self.folder / "node_modules" / package / "package.json").read_bytes())
        return str(manifest["version"])


def installed() -> Node:
    """Install the packages if the cache does not have them.

    Raises:
        Unavailable: npm is missing or fails, or there is no Node that is new enough.
    """
    lock = (SOURCES / "package-lock.json").read_bytes()
    folder = CACHE / f"node-{hashlib.sha256(lock).hexdigest()[:12]}"
    if not folder.is_dir():
        _install(folder)
    for script in SOURCES.glob("*.mjs"):  # beside the packages, so that Node finds their imports
        shutil.copy(script, folder)
    return Node(folder, _program(folder))


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is missing")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        scratch = Path(name) / "node"
        scratch.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(SOURCES / file, scratch)
        # None of these packages needs its install scripts, and a script that does not run cannot do harm.
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"`npm ci` failed: {done.stderr.strip()}")
        scratch.rename(folder)


def _program(folder: Path) -> str:
    """The Node of the lock file, so that results of machines can be compared; without one for this machine, its own."""
    if pinned := next(folder.glob("node_modules/node-linux-*/bin/node"), None):
        return str(pinned)
    found = shutil.which("node")
    if found is None or int(_release(found).split(".")[0]) < LEAST_NODE:
        raise Unavailable(f"there is no Node {LEAST_NODE} or later")
    return found


def _release(program: str) -> str:
    said = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.strip().removeprefix("v")
