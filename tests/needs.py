"""Marks tests that need a tool which a machine may lack: `@pytest.mark.needs("chromium")`.

If a tool is missing, its tests are deselected, and a line at the end of the run names it. In CI
(environment variable `CI`), a missing tool that a script can install is an error. So a green run
means that all these tests ran.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from graph.pages import packages
from graph.pages.dashboard.sources import BUNDLE
from scripts import collector

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@cache
def _node() -> int:
    """The major version of Node; 0 where there is none."""
    if (node := shutil.which("node")) is None:
        return 0
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.removeprefix("v").partition(".")[0])


REQUIREMENTS: dict[str, Callable[[], bool]] = {
    "chromium": lambda: any(map(shutil.which, CHROMIUM_NAMES)),
    "java": lambda: shutil.which("java") is not None,
    "redis-server": lambda: shutil.which("redis-server") is not None,
    "node": lambda: shutil.which("node") is not None,
    "Node 20": lambda: _node() >= 20,
    "a tmpfs": lambda: os.geteuid() == 0 and shutil.which("mount") is not None and _mounts(),
    "npm": lambda: shutil.which("npm") is not None,
    "Linux on x86-64": collector.runs_here,
    "the web pages' packages": packages.packaged,  # there once `pip install -e .` has found npm
    "the dashboard's bundle": BUNDLE.is_dir,  # there once `pip install -e .` has found npm, until a page's file changes
}


def _mounts() -> bool:
    """Whether this process may mount a file system: root may, unless a container forbids it."""
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False)
        if mounted.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return mounted.returncode == 0


GRANTED = frozenset({"a tmpfs", "Linux on x86-64", "Node 20"})
"""Requirements that no script can install: the rights of the container, the machine itself, and what its system has."""

_deselected = pytest.StashKey[dict[str, int]]()  # what is missing → the number of tests that need it


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"needs(*names): run only where these are found: {', '.join(REQUIREMENTS)}")
    config.stash[_deselected] = {}


@pytest.hookimpl(trylast=True)  # after -k and -m, so that tests which they deselect do not count
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    needed = {name for item in items for name in _needs(item)}
    if unknown := needed - REQUIREMENTS.keys():
        raise pytest.UsageError(f"the marker `needs` does not know {', '.join(sorted(unknown))}")
    missing = {name for name in needed if not REQUIREMENTS[name]()}
    if (installable := missing - GRANTED) and os.environ.get("CI"):
        raise pytest.UsageError(f"tests need {', '.join(sorted(installable))}: in CI, nothing may be missing")

    deselected = [item for item in items if missing.intersection(_needs(item))]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if not missing.intersection(_needs(item))]
    config.stash[_deselected] = {
        name: sum(name in _needs(item) for item in deselected) for name in REQUIREMENTS if name in missing
    }


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if deselected := config.stash[_deselected]:
        lacking = ", ".join(f"{name} ({count} tests need it)" for name, count in deselected.items())
        terminalreporter.write_line(f"Not run, since this machine lacks: {lacking}", yellow=True)


def _needs(item: pytest.Item) -> Iterator[str]:
    for marker in item.iter_markers("needs"):
        yield from marker.args
