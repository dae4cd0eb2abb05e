"""Calls sent without what botocore does around each: an answer at the first attempt needs none of it.

To make a request, botocore resolves its endpoint, emits a dozen events, signs it in general and
wraps the answer: 0.55 ms of the processor, of which 0.2 are left here, and a page under a filter
makes ten. Whatever does not succeed at once is asked again by botocore, which waits, tries again
and tells what is wrong, and for some time it is asked everything: trouble needs no second client.

So only calls are sent so that may arrive twice, which are all but transactions.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zlib import crc32

import orjson
from aiohttp import ClientError, ClientTimeout
from botocore.exceptions import BotoCoreError
from yarl import URL

from graph.store.dynamodb.connections import Connections
from graph.store.dynamodb.metering import ASK_FOR_UNITS, report_units
from graph.store.dynamodb.retry_policy import USER_AGENT
from graph.store.dynamodb.signing import Signer
from graph.store.meter import Meter

if TYPE_CHECKING:
    from aiobotocore.credentials import AioCredentials
    from types_aiobotocore_dynamodb import DynamoDBClient

OK = 200
HEADERS = {"accept-encoding": "identity", "user-agent": USER_AGENT}  # compressed, an answer is garbage
BY_BOTOCORE = 100  # calls after one that did not succeed

Ordinarily = Callable[..., Awaitable[Any]]


class DirectCalls:
    """Methods of a client. Their answers lack `ResponseMetadata`."""

    def __init__(
        self,
        client: "DynamoDBClient",
        connections: Connections,
        credentials: "AioCredentials",
        *,
        seconds: float,
        meter: Meter | None = None,
    ) -> None:
        """Ask what the client asks.

        Args:
            seconds: that a call waits for DynamoDB before it is botocore's.
        """
        self._client = client
        self._connections = connections
        self._credentials = credentials
        self._url = URL(client.meta.endpoint_url) / ""
        self._signer = Signer.of(self._url, client.meta.region_name)
        self._timeout = ClientTimeout(sock_connect=seconds, sock_read=seconds)
        self._meter = meter
        self._by_botocore = 0

    async def get_item(self, **request: Any) -> Any:
        """An item by its key."""
        return await self._call("GetItem", self._client.get_item, request)

    async def batch_get_item(self, **request: Any) -> Any:
        """Items by their keys."""
        return await self._call("BatchGetItem", self._client.batch_get_item, request)

    async def query(self, **request: Any) -> Any:
        """Items of a partition."""
        return await self._call("Query", self._client.query, request)

    async def scan(self, **request: Any) -> Any:
        """Items of the table."""
        return await self._call("Scan", self._client.scan, request)

    async def put_item(self, **request: Any) -> Any:
        """Write an item."""
        return await self._call("PutItem", self._client.put_item, request)

    async def batch_write_item(self, **request: Any) -> Any:
        """Write items."""
        return await self._call("BatchWriteItem", self._client.batch_write_item, request)

    async def _call(self, operation: str, ordinarily: Ordinarily, request: dict[str, Any]) -> Any:
        if self._by_botocore:
            self._by_botocore -= 1
            return await ordinarily(**request)
        try:
            return await self._directly(operation, request)
        except (_Unsuccessful, ClientError, OSError, RuntimeError, ValueError, BotoCoreError):
            self._by_botocore = BY_BOTOCORE
            return await ordinarily(**request)

    async def _directly(self, operation: str, request: dict[str, Any]) -> Any:
        body = orjson.dumps(request | ASK_FOR_UNITS if self._meter else request)
        credentials = await self._credentials.get_frozen_credentials()
        headers = self._signer.headers(operation, body, credentials, datetime.now(UTC)) | HEADERS
        status, told, written = await self._connections.post(self._url, body, headers, self._timeout)
        checksum = told.get("x-amz-crc32")
        if status != OK or (checksum and int(checksum) != crc32(written)):
            raise _Unsuccessful
        answer = orjson.loads(written)
        if self._meter:
            report_units(self._meter, operation, answer)
        return answer


class _Unsuccessful(Exception):
    """DynamoDB refuses a request, for whatever reason, or its answer was damaged on the way."""
