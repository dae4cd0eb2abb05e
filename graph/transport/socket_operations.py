"""The operations of one WebSocket, by their ids, and their messages. Their number is bounded.

    begin → next … → complete, or error

Source: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from typing import Any

from graph.core.errors import TooManySubscriptions
from graph.observability.logs import during_request, get_logger, on_behalf_of
from graph.transport.entrance import Entrance
from graph.transport.errors import format_refusal
from graph.transport.exchange import Exchange
from graph.transport.request import GraphQLRequest

logger = get_logger(__name__)


class Disconnected(Exception):
    """The client has disconnected."""


class SocketOperations:
    """The operations of one connection in progress, by the ids that the client chose."""

    def __init__(
        self,
        entrance: Entrance,
        most: int,
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        """Begin with none.

        Args:
            most: operations at the same time.
            send: sends a message, or raises `Disconnected`.
        """
        self._entrance = entrance
        self._most = most
        self._send = send
        self._operations: dict[str, asyncio.Task[None]] = {}  # by the ids in use
        self._tasks: set[asyncio.Task[None]] = set()  # those, and the ones that are about to end
        self._abandoned: set[asyncio.Task[dict[str, Any]]] = set()  # mutations whose client no longer waits

    def __contains__(self, id_: str) -> bool:
        """Whether the id is in use."""
        return id_ in self._operations

    async def begin(self, id_: str, request: GraphQLRequest, exchange: Exchange) -> None:
        """Begin an operation. Waits while the client has too many answers to read."""
        room = len(self._operations) + len(self._abandoned) < self._most
        task = asyncio.create_task(self._operate(id_, request, exchange, room=room))
        self._operations[id_] = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if len(self._tasks) >= 2 * self._most:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    def complete(self, id_: str) -> None:
        """Cancel an operation that is in progress. A mutation is finished all the same, as over HTTP."""
        if task := self._operations.pop(id_, None):
            task.cancel()

    async def end(self) -> None:
        """Cancel all operations, finish all mutations, and wait for both."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._abandoned:
            await asyncio.wait(self._abandoned)

    async def _operate(self, id_: str, request: GraphQLRequest, exchange: Exchange, *, room: bool) -> None:
        """Send the results of an operation, and its end, before which its resources are released."""
        with during_request(exchange.request_id):
            on_behalf_of(exchange.context.caller.subject)
            try:
                async with AsyncExitStack() as stack:
                    async for payload in await self._begun(request, exchange, stack, room=room):
                        await self._send({"type": "next", "id": id_, "payload": payload})
                last: dict[str, Any] = {"type": "complete", "id": id_}
            except Disconnected:
                return
            except Exception as error:
                last = {"type": "error", "id": id_, "payload": format_refusal(error, exchange.request_id)}
            del self._operations[id_]  # before the last message, after which the client may use the id again
            with suppress(Disconnected):
                await self._send(last)

    async def _begun(
        self, request: GraphQLRequest, exchange: Exchange, stack: AsyncExitStack, *, room: bool
    ) -> AsyncIterator[dict[str, Any]]:
        """Begin the operation, and return the payloads of its results."""
        with exchange:
            try:
                if not room:
                    raise TooManySubscriptions(self._most, "operations under way here")
                admitted = await self._entrance.admitted(exchange, request)
                if admitted.operation.type == "subscription":
                    return await stack.enter_async_context(admitted.subscribed())
                work = admitted.result()
                return _one(await (self._finished(work) if admitted.operation.type == "mutation" else work))
            except Exception as error:
                refusal = await exchange.refused(error)
                try:
                    if refusal is error:
                        raise
                    raise refusal from error
                finally:
                    del refusal  # its traceback refers to this frame, which would be a reference cycle

    async def _finished(self, work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
        """Finish a mutation, whether or not its client still waits."""
        task = asyncio.create_task(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._abandoned.add(task)
            task.add_done_callback(self._forget)
            raise

    def _forget(self, work: asyncio.Task[dict[str, Any]]) -> None:
        self._abandoned.discard(work)
        if not work.cancelled() and (error := work.exception()):
            logger.info("A mutation failed after its client had left", exc_info=error)


async def _one(payload: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    yield payload
