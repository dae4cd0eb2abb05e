"""The GraphiQL web page, and the files that it loads.

The content security policy names exactly what the page loads, whether its third-party files come from this
package or from the public CDN (`graph/pages/packages/`). There is no inline script.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from graph.pages import packages
from graph.pages.headers import page_headers
from graph.pages.kept_file import files_route

PATH = "/graphiql"  # the folder of the web page's own files

_HERE = Path(__file__).parent

# GraphiQL's dialogs lock scrolling through one injected <style>, always with the same text on a page that has
# no scroll bar; this is the hash of that text. Every other style is set by script, which needs no permission.
_SCROLL_LOCK = "'sha256-Y/huXlwoYkVyQlxwSVcCi1RCDGDCSVBzDt0hYP9qlTc='"


@dataclass(frozen=True, slots=True)
class Example:
    """A tab that GraphiQL opens at its start. Its title is the operation's name."""

    query: str
    variables: str | None = None  # JSON, as the variables pane shows it


def _own_name(path: Path) -> str:
    """The name of a file in its URL. It holds a hash of the content, so the file may be cached for ever."""
    return f"{path.stem}-{sha256(path.read_bytes()).hexdigest()[:16]}{path.suffix}"


def examples_of(folder: Path) -> tuple[Example, ...]:
    """The examples of a folder, in order of their names: `1-first.graphql`, with the variables of `1-first.json`."""
    return tuple(
        Example(path.read_text(), variables.read_text().rstrip() if variables.is_file() else None)
        for path in sorted(folder.glob("*.graphql"))
        for variables in [path.with_suffix(".json")]
    )


THIRD_PARTY = packages.files_of("graphiql")
OWN = {_own_name(path): path for path in (_HERE / "graphiql.css", _HERE / "graphiql.js")}


def page(
    graphql_path: str,
    examples: Iterable[Example],
    *,
    schema_path: str | None = None,
    from_package: bool | None = None,
) -> Response:
    """The web page for a browser that opens `graphql_path`. Its queries go to the same path.

    Args:
        graphql_path: the path as the browser sees it.
        examples: the tabs that it opens at its start.
        schema_path: of the schema as a file, if there is one.
        from_package: whether to load GraphiQL's files from this package; by default, if it has them.
    """
    packaged = packages.packaged(THIRD_PARTY) if from_package is None else from_package
    elements = [_element(f"/{file.url(from_package=True)}") if packaged else _checked(file) for file in THIRD_PARTY]
    elements += [_element(f"{PATH}/{name}") for name in OWN]
    if schema_path:
        elements.insert(0, f'<link rel="alternate" type="text/plain" title="Schema" href="{escape(schema_path)}">')
    loaded = "\n".join(elements)
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
{loaded}
</head>
<body><div id="graphiql" data-url="{escape(graphql_path)}" data-examples="{escape(tabs)}"></div></body>
</html>
""",
        headers={
            **page_headers(_policy(() if packaged else THIRD_PARTY)),
            "Vary": "Accept",  # the same path answers with JSON to clients that accept it
        },
    )


def routes() -> list[Route]:
    """The routes of the web page's files."""
    return [*packages.routes("graphiql"), files_route(PATH, OWN)]


def _element(url: str, check: str = "") -> str:
    """What loads a script or a style sheet."""
    if url.endswith(".css"):
        return f'<link rel="stylesheet" href="{url}"{check}>'
    return f'<script defer src="{url}"{check}></script>'


def _checked(file: packages.File) -> str:
    """What loads a file from the CDN, if it is the pinned one."""
    return _element(file.origin, f' integrity="{file.integrity}" crossorigin="anonymous"')


def _policy(from_cdn: Sequence[packages.File]) -> dict[str, list[str]]:
    """What the web page may load and query."""
    styles = [file.origin for file in from_cdn if file.origin.endswith(".css")]
    scripts = [file.origin for file in from_cdn if file.origin not in styles]
    return {
        "script-src": ["'self'", *scripts],
        "style-src": ["'self'", _SCROLL_LOCK, *styles],
        "connect-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'", "data:"],  # the style sheet contains its fonts
    }
