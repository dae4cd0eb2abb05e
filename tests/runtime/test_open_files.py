"""The limit of open files, in processes of their own: it cannot be raised again once it was lowered for good."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from graph.runtime.open_files import most_open_files

resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(most_open_files(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(("soft", "hard"), [(256, 512), (512, 512)])
def test_the_limit_is_raised_as_far_as_the_system_lets_it(soft: int, hard: int) -> None:
    program = PROGRAM.format(soft=soft, hard=hard)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["512", "512"]
