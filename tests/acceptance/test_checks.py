"""The tools of the checks: pre-commit accepts the hooks, and the scan finds a secret and lets pass what is none."""

import shutil
import subprocess
from pathlib import Path

from tests.test_checks import ROOT, run

KEY = "AKIA" + "Q3EGRHKOPQ7YTZ42"  # shaped like AWS's; put together here, so that it stands in no file


def scanned(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """What the scan says of a committed file."""
    (folder / "settings.py").write_text("\n".join(lines))
    for command in (["git", "init", "-q"], ["git", "add", "settings.py"]):
        subprocess.run(command, cwd=folder, check=True)
    return run(str(ROOT / "scripts" / "secret-scan"), folder=folder)


def test_pre_commit_accepts_the_hooks() -> None:
    assert run("pre-commit", "validate-config").returncode == 0


def test_a_secret_in_a_committed_file_is_found(tmp_path: Path) -> None:
    others = (f'key = "{KEY}"  # pragma: allowlist secret', 'key = "of the house"')
    found = scanned(tmp_path, f'key = "{KEY}"', *others)
    shutil.rmtree(tmp_path / ".git")
    passed = scanned(tmp_path, *others)

    assert found.returncode != 0
    assert "AWS Access Key" in found.stdout
    assert passed.returncode == 0, passed.stdout
