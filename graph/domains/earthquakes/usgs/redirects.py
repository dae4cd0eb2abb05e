"""Decides which redirects of USGS are followed: those that stay on the server that the operator has set.

A redirect to any other server could make this process send requests inside its own network.
"""

import httpx

_DEFAULT_PORTS = {"http": 80, "https": 443}


def may_follow(target: httpx.URL, original: httpx.URL) -> bool:
    """Whether `target` has the origin of the original URL, or that origin upgraded from HTTP to HTTPS."""
    scheme, host, port = _origin(original)
    if _origin(target) == (scheme, host, port):
        return True
    return (scheme, port) == ("http", 80) and _origin(target) == ("https", host, 443)


def _origin(url: httpx.URL) -> tuple[str, bytes, int | None]:
    """Scheme, host and port, as RFC 6454 compares them."""
    return url.scheme, url.raw_host, url.port or _DEFAULT_PORTS.get(url.scheme)
