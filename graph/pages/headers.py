"""What the pages of the service, GraphiQL and the dashboard, have in common: how they and their files are sent."""

from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers

MEDIA_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
FOR_EVER = {  # for a file whose URL changes with its content
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}


def page_headers(policy: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The headers of a page that may do what this content security policy names, and nothing else."""
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
    """Whether a client has what it asks for already: RFC 9110, section 13.1.2."""
    known = [each.strip().removeprefix("W/") for each in headers.get("if-none-match", "").split(",")]
    return etag in known or known == ["*"]
