"""The script that fetches DynamoDB Local. `tests/acceptance/test_signals.py` ends it, and many tests use it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def fetched(folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    """Let the script fetch the emulator into an empty cache, with the programs of a path."""
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, "-m", "scripts.dynamodb_local", "--fetch"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_a_package_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nprintf forged > amplify-dynamodb-simulator-2.9.30.tgz\n")
    npm.chmod(0o755)

    refused = fetched(tmp_path, f"{tmp_path}:{os.environ['PATH']}")

    assert refused.returncode == 1
    assert refused.stderr.startswith("amplify-dynamodb-simulator-2.9.30.tgz is not the pinned one: its sha512 is ")
    assert list((tmp_path / "cache" / "npm").iterdir()) == []


def test_a_missing_npm_is_reported(tmp_path: Path) -> None:
    failed = fetched(tmp_path, str(tmp_path))

    assert (failed.returncode, failed.stderr) == (1, "`npm` is needed to fetch amplify-dynamodb-simulator\n")
