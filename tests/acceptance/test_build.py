"""What a build puts into the wheel, with npm and without it."""

import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest

from graph.pages.dashboard.sources import ENTRIES, VERSION

CHECKOUT = Path(__file__).parents[2]
MANIFEST = tomllib.loads((CHECKOUT / "graph/pages/packages/packages.toml").read_text())
PACKAGES = MANIFEST["package"]
PINNED = {file["name"] for package in PACKAGES for file in package["file"]}
LISTED = PINNED | {f"{name}.br" for name in PINNED if not name.endswith(".txt")}
BUNDLE = {f"{VERSION}/{name}{form}" for name in ENTRIES for form in ("", ".br")}

WARNINGS = (
    "The web pages will load their packages from the public CDN: {0}\n"
    "The dashboard will load its modules one by one: {0}\n"
)

needs_npm = pytest.mark.needs("npm")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The project as a fresh clone has it: nothing built yet."""
    tree = tmp_path / "tree"
    shutil.copytree(CHECKOUT / "graph", tree / "graph", ignore=shutil.ignore_patterns("__pycache__", "bundles"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(CHECKOUT / name, tree)
    for path in static(tree).iterdir():
        if path.name != "README.md":
            path.unlink()
    return tree


@pytest.fixture
def without_npm(tmp_path: Path) -> dict[str, str]:
    empty = tmp_path / "bin"
    empty.mkdir()
    return {"PATH": str(empty)}


@needs_npm
def test_a_wheel_carries_every_listed_file_and_the_bundle(tree: Path) -> None:
    build(tree)

    assert in_wheel(tree) == LISTED
    assert bundle_in_wheel(tree) == BUNDLE


@needs_npm
def test_a_wheel_built_from_the_source_distribution_carries_every_listed_file(tree: Path, tmp_path: Path) -> None:
    build(tree, "sdist")
    with tarfile.open(next((tree / "dist").iterdir())) as sdist:
        sdist.extractall(tmp_path / "unpacked", filter="data")
    unpacked = next((tmp_path / "unpacked").iterdir())
    assert names(static(unpacked)) == {"README.md"}

    build(unpacked)

    assert in_wheel(unpacked) == LISTED
    assert bundle_in_wheel(unpacked) == BUNDLE


@needs_npm
def test_an_editable_install_puts_the_files_into_the_checkout(tree: Path) -> None:
    python(tree, "-c", "from hatchling.build import build_editable; build_editable('dist')").check_returncode()

    assert names(static(tree)) == LISTED | {"README.md"}


@needs_npm
def test_files_that_are_there_are_not_fetched_again(tree: Path, without_npm: dict[str, str]) -> None:
    build(tree)

    assert build(tree, environment=without_npm) == ""
    assert in_wheel(tree) == LISTED


@needs_npm
def test_a_changed_page_has_another_bundle(tree: Path, without_npm: dict[str, str]) -> None:
    bundles = tree / "graph/pages/dashboard/bundles"
    build(tree)
    with (tree / "graph/pages/dashboard/page/main.js").open("a") as source:
        source.write("console.log('changed');")

    assert "modules one by one" in build(tree, environment=without_npm)
    assert not bundles.exists()

    build(tree)
    (bundle,) = bundles.iterdir()
    assert bundle.name != VERSION
    assert (bundle / "main.js").read_text().endswith('console.log("changed");\n')


@needs_npm
def test_a_page_that_cannot_be_bundled_fails_the_build(tree: Path) -> None:
    (tree / "graph/pages/dashboard/page/html.js").write_text("export const = 1;")

    refused = python(tree, "-m", "hatchling", "build", "-t", "wheel")

    assert refused.returncode != 0
    assert "html.js:1:13" in refused.stderr
    assert not (tree / "graph/pages/dashboard/bundles").exists()


@needs_npm
def test_without_a_bundler_for_the_machine_a_build_warns(tree: Path) -> None:
    manifest = tree / "graph/pages/packages/packages.toml"
    manifest.write_text(manifest.read_text().replace('machine = "', 'machine = "other-'))

    assert build(tree).startswith("The dashboard will load its modules one by one: no esbuild is listed for ")
    assert in_wheel(tree) == LISTED


def test_without_npm_a_build_warns_and_leaves_the_files_out(tree: Path, without_npm: dict[str, str]) -> None:
    warnings = build(tree, environment=without_npm)

    assert warnings == WARNINGS.format("npm was not found")
    assert in_wheel(tree) == set()
    assert bundle_in_wheel(tree) == set()


@needs_npm
def test_a_build_without_a_registry_warns_and_omits_the_files(tree: Path, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens, so that connections are refused
        registry = f"http://127.0.0.1:{closed.getsockname()[1]}"
        empty_cache = str(tmp_path / "npm")
        warnings = build(tree, environment={"npm_config_registry": registry, "npm_config_cache": empty_cache})

    assert warnings == WARNINGS.format("npm error code ECONNREFUSED")
    assert in_wheel(tree) == set()


def test_a_wheel_carries_the_dashboard(tree: Path, without_npm: dict[str, str]) -> None:
    build(tree, environment=without_npm)

    (wheel,) = (tree / "dist").glob("*.whl")
    assert {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("graph/pages/dashboard/")} == {
        f"graph/pages/dashboard/{path.relative_to(CHECKOUT / 'graph/pages/dashboard')}"
        for path in (CHECKOUT / "graph/pages/dashboard").rglob("*.*")
        if path.suffix != ".pyc" and "bundles" not in path.parts
    }


def test_no_other_file_than_the_listed_ones_enters_a_wheel(tree: Path, without_npm: dict[str, str]) -> None:
    (static(tree) / "react-18.3.1.min.js").write_text("not what is listed under this name")
    (static(tree) / "react-17.0.2.min.js").write_text("left by an earlier version")

    build(tree, environment=without_npm)

    assert in_wheel(tree) == set()


@needs_npm
@pytest.mark.parametrize("hashed", ["tarball", "file", "bundler"])
def test_a_wrong_hash_fails_the_build(tree: Path, hashed: str) -> None:
    package = PACKAGES[-1]  # the last, so that what comes before is found right
    manifest = tree / "graph/pages/packages/packages.toml"
    text = manifest.read_text()
    altered = {"tarball": [package], "file": package["file"][-1:], "bundler": MANIFEST["bundler"]}
    for each in altered[hashed]:
        pinned = each["integrity"]
        text = text.replace(pinned, pinned[:-4] + pinned[-4:].swapcase())
    manifest.write_text(text)

    refused = python(tree, "-m", "hatchling", "build", "-t", "wheel")

    assert refused.returncode != 0
    assert "WrongHash" in refused.stderr
    assert names(tree / "dist") == set()
    assert names(static(tree)) == (LISTED if hashed == "bundler" else set()) | {"README.md"}
    assert not (tree / "graph/pages/dashboard/bundles").exists()


def build(tree: Path, target: str = "wheel", environment: Mapping[str, str] | None = None) -> str:
    """Build into `dist/`, and return the warnings."""
    done = python(tree, "-m", "hatchling", "build", "-t", target, environment=environment)
    assert done.returncode == 0, done.stderr
    return "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("dist/"))


def python(
    tree: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
    )


def in_wheel(tree: Path) -> set[str]:
    """The third-party files in the one wheel that was built."""
    (wheel,) = (tree / "dist").glob("*.whl")
    paths = map(PurePosixPath, zipfile.ZipFile(wheel).namelist())
    return {path.name for path in paths if path.parent.match("graph/pages/packages/static")} - {"README.md"}


def bundle_in_wheel(tree: Path) -> set[str]:
    """The files of the bundle in the one wheel that was built, by the names of their versions."""
    (wheel,) = (tree / "dist").glob("*.whl")
    bundles = "graph/pages/dashboard/bundles/"
    return {name.removeprefix(bundles) for name in zipfile.ZipFile(wheel).namelist() if name.startswith(bundles)}


def static(tree: Path) -> Path:
    return tree / "graph/pages/packages/static"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
