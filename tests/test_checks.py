"""The checks of a change are listed once, in scripts/check; CI and the hooks before a commit run that."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CHECK = (ROOT / "scripts" / "check").read_text()
STEPS = CHECK.split("\nall=(")[1].split(")")[0].split()
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text()
TOOLS = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def run(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=TOOLS, capture_output=True, text=True, check=False)


def test_a_hook_is_a_step_of_the_check_and_comes_from_no_other_host() -> None:
    assert re.findall(r"id: (\w+),.*entry: scripts/check (\w+),", HOOKS) == [
        (step, step)
        for step in STEPS
        if step not in ("audit", "dependencies", "tests", "acceptance", "thorough")  # too slow before a commit
    ]
    assert re.findall(r"repo: (.*)", HOOKS) == ["local"]


def test_the_comment_of_the_check_lists_its_steps() -> None:
    assert f"\n#   {' '.join(STEPS)}\n" in CHECK


def test_a_step_that_does_not_exist_is_refused() -> None:
    refused = run("scripts/check", "lnt")

    assert refused.returncode == 2
    assert "There is no step lnt." in refused.stderr


def test_a_step_that_fails_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "check", tmp_path / "scripts")
    (tmp_path / "schema.graphql").write_text("type Query { stale: Int }\n")

    failed = run("scripts/check", "schema", folder=tmp_path)

    assert failed.returncode != 0
    assert "stale" in failed.stdout


def test_ci_runs_the_check() -> None:
    assert "\nSKIP=tests,thorough scripts/check" in (ROOT / ".ci" / "run").read_text()
