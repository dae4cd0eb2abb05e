"""Sends calls without botocore's work around each of them.

To make a request, botocore resolves its endpoint, emits a dozen events, signs it and wraps the
answer, which takes 0.55 ms of CPU time. Here it takes 0.06 ms, and a page with a filter makes ten
requests. A call that fails is sent again by botocore, which waits, retries and reports the error. For
some time afterwards botocore sends all calls, so retries need no second implementation here.

So a call may arrive twice. All calls but transactions are sent this way. A read of a stream is not sent again: its
reader has waits of its own.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import orjson
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from graph.store.dynamodb.errors import FOREIGN
from graph.store.dynamodb.http_client import OK, HttpClient, HttpResponse
from graph.store.dynamodb.metering import ASK_FOR_UNITS, report_units
from graph.store.dynamodb.retry_policy import USER_AGENT
from graph.store.dynamodb.signing import Signer
from graph.store.meter import Meter

if TYPE_CHECKING:
    from aiobotocore.credentials import AioCredentials
    from types_aiobotocore_dynamodb import DynamoDBClient

HEADERS = {"accept-encoding": "identity", "user-agent": USER_AGENT}  # compressed answers are not decoded here
BY_BOTOCORE = 100  # calls after a failed one
LONG_BODY = 2**19  # bytes; sent by botocore, which does not block the event loop with it

Ordinarily = Callable[..., Awaitable[Any]]


class CallSender:
    """Sends calls of one endpoint, directly or by botocore."""

    def __init__(
        self, http: HttpClient, signer: Signer, credentials: "AioCredentials", meter: Meter | None = None
    ) -> None:
        """Take the client for direct calls. A meter receives their capacity units."""
        self._http = http
        self._signer = signer
        self._credentials = credentials
        self._meter = meter
        self._by_botocore = 0

    async def send(self, operation: str, ordinarily: Ordinarily, **request: Any) -> Any:
        """Send a call, by botocore if need be. Directly sent ones have answers without `ResponseMetadata`."""
        if self._by_botocore:
            self._by_botocore -= 1
            return await ordinarily(**request)
        body = orjson.dumps(request | ASK_FOR_UNITS if self._meter else request)
        if len(body) > LONG_BODY:
            return await ordinarily(**request)
        try:
            return await self.directly(operation, body)
        except FOREIGN:
            self._by_botocore = BY_BOTOCORE
            return await ordinarily(**request)

    async def directly(self, operation: str, body: bytes) -> Any:
        """Send a call once.

        Raises:
            ClientError: DynamoDB refuses it.
            OSError, BotoCoreError: There are no credentials, or no answer, or a damaged one.
        """
        credentials = await self._credentials.get_frozen_credentials()
        headers = self._signer.headers(operation, body, credentials) | HEADERS
        answer = await self._http.post(headers, body)
        content = _content(answer)
        if answer.status != OK:
            raise ClientError(_refusal(answer.status, content), operation)
        if self._meter:
            report_units(self._meter, operation, content)
        return content


def _content(answer: HttpResponse) -> Any:
    checksum = answer.headers.get(b"x-amz-crc32")
    if checksum and checksum != b"%d" % crc32(answer.body):
        raise ResponseParserError("the answer was damaged on its way")
    try:
        return orjson.loads(answer.body)
    except ValueError as error:
        raise ResponseParserError(f"the answer is not JSON: {error}") from error


def _refusal(status: int, content: Any) -> Any:
    """DynamoDB's error in botocore's form."""
    error = content if isinstance(content, dict) else {}
    code = str(error.get("__type", status)).rpartition("#")[2]
    message = error.get("message") or error.get("Message", "")
    return {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}


class DirectCalls:
    """Methods of a client of tables, each with the name and the parameters of botocore's."""

    def __init__(self, client: "DynamoDBClient", sender: CallSender) -> None:
        self.get_item: Ordinarily = partial(sender.send, "GetItem", client.get_item)
        self.batch_get_item: Ordinarily = partial(sender.send, "BatchGetItem", client.batch_get_item)
        self.query: Ordinarily = partial(sender.send, "Query", client.query)
        self.scan: Ordinarily = partial(sender.send, "Scan", client.scan)
        self.put_item: Ordinarily = partial(sender.send, "PutItem", client.put_item)
        self.batch_write_item: Ordinarily = partial(sender.send, "BatchWriteItem", client.batch_write_item)


class DirectStreams:
    """Methods of a client of tables' streams. Reading records is the one that is called all the time."""

    def __init__(self, client: Any, sender: CallSender) -> None:
        self.meta = client.meta
        self._sender = sender
        self.describe_stream = client.describe_stream
        self.get_shard_iterator = client.get_shard_iterator

    async def get_records(self, **request: Any) -> Any:
        """Get the next records of a shard."""
        return await self._sender.directly("GetRecords", orjson.dumps(request))
