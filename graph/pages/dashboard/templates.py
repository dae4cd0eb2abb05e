"""The files of the dashboard, and its HTML: templates that are filled with the values of this release and deployment.

The files are served under one folder whose name is a hash of their contents. So they may be cached for ever, and a
module finds the others of its version by their plain names. Only the HTML itself is revalidated. A file of the bundle
stands in place of the entry that it was made of; where there is no bundle, browsers load all modules one by one.
"""

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from graph.pages import packages
from graph.pages.dashboard.sources import BUNDLE, ENTRIES, PAGE, SOURCES, VERSION
from graph.pages.headers import MEDIA_TYPES, has_current, page_headers

PATH = "/dashboard"  # the folder of the files, as a browser sees it

THIRD_PARTY = packages.files_of("dashboard")
UNBUNDLED = {name: path for name, path in SOURCES.items() if path.suffix in MEDIA_TYPES}
FILES = UNBUNDLED | {name: BUNDLE / name for name in ENTRIES if (BUNDLE / name).is_file()}
FOLDER = f"{PATH[1:]}/{VERSION}"  # relative to the service's root


class PageTemplate:
    """An HTML file of `page/`. Its placeholders are names in braces: `{files}`."""

    def __init__(self, name: str, served: Sequence[str], **values: str) -> None:
        """Read the file.

        Args:
            name: of the file.
            served: what the service has beside events. Scripts find it in the document's element: `data-sightings`.
            values: HTML, by the names of placeholders, that is the same for every request.
        """
        self._text = (PAGE / name).read_text()
        (entry,) = re.findall(r'<script type="module" src="\{files\}/([\w./]+)">', self._text)
        self._modules = imported_by(entry, FILES)
        self._values = {
            "packages": escape(json.dumps(_third_party())),
            "packaged": " data-packaged" if packages.packaged(THIRD_PARTY) else "",
            "served": "".join(f" data-{name}" for name in served),
            **values,
        }

    def answer(self, request: Request, *, root: str = "", status: int = 200, **values: str) -> Response:
        """The page, or 304 if the browser has it.

        Args:
            request: of the page.
            root: the way from the page to the root of the service, such as `../`.
            status: of the page.
            values: HTML, by the names of placeholders.
        """
        html = self._html(root, values)
        etag = f'"{sha256(html.encode()).hexdigest()[:16]}"'
        headers = {**page_headers(_policy()), "ETag": etag}
        if status == 200 and has_current(request.headers, etag):
            return Response(status_code=304, headers=headers)
        return HTMLResponse(html, status, headers=headers)

    def _html(self, root: str, values: Mapping[str, str]) -> str:
        files = root + FOLDER
        preloads = "\n".join(f'<link rel="modulepreload" href="{files}/{name}">' for name in self._modules)
        filled = {**self._values, "root": root, "files": files, **values}
        html = self._text.replace("<!-- modules -->", preloads)  # the browser loads all modules at once
        return re.sub(r"\{(\w+)\}", lambda placeholder: filled[placeholder[1]], html)


def imported_by(name: str, files: Mapping[str, Path]) -> list[str]:
    """The modules that a module of these files needs at its start, itself among them.

    Those that are imported later are left out. A bundle has all that it needs in itself.
    """
    found = {name: None}
    for module in (waiting := [name]):
        imported = re.findall(r'^(?:import|export|\}) .*"(\.[\w./-]+)";$', files[module].read_text(), re.MULTILINE)
        for path in imported:
            other = posixpath.normpath(posixpath.join(posixpath.dirname(module), path))
            if other not in found:
                found[other] = None
                waiting.append(other)
    return sorted(found)


def _third_party() -> dict[str, dict[str, str]]:
    """Where the browser loads each third-party file from, and its hash, by its name without a version."""
    packaged = packages.packaged(THIRD_PARTY)
    return {
        file.plain_name: {"url": file.url(from_package=packaged), "integrity": file.integrity} for file in THIRD_PARTY
    }


def _policy() -> dict[str, list[str]]:
    """What the web page may load, run and query."""
    from_cdn = () if packages.packaged(THIRD_PARTY) else THIRD_PARTY
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
