"""The HTTP headers of the web pages, GraphiQL and the dashboard, and of their files."""

from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers

MEDIA_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
FOR_EVER = {  # for a file whose URL changes with its content
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}


def page_headers(policy: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The headers of a web page that may do only what this content security policy allows."""
    directives = {
        "default-src": ["'none'"],
        **policy,
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    return {
        "Content-Security-Policy": "; ".join(" ".join([name, *sources]) for name, sources in directives.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
    }


def has_current(headers: Headers, etag: str) -> bool:
    """Whether the client already has the present version: RFC 9110, section 13.1.2."""
    known = [each.strip().removeprefix("W/") for each in headers.get("if-none-match", "").split(",")]
    return etag in known or known == ["*"]
