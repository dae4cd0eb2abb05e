"""The limit of open files, in a process of its own: it cannot be raised again once it was lowered for good."""

import subprocess
import sys

PROGRAM = """
import resource
from graph.runtime.open_files import most_open_files

for soft in (256, 512):
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, 512))
    print(most_open_files(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_the_limit_is_raised_as_far_as_the_system_lets_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["512"] * 4
