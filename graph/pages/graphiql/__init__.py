"""The GraphiQL web page, and the files that it loads.

By default the page contacts no other host: the build (`hatch_build.py`) put its files into `static/`.
Without them, the page loads the same files from the public CDN, and the browser checks each against
its pinned hash. In both cases the content security policy names exactly what the page loads, and there
is no inline script.
"""

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from graph.pages.headers import FOR_EVER, MEDIA_TYPES, page_headers

PATH = "/graphiql"  # the folder of the web page's files
CDN = "https://cdn.jsdelivr.net/npm"  # serves the files of an npm package's release unchanged
NOT_BUNDLED = (
    f"GraphiQL's files are not in this package, since it was built without npm: the web page loads them from {CDN}"
)

_HERE = Path(__file__).parent
_STATIC = _HERE / "static"

# GraphiQL's dialogs lock scrolling through one injected <style>, always with the same text on a page that has
# no scroll bar; this is the hash of that text. Every other style is set by script, which needs no permission.
_SCROLL_LOCK = "'sha256-Y/huXlwoYkVyQlxwSVcCi1RCDGDCSVBzDt0hYP9qlTc='"


@dataclass(frozen=True, slots=True)
class File:
    """A script or style sheet of the web page."""

    name: str  # in the URL; holds a version or a hash of the content, so the file may be cached for ever
    path: Path  # in the package
    integrity: str  # empty for our own files, which come with the page
    origin: str  # its URL on the CDN; empty for our own files

    @property
    def is_style(self) -> bool:
        return self.path.suffix == ".css"


@dataclass(frozen=True, slots=True)
class Example:
    """A tab that GraphiQL opens at its start. Its title is the operation's name."""

    query: str
    variables: str | None = None  # JSON, as the variables pane shows it


def _third_party() -> tuple[File, ...]:
    packages = tomllib.loads((_HERE / "files.toml").read_text())["package"]
    return tuple(
        File(
            name=file["name"],
            path=_STATIC / file["name"],
            integrity=file["integrity"],
            origin=f"{CDN}/{package['name']}@{package['version']}/{file['path']}",
        )
        for package in packages
        for file in package["file"]
        if Path(file["name"]).suffix in MEDIA_TYPES  # the package also holds licences, which the web page does not load
    )


def _own(path: Path) -> File:
    digest = sha256(path.read_bytes()).hexdigest()[:16]
    return File(name=f"{path.stem}-{digest}{path.suffix}", path=path, integrity="", origin="")


def examples_of(folder: Path) -> tuple[Example, ...]:
    """The examples of a folder, in order of their names: `1-first.graphql`, with the variables of `1-first.json`."""
    return tuple(
        Example(path.read_text(), variables.read_text().rstrip() if variables.is_file() else None)
        for path in sorted(folder.glob("*.graphql"))
        for variables in [path.with_suffix(".json")]
    )


THIRD_PARTY = _third_party()
OWN = (_own(_HERE / "graphiql.css"), _own(_HERE / "graphiql.js"))


def bundled() -> bool:
    """Whether the package has GraphiQL's files, so that the web page contacts no other host."""
    return all(file.path.is_file() for file in THIRD_PARTY)


def page(graphql_path: str, examples: Iterable[Example], *, from_package: bool | None = None) -> Response:
    """The web page for a browser that opens `graphql_path`. Its queries go to the same path.

    Args:
        graphql_path: the path as the browser sees it.
        examples: the tabs that it opens at its start.
        from_package: whether to load GraphiQL's files from this package; by default, if it has them.
    """
    from_cdn = () if (bundled() if from_package is None else from_package) else THIRD_PARTY
    elements = "\n".join(_element(file, on_cdn=file in from_cdn) for file in THIRD_PARTY + OWN)
    tabs = json.dumps([{"query": example.query, "variables": example.variables} for example in examples])
    return HTMLResponse(
        f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quakegraph</title>
<link rel="icon" href="data:,">
{elements}
</head>
<body><div id="graphiql" data-url="{escape(graphql_path)}" data-examples="{escape(tabs)}"></div></body>
</html>
""",
        headers={
            **page_headers(_policy(from_cdn)),
            "Vary": "Accept",  # the same path answers with JSON to clients that accept it
        },
    )


def static_routes() -> list[BaseRoute]:
    """The routes of the files that the web page loads from this service."""
    return [Route(f"{PATH}/{{name}}", _file)]


def _element(file: File, *, on_cdn: bool) -> str:
    url = file.origin if on_cdn else f"{PATH}/{file.name}"
    check = f' integrity="{file.integrity}" crossorigin="anonymous"' if file.integrity else ""
    if file.is_style:
        return f'<link rel="stylesheet" href="{url}"{check}>'
    return f'<script defer src="{url}"{check}></script>'


def _policy(from_cdn: Sequence[File]) -> dict[str, list[str]]:
    """What the web page may load and query."""
    scripts = ["'self'", *(file.origin for file in from_cdn if not file.is_style)]
    styles = ["'self'", _SCROLL_LOCK, *(file.origin for file in from_cdn if file.is_style)]
    return {
        "script-src": scripts,
        "style-src": styles,
        "connect-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'", "data:"],  # the style sheet contains its fonts
    }


async def _file(request: Request) -> Response:
    """Serve one of the known files, by its exact name. No other file of the folder is served."""
    wanted = request.path_params["name"]
    found = next((file for file in THIRD_PARTY + OWN if file.name == wanted and file.path.is_file()), None)
    if found is None:
        raise HTTPException(404)
    return FileResponse(found.path, media_type=MEDIA_TYPES[found.path.suffix], headers=FOR_EVER)
