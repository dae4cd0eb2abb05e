"""What a build with npm and esbuild puts into the wheel."""

import shutil
import tarfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from graph.pages.dashboard.sources import ENTRIES, VERSION
from tests.acceptance.test_build_hook import CHECKOUT, carried, cloned, python

PACKAGES = tomllib.loads((CHECKOUT / "graph/pages/packages/packages.toml").read_text())["package"]
PINNED = {file["name"] for package in PACKAGES for file in package["file"]}
LISTED = PINNED | {f"{name}.br" for name in PINNED if not name.endswith(".txt")}
BUNDLE = {f"{VERSION}/{name}{form}" for name in ENTRIES for form in ("", ".br")}
STATIC, BUNDLES = "graph/pages/packages/static", "graph/pages/dashboard/bundles"

pytestmark = pytest.mark.needs("npm")


def test_an_editable_install_fetches_what_wheels_then_carry(tmp_path: Path) -> None:
    """Also a wheel that is built from the source distribution. A changed page has another bundle."""
    tree = cloned(tmp_path / "tree")
    without_npm = {"PATH": str(tmp_path / "empty")}

    python(tree, "-c", "from hatchling.build import build_editable; build_editable('dist')").check_returncode()
    assert names(tree / STATIC) == LISTED | {"README.md"}
    shutil.rmtree(tree / "dist")

    assert build(tree, "wheel", environment=without_npm) == ""  # nothing is fetched again
    assert in_wheel(tree) == (LISTED, BUNDLE)

    build(tree, "sdist", environment=without_npm)
    with tarfile.open(next((tree / "dist").glob("*.tar.gz"))) as sdist:
        sdist.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert names(unpacked / STATIC) == {"README.md"}
    for built in (STATIC, BUNDLES):  # as a second fetch would
        shutil.copytree(tree / built, unpacked / built, dirs_exist_ok=True)
    assert build(unpacked, "wheel", environment=without_npm) == ""
    assert in_wheel(unpacked) == (LISTED, BUNDLE)

    with (tree / "graph/pages/dashboard/page/main.js").open("a") as source:
        source.write("console.log('changed');")
    build(tree, "wheel")
    (bundle,) = (tree / BUNDLES).iterdir()
    assert bundle.name != VERSION
    assert (bundle / "main.js").read_text().endswith('console.log("changed");\n')

    (tree / "graph/pages/dashboard/page/html.js").write_text("export const = 1;")
    refused = python(tree, "-m", "hatchling", "build", "-t", "wheel")
    assert refused.returncode != 0
    assert "html.js:1:13" in refused.stderr
    assert not (tree / BUNDLES).exists()


def build(tree: Path, target: str, environment: Mapping[str, str] | None = None) -> str:
    """Build into `dist/`, and return the warnings."""
    done = python(tree, "-m", "hatchling", "build", "-t", target, environment=environment)
    assert done.returncode == 0, done.stderr
    return "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("dist/"))


def in_wheel(tree: Path) -> tuple[set[str], set[str]]:
    """The third-party files in the one wheel that was built, and those of the bundle, below their version."""
    paths = list(carried(tree))
    static = {path.name for path in paths if path.parent.match(STATIC)} - {"README.md"}
    return static, {str(path.relative_to(BUNDLES)) for path in paths if path.is_relative_to(BUNDLES)}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
