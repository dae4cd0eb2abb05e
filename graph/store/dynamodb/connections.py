"""The HTTP connections of a client: botocore's own, which also send prepared requests."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from aiobotocore.httpsession import AIOHTTPSession
from aiohttp import ClientTimeout
from yarl import URL

from graph.store.meter import PoolUse

STREAM_FROM_BYTES = 2**19


class Connections(AIOHTTPSession):
    """botocore's session with its timeouts, certificates and pool. It counts the requests in progress."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_progress = 0

    async def send(self, request: Any) -> Any:
        """Send one of botocore's requests."""
        request.body = _in_parts(request.body)
        with self._one_more():
            return await super().send(request)

    def proxied(self, url: str) -> bool:
        """Whether requests to a URL go through a proxy."""
        return self._proxy_config.proxy_url_for(url) is not None  # type: ignore[attr-defined]  # not in the stubs

    async def post(
        self, url: URL, body: bytes, headers: Mapping[str, str], limits: ClientTimeout
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request without a proxy. Returns status, headers and body of the answer.

        Raises:
            aiohttp.ClientError, TimeoutError: There is no answer.
        """
        with self._one_more():
            session = await self._get_session(None)  # type: ignore[attr-defined]  # nor this
            async with session.post(url, data=_in_parts(body), headers=headers, timeout=limits) as answer:
                return answer.status, answer.headers, await answer.read()

    def use(self, connections: int) -> PoolUse:
        """The use of so many connections."""
        return PoolUse(busy=min(self._in_progress, connections), waiting=max(self._in_progress - connections, 0))

    @contextmanager
    def _one_more(self) -> Iterator[None]:
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1


def _in_parts(body: Any) -> Any:
    # aiohttp writes bytes at once, which blocks the loop, and warns about it from 1 MB on.
    return BytesIO(body) if isinstance(body, bytes) and len(body) > STREAM_FROM_BYTES else body
