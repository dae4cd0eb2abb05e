"""The HTTP connections of a client: botocore's own, and those of requests that are sent without botocore."""

import asyncio
from io import BytesIO
from ssl import SSLContext
from typing import Any

from aiobotocore.httpsession import AIOHTTPSession
from yarl import URL

from graph.store.dynamodb.http_client import HttpClient
from graph.store.meter import PoolUse

STREAM_FROM_BYTES = 2**19


class Connections(AIOHTTPSession):
    """botocore's session with its timeouts and certificates. It counts and bounds the requests in progress."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limit = asyncio.Semaphore(self._max_pool_connections)  # type: ignore[attr-defined]  # not in the stubs
        self._in_progress = 0
        self._direct: HttpClient | None = None

    async def send(self, request: Any) -> Any:
        """Send one of botocore's requests."""
        if isinstance(request.body, bytes) and len(request.body) > STREAM_FROM_BYTES:
            # aiohttp writes bytes at once, which blocks the loop, and warns about it from 1 MB on.
            request.body = BytesIO(request.body)
        self._in_progress += 1
        try:
            async with self._limit:
                return await super().send(request)
        finally:
            self._in_progress -= 1

    def direct(self, endpoint: URL, seconds: float) -> HttpClient | None:
        """A client beside botocore's, with the same certificates and limit, closed with this one.

        None if requests to the endpoint need more than it can do: they go through a proxy, or trust every certificate.

        Args:
            seconds: its timeout.
        """
        if self._proxy_config.proxy_url_for(str(endpoint)) is not None:  # type: ignore[attr-defined]
            return None
        tls: SSLContext | None = None
        if endpoint.scheme == "https":
            connector = self._create_connector(None)  # type: ignore[attr-defined]
            if not isinstance(connector._ssl, SSLContext):
                return None
            tls = connector._ssl
        self._direct = HttpClient(endpoint, tls, limit=self._limit, seconds=seconds)
        return self._direct

    def use(self, connections: int) -> PoolUse:
        """The use of so many connections."""
        in_progress = self._in_progress + (self._direct.in_progress if self._direct else 0)
        return PoolUse.of(in_progress, connections)

    async def __aexit__(self, *error: Any) -> None:
        if self._direct:
            self._direct.close()
        await super().__aexit__(*error)
