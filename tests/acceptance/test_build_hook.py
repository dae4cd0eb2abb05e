"""What the build hook puts beside the web pages, from an npm and an esbuild that are scripts here."""

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import brotli
import pytest

import hatch_build
from hatch_build import NpmUnavailable, WebPages, WrongHash, put_bundle, put_packages

CHECKOUT = Path(__file__).parents[2]
WARNINGS = (
    "The web pages will load their packages from the public CDN: {0}\n"
    "The dashboard will load its modules one by one: {0}\n"
)
SCRIPT, LICENSE = b"draw();\n" * 100, b"Free.\n"
ESBUILD = b"""#!/bin/sh
for option in "$@"; do case $option in --outdir=*) out=${option#--outdir=};; esac; done
mkdir "$out"; echo "/* $* */" | cat - main.js > "$out/main.js"; cp main.css "$out"
"""
SOURCES = """from pathlib import Path
PAGE = Path(__file__).parent / "page"
BUNDLES = PAGE.parent / "bundles"
BUNDLE = BUNDLES / str(len((PAGE / "main.js").read_text()))
ENTRIES = ("main.js", "main.css")
"""


def integrity(algorithm: str, content: bytes) -> str:
    return f"{algorithm}-{b64encode(hashlib.new(algorithm, content).digest()).decode()}"


