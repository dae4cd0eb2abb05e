"""The scan for secrets that CI runs finds one, and lets pass what says that it is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCAN = Path(__file__).parent.parent / "scripts" / "secret-scan"
KEY = "AKIA" + "Q3EGRHKOPQ7YTZ42"  # shaped like AWS's; put together here, so that it stands in no file


@pytest.mark.parametrize(
    ("line", "found"),
    [(f'key = "{KEY}"', True), (f'key = "{KEY}"  # pragma: allowlist secret', False), ('key = "of the house"', False)],
)
def test_a_secret_in_a_committed_file_is_found(tmp_path: Path, line: str, found: bool) -> None:
    (tmp_path / "settings.py").write_text(f"{line}\n")
    for command in (["git", "init", "-q"], ["git", "add", "settings.py"]):
        subprocess.run(command, cwd=tmp_path, check=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    scanned = subprocess.run(
        [SCAN], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )

    assert (scanned.returncode != 0, "AWS Access Key" in scanned.stdout) == (found, found)
