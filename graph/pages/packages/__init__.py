"""The third-party files of the web pages: which there are, where a browser loads them from, and their route.

By default no web page contacts another host: the build (`hatch_build.py`) put the files into `static/`. Without them,
the web pages load the same files from the public CDN, and the browser checks each against its pinned hash.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.routing import Route

from graph.pages.headers import MEDIA_TYPES
from graph.pages.kept_file import files_route

PATH = "/packages"  # the folder of the files, as a browser sees it
CDN = "https://cdn.jsdelivr.net/npm"  # serves the files of an npm package's release unchanged
NOT_PACKAGED = (
    f"The third-party files of the web pages are not in this package, since it was built without npm: "
    f"browsers load them from {CDN}"
)

_HERE = Path(__file__).parent
_STATIC = _HERE / "static"


@dataclass(frozen=True, slots=True)
class File:
    """A file of an npm package that a web page loads."""

    name: str  # in the URL; it has the package's version, so the file may be cached for ever
    plain_name: str  # without the version, as the web page's scripts name it
    web_page: str  # which loads it: `graphiql` or `dashboard`
    integrity: str  # the hash that a browser checks
    origin: str  # its URL on the CDN

    @property
    def path(self) -> Path:
        """Where the build puts it."""
        return _STATIC / self.name

    def url(self, *, from_package: bool) -> str:
        """Where a browser loads it from; without a leading slash, so that a proxy may put the service in a folder."""
        return f"{PATH[1:]}/{self.web_page}/{self.name}" if from_package else self.origin


def _listed() -> tuple[File, ...]:
    packages = tomllib.loads((_HERE / "packages.toml").read_text())["package"]
    return tuple(
        File(
            name=file["name"],
            plain_name=file["name"].replace(f"-{package['version']}", ""),
            web_page=package["web_page"],
            integrity=file["integrity"],
            origin=f"{CDN}/{package['name']}@{package['version']}/{file['path']}",
        )
        for package in packages
        for file in package["file"]
        if Path(file["name"]).suffix in MEDIA_TYPES  # the packages also hold licences, which no web page loads
    )


FILES = _listed()


def files_of(web_page: str) -> tuple[File, ...]:
    """The files of a web page, in the order in which it loads them."""
    return tuple(file for file in FILES if file.web_page == web_page)


def packaged(files: Sequence[File] = FILES) -> bool:
    """Whether this package has the files, so that the web pages contact no other host."""
    return all(file.path.is_file() for file in files)


def routes(web_page: str) -> list[Route]:
    """The route of a web page's files. No other file of the folder is served."""
    return [files_route(f"{PATH}/{web_page}", {file.name: file.path for file in files_of(web_page)})]
