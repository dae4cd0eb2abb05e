"""The dashboard: a web page that shows the newest events, at the root of the service.

It is plain HTML, CSS and JavaScript modules, the files of `page/`, and queries only the public graph of this
service. The files are served under one folder whose name is a hash of their contents. So they may be cached for
ever, and a module finds the others of its version by their plain names. Only the HTML itself is revalidated.
"""

from functools import partial
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from graph.pages.headers import FOR_EVER, MEDIA_TYPES, has_current, page_headers

PATH = "/dashboard"  # the folder of the web page's files
PAGE_SIZE = 500  # events of one query: a quarter of what an operation may cost by default

_PAGE = Path(__file__).parent / "page"
_POLICY = {
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "connect-src": ["'self'"],
    "img-src": ["'self'"],  # the icon
    "require-trusted-types-for": ["'script'"],  # text can never become markup
    "trusted-types": ["'none'"],
}

FILES = {path.name: path for path in sorted(_PAGE.iterdir()) if path.suffix in MEDIA_TYPES}


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
        Route(f"{PATH}/{VERSION}/{{name}}", _file),
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
    }.items():
        html = html.replace(placeholder, value)
    return html


async def _page(html: str, etag: str, request: Request) -> Response:
    headers = {**page_headers(_POLICY), "ETag": etag}
    if has_current(request.headers, etag):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(html, headers=headers)


async def _file(request: Request) -> Response:
    """Serve one of the files, by its exact name."""
    path = FILES.get(request.path_params["name"])
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=FOR_EVER)
