"""Each process of a run collects the same tests, with ids that people can read and type."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
A_YEAR_LATER = "import time; now = time.time; time.time = lambda: now() + 366 * 86_400; import pytest; pytest.main()"


def test_another_process_at_another_time_and_place_collects_the_same(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The two differ in clock, hash seed, folder and time zone. What was not named is not collected here, either."""
    options = ["--collect-only", "-q", "-p", "no:randomly", f"--rootdir={ROOT}", f"--config-file={ROOT}/pyproject.toml"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own = [item.nodeid for item in request.session.items]
    others = subprocess.run(
        [sys.executable, "-c", A_YEAR_LATER, *options, *{str(ROOT / name.partition("::")[0]) for name in own}],
        cwd=tmp_path,
        env={**inherited, "PYTHONHASHSEED": "1", "TZ": "Pacific/Chatham", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    assert set(own) <= set(others)


def test_ids_are_short(request: pytest.FixtureRequest) -> None:
    parameters = [match[1] for item in request.session.items if (match := re.search(r"\[(.*)\]$", item.nodeid))]

    assert [text for text in parameters if len(text) > 100 or "\\x" in text] == []
