"""The web page that tells a person why there is no other one. It loads nothing, so it works at any path."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from graph.pages.headers import page_headers
from graph.pages.root import root_of

_STYLE = (Path(__file__).parent / "error_page.css").read_text()
_POLICY = {
    "style-src": [f"'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"],
    "img-src": ["data:"],
}


class Link(NamedTuple):
    """A link to a web page of the service."""

    text: str
    path: str


def error_page(
    request: Request, status: int, text: str, *, links: Sequence[Link], headers: Mapping[str, str] | None = None
) -> Response:
    """The web page of a status.

    Args:
        request: which is answered.
        status: of the answer; its phrase is the page's title.
        text: what is wrong, in a sentence.
        links: where to go from here.
        headers: of the answer, beside those of a web page.
    """
    root = root_of(request)
    title = escape(HTTPStatus(status).phrase)
    items = "\n".join(
        f'<li><a href="{escape((root + path.removeprefix("/")) or "./")}">{escape(name)}</a></li>'
        for name, path in links
    )
    html = f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{title} – Quakegraph</title>
<link rel="icon" href="data:,">
<style>{_STYLE}</style>
</head>
<body>
<main>
<p class="status">{status}</p>
<h1>{title}</h1>
<p>{escape(text)}</p>
{f"<ul>{items}</ul>" if items else ""}
</main>
</body>
</html>
"""
    return HTMLResponse(html, status, headers={**page_headers(_POLICY), **(headers or {})})
