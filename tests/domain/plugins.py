"""Distributions with entry points, as pip installs them: their metadata and modules are in a folder of the path."""

import importlib
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from graph.domains import GROUP, installed
from tests.documents.markdown import ROOT

EXAMPLE = ROOT / "tests/domain/example"
PACKAGE = "quakegraph_field_notes"


def write_metadata(site: Path, distribution: str, domains: Mapping[str, str]) -> None:
    """Write what pip writes of a distribution with these entry points."""
    metadata = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = [f"[{GROUP}]", *(f"{name} = {value}" for name, value in domains.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))


def write_example_metadata(site: Path) -> None:
    """Write what pip writes of the example domain's distribution."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    write_metadata(site, project["name"], project["entry-points"][GROUP])


@contextmanager
def on_the_path(*folders: Path) -> Iterator[None]:
    """With these folders at the head of the path. Entry points are read again, as by a new process."""
    before, loaded = list(sys.path), set(sys.modules)
    sys.path[:0] = map(str, folders)
    importlib.invalidate_caches()
    installed.cache_clear()
    try:
        yield
    finally:
        sys.path[:] = before
        installed.cache_clear()
        for name in sys.modules.keys() - loaded:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(tuple(map(str, folders))):
                del sys.modules[name]
