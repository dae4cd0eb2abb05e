"""The HTTP client for other services: it takes answers in gzip or without compression, and no others.

httpx decodes whatever encoding it has a library for. A piece of a body in Zstandard can be ten thousand times as long
once it is decoded, and it is decoded at once. So an answer in an encoding that was not asked for is an error.
"""

import httpx

ENCODINGS = ("gzip", "identity")


def http_client() -> httpx.AsyncClient:
    """A new client, which its caller closes."""
    return httpx.AsyncClient(headers={"Accept-Encoding": ", ".join(ENCODINGS)}, event_hooks={"response": [_check]})


async def _check(response: httpx.Response) -> None:
    """Check the encoding of an answer before its body is read.

    Raises:
        httpx.DecodingError: It was not asked for.
    """
    encodings = [each.strip().lower() for each in response.headers.get("content-encoding", "identity").split(",")]
    if not set(ENCODINGS).issuperset(encodings):
        raise httpx.DecodingError("The answer is in an encoding that was not asked for.", request=response.request)
