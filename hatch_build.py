"""The build hook that puts the web pages' third-party files and the dashboard's bundle into the wheel.

`graph/pages/packages/packages.toml` lists the third-party files, the npm packages that have them, and their hashes.
After a build, `graph/pages/packages/static/` has exactly these files, or none. The same list has esbuild, which joins
the dashboard's own modules and style sheets to the bundle: one file for each entry of
`graph/pages/dashboard/sources.py`. Each script, style sheet and map has its Brotli form beside it.

Without npm or its registry, the build warns and continues, since the web pages work without either. A file with another
hash is never written, and fails the build.
"""

import base64
import hashlib
import platform
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import brotli
from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TIMEOUT_S = 240  # for npm; the tarballs are 21 MB together
COMPRESSED = {".js", ".css", ".json"}
QUALITY = 10  # of Brotli: a twentieth better than 9, and twice as fast as 11
RETRY_ONCE = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")  # in ms; npm would wait for over a minute


class NpmUnavailable(Exception):
    """npm is missing, or could not fetch the packages."""


class WrongHash(Exception):
    """A package or a file does not have its pinned hash."""


class NoBundler(Exception):
    """There is no esbuild for this machine, or it does not run."""


class WebPages(BuildHookInterface[BuilderConfig]):
    """Fetches missing files, and makes a missing bundle, before the wheel, editable or not, is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        pages = Path(self.root, "graph", "pages")
        listed = tomllib.loads((pages / "packages" / "packages.toml").read_text())
        try:
            put_packages(pages / "packages" / "static", listed["package"])
        except NpmUnavailable as cause:
            self.app.display_warning(f"The web pages will load their packages from the public CDN: {cause}")
        try:
            put_bundle(pages / "dashboard", listed["bundler"])
        except (NpmUnavailable, NoBundler) as cause:
            self.app.display_warning(f"The dashboard will load its modules one by one: {cause}")


def put_packages(static: Path, packages: list[dict[str, Any]]) -> None:
    """Leave exactly the listed third-party files in the folder."""
    static.mkdir(exist_ok=True)
    if up_to_date(static, packages):
        return
    clear(static)
    for name, content in fetch(packages).items():
        put(static / name, content)


def put(path: Path, content: bytes) -> None:
    """Write a file, with its compressed form beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if path.suffix in COMPRESSED:
        compressed_form(path).write_bytes(brotli.compress(content, quality=QUALITY))


def up_to_date(static: Path, packages: list[dict[str, Any]]) -> bool:
    """Whether the folder has the listed files, unchanged, with their compressed forms, and no others."""
    pinned = {static / file["name"]: file["integrity"] for package in packages for file in package["file"]}
    compressed = {compressed_form(path) for path in pinned if path.suffix in COMPRESSED}
    found = set(built(static))
    return found == pinned.keys() | compressed and all(
        integrity("sha384", path.read_bytes()) == pinned[path] for path in found - compressed
    )


def compressed_form(path: Path) -> Path:
    """Where the Brotli form of a file is."""
    return path.with_name(f"{path.name}.br")


def clear(static: Path) -> None:
    """Remove the files of an earlier build, which may have been for another version or incomplete."""
    for path in built(static):
        path.unlink()


def built(static: Path) -> list[Path]:
    """The files of the folder that a build put there."""
    return [path for path in static.iterdir() if path.name != "README.md"]


def fetch(packages: list[dict[str, Any]]) -> dict[str, bytes]:
    """Fetch the listed files and check every hash. Returns the content of each file by its name."""
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, bytes] = {}
        for package, path in zip(packages, tarballs(packages, Path(folder)), strict=True):
            with tarfile.open(path) as tarball:
                for file in package["file"]:
                    files[file["name"]] = extract(tarball, file)
        return files


def tarballs(packages: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Download the packages' tarballs, each of which has its pinned hash."""
    npm_pack([f"{package['name']}@{package['version']}" for package in packages], folder)
    found = {integrity("sha512", path.read_bytes()): path for path in folder.glob("*.tgz")}
    for package in packages:
        if package["integrity"] not in found:
            raise WrongHash(f"npm delivered no {package['name']} {package['version']} of the pinned hash")
    return [found[package["integrity"]] for package in packages]


def npm_pack(releases: list[str], folder: Path) -> None:
    """Download the tarballs with npm, which knows the registry, the proxy and the cache."""
    npm = shutil.which("npm")
    if npm is None:
        raise NpmUnavailable("npm was not found")
    command = [npm, "pack", "--loglevel=error", "--ignore-scripts", "--prefer-offline", *RETRY_ONCE, *releases]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.CalledProcessError as failed:
        raise NpmUnavailable(failed.stderr.partition("\n")[0] or "npm failed") from failed
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise NpmUnavailable(f"npm failed: {failed}") from failed


def extract(tarball: tarfile.TarFile, file: dict[str, str]) -> bytes:
    """Extract one file of an npm tarball. All its files are under `package/`."""
    member = tarball.extractfile(f"package/{file['path']}")
    content = member.read() if member else b""
    if integrity("sha384", content) != file["integrity"]:
        raise WrongHash(f"the file for {file['name']} does not have the pinned hash")
    return content


def integrity(algorithm: str, content: bytes) -> str:
    """The hash in the notation of npm and browsers."""
    return f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, content).digest()).decode()}"


def put_bundle(dashboard: Path, bundlers: list[dict[str, Any]]) -> None:
    """Leave exactly the bundle of the present sources in its folder."""
    sources = runpy.run_path(str(dashboard / "sources.py"))
    bundle, entries = sources["BUNDLE"], sources["ENTRIES"]
    if all((bundle / name).is_file() for name in entries):
        return
    shutil.rmtree(sources["BUNDLES"], ignore_errors=True)
    for name, content in joined(sources["PAGE"], entries, bundlers).items():
        put(bundle / name, content)


def joined(page: Path, entries: tuple[str, ...], bundlers: list[dict[str, Any]]) -> dict[str, bytes]:
    """Join each entry with all that it imports. Returns the contents by their names."""
    machine = f"{sys.platform}-{platform.machine().lower()}"
    bundler = next((each for each in bundlers if each["machine"] == machine), None)
    if bundler is None:
        raise NoBundler(f"no esbuild is listed for {machine}")
    with tempfile.TemporaryDirectory() as folder:
        (path,) = tarballs([bundler], Path(folder))
        with tarfile.open(path) as tarball:
            tarball.extractall(folder, filter="data")
        program = Path(folder, "package", bundler["program"])
        command = [str(program), *entries, "--bundle", "--minify", "--format=esm", "--log-level=warning", "--outbase=."]
        try:
            subprocess.run([*command, f"--outdir={folder}/out"], cwd=page, check=True, timeout=TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as failed:
            raise NoBundler(f"esbuild does not run here: {failed}") from failed
        return {name: Path(folder, "out", name).read_bytes() for name in entries}
