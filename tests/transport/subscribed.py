"""One operation of a client, over a WebSocket or by server-sent events: for the rules that both transports share."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import orjson
import pytest

from tests.bearers import bearer
from tests.subscribers import LiveService, event_stream, initialised


class Operation(Protocol):
    """An operation as its client sees it."""

    async def next_data(self) -> Any:
        """The data of the next result, which has no errors."""

    async def codes(self) -> list[str]:
        """The codes of the errors that end it before anything is executed."""


@asynccontextmanager
async def over_a_socket(service: LiveService, query: str, **variables: Any) -> AsyncIterator[Operation]:
    """The only operation of a WebSocket, which ends without a closing frame: to close it takes some reading."""
    async with initialised(service.url, bearer()) as client:
        await client.ask("1", query, variables=variables)

        class OfSocket:
            async def next_data(self) -> Any:
                return await client.next_data("1")

            async def codes(self) -> list[str]:
                return await client.codes("1")

        try:
            yield OfSocket()
        finally:
            client.abort()


@asynccontextmanager
async def as_events(service: LiveService, query: str, **variables: Any) -> AsyncIterator[Operation]:
    """A stream of events, after its first heart beat."""
    async with event_stream(service.url, query, headers=bearer(), variables=variables) as stream:
        assert await stream.block() == b":"

        class OfStream:
            async def next_data(self) -> Any:
                return await stream.next_data()

            async def codes(self) -> list[str]:
                body = orjson.loads((await stream.block()).removeprefix(b"event: next\ndata: "))
                assert body.keys() == {"errors"}
                assert await stream.end() == b"event: complete\ndata:\n\n"
                return [error["extensions"]["code"] for error in body["errors"]]

        yield OfStream()


class Transport(Protocol):
    """A way to begin an operation."""

    def __call__(
        self, service: LiveService, query: str, **variables: Any
    ) -> AbstractAsyncContextManager[Operation]: ...


OVER_BOTH = pytest.mark.parametrize("begun", [over_a_socket, as_events])
