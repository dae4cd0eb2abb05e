"""The one client that an open table has."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from io import BytesIO
from typing import TYPE_CHECKING

import aioboto3
from botocore.awsrequest import AWSPreparedRequest

from graph.errors import DatabaseUnavailable
from graph.store.dynamodb.errors import CONFIGURATION, told_in_our_words
from graph.store.dynamodb.metering import count_units, pooled
from graph.store.dynamodb.parsing import parsing_session
from graph.store.dynamodb.patience import CONNECTIONS, Patience
from graph.store.meter import Meter

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient

STREAM_FROM_BYTES = 2**19


@asynccontextmanager
async def connected(table: str, patience: Patience, meter: Meter | None = None) -> AsyncIterator["DynamoDBClient"]:
    """A client that is configured by the environment as AWS's own tools are."""
    config = patience.config(pooled(meter, CONNECTIONS)) if meter else patience.config()
    async with AsyncExitStack() as stack:
        with told_in_our_words(table):
            try:
                opening = aioboto3.Session(botocore_session=parsing_session()).client("dynamodb", config=config)
                client = await stack.enter_async_context(opening)
            except ValueError as error:  # of an endpoint that is no URL
                raise DatabaseUnavailable(f"table {table} {CONFIGURATION} ({error})") from error
        client.meta.events.register("before-send.dynamodb", _stream_large_body)
        if meter:
            count_units(client, meter)
        yield client


def _stream_large_body(request: AWSPreparedRequest, **_: object) -> None:
    # aiohttp writes bytes in one go, holding up everything else, and warns about it from 1 MB on.
    if isinstance(request.body, bytes) and len(request.body) > STREAM_FROM_BYTES:
        request.body = BytesIO(request.body)
