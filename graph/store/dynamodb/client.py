"""The client of an open database, and the client of its tables' streams."""

import os
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import aioboto3
from aiobotocore.session import AioSession, get_session
from botocore.exceptions import InvalidEndpointConfigurationError
from yarl import URL

from graph.core.errors import DatabaseUnavailable
from graph.store.dynamodb.connections import Connections
from graph.store.dynamodb.direct import CallSender, DirectCalls, DirectStreams
from graph.store.dynamodb.errors import CONFIGURATION, subject, translating_errors
from graph.store.dynamodb.metering import count_units
from graph.store.dynamodb.parsing import parsing_session
from graph.store.dynamodb.retry_policy import CONNECTIONS, RetryPolicy
from graph.store.dynamodb.signing import API, STREAMS_API, Signer
from graph.store.meter import Meter

if TYPE_CHECKING:
    from aiobotocore.credentials import AioCredentials
    from types_aiobotocore_dynamodb import DynamoDBClient

DOCUMENTED_REGION = "us-east-1"

Streams = Any
"""A client of DynamoDB Streams."""


@dataclass(frozen=True, slots=True)
class Connected:
    """An open client."""

    session: aioboto3.Session
    credentials: "AioCredentials | None"
    client: "DynamoDBClient"
    direct: "DirectCalls | DynamoDBClient"


@asynccontextmanager
async def connected(
    tables: Collection[str], retry_policy: RetryPolicy, meter: Meter | None = None
) -> AsyncIterator[Connected]:
    """Open a client that is configured by the environment, like AWS's own tools."""
    opened: list[Connections] = []
    botocore_session = parsing_session()
    async with AsyncExitStack() as stack:
        with translating_errors(*tables):
            _set_region(botocore_session)
            try:
                session = aioboto3.Session(botocore_session=botocore_session)
                client = await stack.enter_async_context(
                    session.client("dynamodb", config=retry_policy.config(_keeping(opened)))
                )
            except ValueError as error:  # of an endpoint that is no URL
                raise DatabaseUnavailable(f"{subject(*tables)} {CONFIGURATION} ({error})") from error
            credentials = await botocore_session.get_credentials()
        (connections,) = opened
        if meter:
            count_units(client, meter)
            meter.pool("connections", CONNECTIONS, lambda: connections.use(CONNECTIONS))
        sender = _sender(client, connections, credentials, retry_policy.direct_seconds, meter=meter)
        yield Connected(session, credentials, client, DirectCalls(client, sender) if sender else client)


def _sender(
    client: Any,
    connections: Connections,
    credentials: "AioCredentials | None",
    seconds: float,
    *,
    api: str = API,
    meter: Meter | None = None,
) -> CallSender | None:
    """The sender of direct calls to a client's endpoint, with a timeout; None if only botocore can send them."""
    endpoint = URL(client.meta.endpoint_url)
    if credentials is None or endpoint.path not in ("", "/"):
        return None
    http = connections.direct(endpoint, seconds)
    signer = Signer.of(endpoint, client.meta.region_name, api)
    return CallSender(http, signer, credentials, meter) if http else None


def _keeping(opened: list[Connections]) -> Callable[..., Connections]:
    """A function that opens connections and appends them to a list, since botocore does not hand them out."""

    def open_connections(**settings: Any) -> Connections:
        opened.append(Connections(**settings))
        return opened[-1]

    return open_connections


def plain_session() -> AioSession:
    """A session of botocore with the same configuration, for other services."""
    session = get_session()
    _set_region(session)
    return session


def region() -> str:
    """The region in which the tables are."""
    return str(plain_session().get_config_variable("region"))


def _set_region(session: AioSession) -> None:
    """Set the region of AWS_REGION, which wins over all others, or the documented one if there is no other.

    That is the order of AWS's other tools. botocore itself reads only AWS_DEFAULT_REGION and the profile. As a
    variable of the session, the region is also that of the services that give it credentials.

    Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-region.html
    """
    configured = os.environ.get("AWS_REGION") or session.get_config_variable("region")
    session.set_config_variable("region", configured or DOCUMENTED_REGION)


@asynccontextmanager
async def open_streams(connection: Connected, retry_policy: RetryPolicy) -> AsyncIterator[Streams]:
    """Open a client for the tables' streams, with the same configuration. It does not retry: the reader does."""
    opened: list[Connections] = []
    once = replace(retry_policy, attempts=1)
    opening: Any = connection.session.client("dynamodbstreams", config=once.config(_keeping(opened)))
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(opening)
        except ValueError as error:  # of an endpoint that is no URL
            raise InvalidEndpointConfigurationError(msg=str(error)) from error
        (connections,) = opened
        sender = _sender(client, connections, connection.credentials, retry_policy.read_seconds, api=STREAMS_API)
        yield DirectStreams(client, sender) if sender else client
