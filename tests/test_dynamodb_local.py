"""The script that fetches and runs DynamoDB Local."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.children import Child
from tests.processes import TIMEOUT_S

ROOT = Path(__file__).parent.parent
SCRIPT = ("-m", "scripts.dynamodb_local")


def test_a_package_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nprintf forged > amplify-dynamodb-simulator-2.9.30.tgz\n")
    npm.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache")}

    fetched = subprocess.run(
        [sys.executable, *SCRIPT, "--fetch"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert fetched.returncode == 1
    assert fetched.stderr.startswith("amplify-dynamodb-simulator-2.9.30.tgz is not the pinned one: its sha512 is ")
    assert list((tmp_path / "cache" / "npm").iterdir()) == []


def test_a_missing_npm_is_reported(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    fetched = subprocess.run(
        [sys.executable, *SCRIPT, "--fetch"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert (fetched.returncode, fetched.stderr) == (1, "`npm` is needed to fetch amplify-dynamodb-simulator\n")


@pytest.mark.needs("java", "npm")
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_dynamodb_local_runs_until_sigterm(told: signal.Signals) -> None:
    with Child([sys.executable, *SCRIPT], cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip().removeprefix("AWS_ENDPOINT_URL=")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url, timeout=TIMEOUT_S)
        refused.value.close()

        running.send_signal(told)

        assert running.wait(TIMEOUT_S) == 0

    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=TIMEOUT_S)
