"""The dashboard: a web page that shows the newest events, at the root of the service.

It is plain HTML, CSS and JavaScript modules, the files of `page/`, and queries only the public graph of this
service. The files are served under one folder whose name is a hash of their contents. So they may be cached for
ever, and a module finds the others of its version by their plain names. Only the HTML itself is revalidated.

The map and the plots are drawn by third-party packages (`graph/pages/packages/`), which `third_party.js` loads.
"""

import json
from functools import partial
from hashlib import sha256
from html import escape
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from graph.pages import packages
from graph.pages.headers import FOR_EVER, MEDIA_TYPES, has_current, page_headers

PATH = "/dashboard"  # the folder of the web page's files
PAGE_SIZE = 500  # events of one query: a quarter of what an operation may cost by default

_PAGE = Path(__file__).parent / "page"
THIRD_PARTY = packages.files_of("dashboard")
FILES = {path.relative_to(_PAGE).as_posix(): path for path in sorted(_PAGE.rglob("*")) if path.suffix in MEDIA_TYPES}


def _version() -> str:
    digest = sha256()
    for name, path in FILES.items():
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


VERSION = _version()


def routes(most_on_page: int, *, sightings: bool) -> list[BaseRoute]:
    """The routes of the web page at the root, and of its files.

    Args:
        most_on_page: the most events on a page of the graph's connections.
        sightings: whether the graph has sightings.
    """
    html = _html(min(PAGE_SIZE, most_on_page), sightings=sightings)
    etag = f'"{sha256(html.encode()).hexdigest()[:16]}"'
    return [
        Route("/", partial(_page, html, etag)),
        Route(f"{PATH}/{VERSION}/{{name:path}}", _file),
        *packages.routes("dashboard"),
    ]


def _html(page_size: int, *, sightings: bool) -> str:
    """The HTML, with the values of this release and deployment."""
    preloads = "\n".join(
        f'<link rel="modulepreload" href="{PATH[1:]}/{VERSION}/{name}">' for name in FILES if name.endswith(".js")
    )
    html = (_PAGE / "index.html").read_text()
    for placeholder, value in {
        "<!-- modules -->": preloads,  # the browser loads all modules at once
        "{files}": f"{PATH[1:]}/{VERSION}",
        "{page_size}": str(page_size),
        "{sightings}": " data-sightings" if sightings else "",
        "{packages}": escape(json.dumps(_third_party())),
        "{packaged}": " data-packaged" if packages.bundled(THIRD_PARTY) else "",
    }.items():
        html = html.replace(placeholder, value)
    return html


def _third_party() -> dict[str, dict[str, str]]:
    """Where the browser loads each third-party file from, and its hash, by its name without a version."""
    packaged = packages.bundled(THIRD_PARTY)
    return {
        file.plain_name: {"url": file.url(from_package=packaged), "integrity": file.integrity} for file in THIRD_PARTY
    }


def _policy() -> dict[str, list[str]]:
    """What the web page may load, run and query."""
    from_cdn = () if packages.bundled(THIRD_PARTY) else THIRD_PARTY
    scripts = [file.origin for file in from_cdn if file.origin.endswith(".js")]
    styles = [file.origin for file in from_cdn if file.origin.endswith(".css")]
    others = [file.origin for file in from_cdn if not file.origin.endswith(".css")]  # a worker's script is fetched
    return {
        "script-src": ["'self'", *scripts],
        "style-src": ["'self'", *styles],
        "connect-src": ["'self'", *others],
        "img-src": ["'self'", "data:"],  # icons: the page's own, and those within MapLibre's style sheet
        "worker-src": ["blob:" if from_cdn else "'self'"],
        "require-trusted-types-for": ["'script'"],  # text can never become markup
        "trusted-types": ["third-party"],
    }


async def _page(html: str, etag: str, request: Request) -> Response:
    headers = {**page_headers(_policy()), "ETag": etag}
    if has_current(request.headers, etag):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(html, headers=headers)


async def _file(request: Request) -> Response:
    """Serve one of the files, by its exact name."""
    path = FILES.get(request.path_params["name"])
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=FOR_EVER)
