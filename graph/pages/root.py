"""The way from a web page to the root of the service, so that pages work in any folder of a proxy."""

from starlette.requests import Request


def root_of(request: Request) -> str:
    """`../` for each folder of the requested path: one for `/events/us1`, none for `/nowhere`.

    A browser counts the slashes of the path as it was sent, where `%2F` is none.
    """
    sent: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    below_mount = sent.removeprefix(request.scope.get("root_path", "").encode())
    return "../" * (below_mount.count(b"/") - 1)
