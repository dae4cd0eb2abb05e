"""The build hook that puts the web pages' third-party files into `graph/pages/packages/static/`, and so into the wheel.

`graph/pages/packages/packages.toml` lists the files, the npm packages that have them, and their hashes.
After a build, the folder has exactly these files, each script, style sheet and map also in its Brotli
form, or none. Without npm or its registry, the build warns and continues, since the web pages work
without the files. A file with another hash is never written, and fails the build.
"""

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import brotli
from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TIMEOUT_S = 240  # for npm; the tarballs are 16 MB together
COMPRESSED = {".js", ".css", ".json"}
QUALITY = 10  # of Brotli: a twentieth better than 9, and twice as fast as 11
RETRY_ONCE = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")  # in ms; npm would wait for over a minute


class NpmUnavailable(Exception):
    """npm is missing, or could not fetch the packages."""


class WrongHash(Exception):
    """A package or a file does not have its pinned hash."""


class WebPagePackages(BuildHookInterface[BuilderConfig]):
    """Fetches missing files before the wheel, editable or not, is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root, "graph", "pages", "packages")
        packages = tomllib.loads((source / "packages.toml").read_text())["package"]
        static = source / "static"
        static.mkdir(exist_ok=True)
        if up_to_date(static, packages):
            return
        clear(static)
        try:
            files = fetch(packages)
        except NpmUnavailable as cause:
            self.app.display_warning(f"The web pages will load their packages from the public CDN: {cause}")
            return
        for name, content in files.items():
            (static / name).write_bytes(content)
            if Path(name).suffix in COMPRESSED:
                compressed_form(static / name).write_bytes(brotli.compress(content, quality=QUALITY))


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
        npm_pack([f"{package['name']}@{package['version']}" for package in packages], Path(folder))
        tarballs = {integrity("sha512", path.read_bytes()): path for path in Path(folder).glob("*.tgz")}
        files: dict[str, bytes] = {}
        for package in packages:
            if package["integrity"] not in tarballs:
                raise WrongHash(f"npm delivered no {package['name']} {package['version']} of the pinned hash")
            with tarfile.open(tarballs[package["integrity"]]) as tarball:
                for file in package["file"]:
                    files[file["name"]] = extract(tarball, file)
        return files


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