def tarball(files: dict[str, bytes]) -> bytes:
    """An npm package."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


class Registry:
    """The packages that npm delivers, and what the project lists of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        plot, esbuild = tarball({"dist/plot.js": SCRIPT, "LICENSE": LICENSE}), tarball({"bin/esbuild": ESBUILD})
        (folder / "plot.tgz").write_bytes(plot)
        (folder / "esbuild.tgz").write_bytes(esbuild)
        self.files = [
            {"name": "plot-1.js", "path": "dist/plot.js", "integrity": integrity("sha384", SCRIPT)},
            {"name": "plot-1.LICENSE.txt", "path": "LICENSE", "integrity": integrity("sha384", LICENSE)},
        ]
        self.package: dict[str, Any] = {"name": "plot", "version": "1", "integrity": integrity("sha512", plot)}
        self.package["file"] = self.files
        machine = f"{sys.platform}-{platform.machine().lower()}"
        self.bundler = {"name": "esbuild", "version": "1", "machine": machine, "program": "bin/esbuild"}
        self.bundler["integrity"] = integrity("sha512", esbuild)

    def close(self) -> None:
        """Deliver no more packages: each further request fails."""
        for package in self.folder.iterdir():
            package.unlink()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """In place of npm's, which a script of this name delivers."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "registry").mkdir()
    npm = tmp_path / "bin" / "npm"
    refuses = "{ echo 'npm error code ECONNREFUSED' >&2; exit 1; }"
    npm.write_text(f"#!/bin/sh\ncp {tmp_path}/registry/*.tgz . 2>/dev/null || {refuses}")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return Registry(tmp_path / "registry")


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """The folder of third-party files, as a clone has it."""
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "README.md").write_text("What is here?")
    return folder


@pytest.fixture
def dashboard(tmp_path: Path) -> Path:
    """A page of two files, whose version is the length of one."""
    folder = tmp_path / "dashboard"
    (folder / "page").mkdir(parents=True)
    (folder / "sources.py").write_text(SOURCES)
    (folder / "page" / "main.js").write_text("1;\n")
    (folder / "page" / "main.css").write_text("p {}\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, however deep, but those of the clone."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "README.md")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_exactly_the_listed_files_are_put_with_compressed_forms_and_not_fetched_again(
    registry: Registry, static: Path
) -> None:
    (static / "plot-0.js").write_text("left by an earlier version")
    (static / "plot-1.js").write_text("not what is listed under this name")

    put_packages(static, [registry.package])

    files = contents(static)
    assert brotli.decompress(files.pop("plot-1.js.br")) == SCRIPT
    assert files == {"plot-1.js": SCRIPT, "plot-1.LICENSE.txt": LICENSE}
    registry.close()
    put_packages(static, [registry.package])


@pytest.mark.parametrize("hashed", ["tarball", "file"])
def test_a_wrong_hash_leaves_no_file(registry: Registry, static: Path, hashed: str) -> None:
    altered = registry.package if hashed == "tarball" else registry.files[-1]
    altered["integrity"] = altered["integrity"].swapcase()

    with pytest.raises(WrongHash):
        put_packages(static, [registry.package])

    assert contents(static) == {}


def test_a_bundle_is_made_of_the_present_page_and_once(registry: Registry, dashboard: Path) -> None:
    put_bundle(dashboard, [registry.bundler])

    files = contents(dashboard / "bundles")
    assert files.keys() == {f"3/{name}{form}" for name in ("main.js", "main.css") for form in ("", ".br")}
    assert files["3/main.js"].endswith(b"*/\n1;\n")
    assert files["3/main.js"] == brotli.decompress(files["3/main.js.br"])
    assert {b"--bundle", b"--minify", b"--format=esm"} <= set(files["3/main.js"].split())
    registry.folder.rename(registry.folder.with_name("closed"))
    put_bundle(dashboard, [registry.bundler])

    (dashboard / "page" / "main.js").write_text("changed;\n")
    with pytest.raises(NpmUnavailable):
        put_bundle(dashboard, [registry.bundler])
    assert contents(dashboard / "bundles") == {}, "a bundle of another page is not left"
    registry.folder.with_name("closed").rename(registry.folder)
    put_bundle(dashboard, [registry.bundler])
    assert contents(dashboard / "bundles")["9/main.js"].endswith(b"changed;\n")


def test_a_forged_bundler_fails_the_build(registry: Registry, dashboard: Path) -> None:
    registry.bundler["integrity"] = registry.bundler["integrity"].swapcase()

    with pytest.raises(WrongHash):
        put_bundle(dashboard, [registry.bundler])

    assert not (dashboard / "bundles").exists()


def test_what_cannot_be_had_is_a_warning_and_the_build_goes_on(
    registry: Registry, static: Path, tmp_path: Path
) -> None:
    registry.close()
    pages = tmp_path / "graph" / "pages"
    shutil.copytree(static, pages / "packages" / "static")
    (pages / "dashboard").mkdir()
    shutil.copy(CHECKOUT / "graph/pages/dashboard/sources.py", pages / "dashboard")
    (pages / "dashboard" / "page").mkdir()
    listed = f"package = [{{name = 'plot', version = '1', file = [], integrity = '{registry.package['integrity']}'}}]"
    (pages / "packages" / "packages.toml").write_text(f"{listed}\nbundler = [{{machine = 'other'}}]")
    (pages / "packages" / "static" / "plot-0.js").write_text("left by an earlier version")
    warnings: list[str] = []

    hook = SimpleNamespace(root=tmp_path, app=SimpleNamespace(display_warning=warnings.append))
    WebPages.initialize(hook, "standard", {})  # type: ignore[arg-type]

    of_packages, of_bundle = warnings
    assert of_packages == "The web pages will load their packages from the public CDN: npm error code ECONNREFUSED"
    assert of_bundle.startswith("The dashboard will load its modules one by one: no esbuild is listed for ")


def test_without_npm_a_wheel_carries_the_dashboard_and_the_build_warns(tmp_path: Path) -> None:
    """It carries no file of third parties then, whatever lies in their folder."""
    tree = cloned(tmp_path / "tree")
    static = tree / "graph/pages/packages/static"
    (static / "react-18.3.1.min.js").write_text("not what is listed under this name")

    done = python(tree, "-m", "hatchling", "build", "-t", "wheel", environment={"PATH": str(tmp_path / "empty")})

    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(WARNINGS.format("npm was not found"))
    names = carried(tree)
    assert {path.name for path in names if path.parent.match("graph/pages/packages/static")} == {"README.md"}
    pages = CHECKOUT / "graph/pages/dashboard"
    assert {str(path) for path in names if path.is_relative_to("graph/pages/dashboard")} == {
        f"graph/pages/dashboard/{path.relative_to(pages)}"
        for path in pages.rglob("*.*")
        if path.suffix != ".pyc" and "bundles" not in path.parts
    }


def cloned(tree: Path) -> Path:
    """The project as a fresh clone has it: nothing built yet."""
    left_out = shutil.ignore_patterns("__pycache__", "bundles", "*.min.*", "*.js.br")
    shutil.copytree(CHECKOUT / "graph", tree / "graph", ignore=left_out)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(CHECKOUT / name, tree)
    for path in hatch_build.built(tree / "graph/pages/packages/static"):
        path.unlink()
    return tree


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


def carried(tree: Path) -> set[PurePosixPath]:
    """The paths in the one wheel that was built."""
    (wheel,) = (tree / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(map(PurePosixPath, archive.namelist()))
